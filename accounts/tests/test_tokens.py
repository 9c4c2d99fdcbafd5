"""A token of a program: what it opens, until when, and for whom."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from rest_framework.test import APIClient

from accounts.errors import AlreadySo
from accounts.models import Scope, ServiceToken
from accounts.services import TokenTerms, token_issue, token_revoke
from accounts.tests.factories import admin, api_client, auditor, deactivated, off_board, person, service_account, token
from accounts.tokens import digest_of
from kernel import clock
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.models import AuditEntry, IdempotencyKey

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)
PEOPLE = "/api/v1/people/"


def bearer(secret: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def refused(client: APIClient) -> str:
    answer = client.get(PEOPLE)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer["Content-Type"] == "application/problem+json"
    return str(answer.json()["detail"])


def test_only_the_digest_is_kept() -> None:
    row, secret = token(person())
    assert row.digest == digest_of(secret)
    assert secret.startswith(row.prefix)
    stored = str(ServiceToken.objects.filter(pk=row.pk).values().get()) + str(list(AuditEntry.objects.values()))
    assert secret not in stored


def test_no_token_and_wrong_tokens_are_401() -> None:
    assert refused(APIClient())
    assert "no token of this portal" in refused(bearer("made-up"))
    assert "not known" in refused(bearer("sluice_" + "a" * 43))


def test_another_scheme_is_401() -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Basic {token(person())[1]}")
    assert refused(client)


def test_a_token_ends_at_its_instant() -> None:
    with clock.frozen(MONDAY):
        _row, secret = token(person(), Scope.READ, days=7)
    with clock.frozen(MONDAY + timedelta(days=7, microseconds=-1)):
        assert bearer(secret).get(PEOPLE).status_code == 200
    with clock.frozen(MONDAY + timedelta(days=7)):
        assert "expired" in refused(bearer(secret))


def test_a_revoked_token_opens_nothing() -> None:
    owner = person()
    row, secret = token(owner)
    token_revoke(actor=owner, token_id=row.pk)
    assert "revoked" in refused(bearer(secret))


def test_a_deactivated_owner_opens_nothing_even_with_a_live_token() -> None:
    row, secret = token(person())
    off_board(row.owner)
    ServiceToken.objects.update(revoked_at=None)
    assert "deactivated" in refused(bearer(secret))


@pytest.mark.parametrize(
    ("scopes", "allowed"), [((Scope.READ,), False), ((Scope.JOBS,), False), ((Scope.WRITE,), True)]
)
def test_only_write_changes_people(scopes: tuple[Scope, ...], allowed: bool) -> None:
    client = api_client(admin(), *scopes)
    assert client.get(PEOPLE).status_code == 200
    answer = client.post(PEOPLE, {"username": "new", "display_name": "New"})
    assert answer.status_code == (201 if allowed else 403)


def test_a_token_never_does_more_than_its_owner() -> None:
    answer = api_client(person(), Scope.WRITE).post(PEOPLE, {"username": "new", "display_name": "New"})
    assert answer.status_code == 403


def test_an_act_by_token_names_the_token_in_the_audit_log() -> None:
    chief = admin()
    client = bearer(token(chief, Scope.WRITE, name="nightly import")[1])
    assert client.post(PEOPLE, {"username": "new", "display_name": "New"}).status_code == 201
    entry = AuditEntry.objects.get(action="person.created", actor_id=str(chief.pk))
    assert (entry.via, entry.token, entry.address) == ("api", "nightly import", "127.0.0.1")


def test_the_name_of_the_token_ends_with_its_request() -> None:
    chief = admin()
    api_client(chief, Scope.WRITE).get(PEOPLE)
    token(chief)
    assert AuditEntry.objects.latest("id").token == ""


def test_use_is_noted_at_most_once_a_minute() -> None:
    with clock.frozen(MONDAY):
        row, secret = token(person())
    for seconds, noted in ((1, 1), (30, 1), (60, 1), (61, 61)):
        with clock.frozen(MONDAY + timedelta(seconds=seconds)):
            assert bearer(secret).get(PEOPLE).status_code == 200
        row.refresh_from_db()
        assert row.last_used_at == MONDAY + timedelta(seconds=noted)


def test_one_query_finds_token_and_owner(django_assert_num_queries: object) -> None:
    client = bearer(token(person())[1])
    client.get(PEOPLE)
    with django_assert_num_queries(4):  # type: ignore[operator]  # token, roles, count, rows
        assert client.get(PEOPLE).status_code == 200


def test_issuing_by_api_shows_the_secret_once() -> None:
    client = api_client(person("ada"), Scope.WRITE)
    answer = client.post("/api/v1/tokens/", {"name": "export", "scopes": ["read"], "days": 30})
    assert answer.status_code == 201
    assert bearer(answer.json()["token"]).get(PEOPLE).status_code == 200
    listed = client.get("/api/v1/tokens/").json()
    assert {t["name"] for t in listed["results"]} == {"test", "export"}
    assert answer.json()["token"] not in str(listed)


def test_a_secret_is_not_kept_for_a_repeated_call() -> None:
    client = api_client(person(), Scope.WRITE)
    body = {"name": "export"}
    first = client.post("/api/v1/tokens/", body, HTTP_IDEMPOTENCY_KEY="k1")
    again = client.post("/api/v1/tokens/", body, HTTP_IDEMPOTENCY_KEY="k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == {name: value for name, value in first.json().items() if name != "token"}
    assert first.json()["token"] not in str(list(IdempotencyKey.objects.values()))
    assert ServiceToken.objects.filter(name="export").count() == 1


def test_a_token_cannot_outlive_itself_by_issuing_another() -> None:
    with clock.frozen(MONDAY):
        row, secret = token(person(), Scope.WRITE, days=10)
    with clock.frozen(MONDAY + timedelta(days=9)):
        bearer(secret).post("/api/v1/tokens/", {"name": "child", "days": 300})
    assert ServiceToken.objects.get(name="child").expires_at == row.expires_at


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "a\u0000b"}, "name"),
        ({"name": "ok", "scopes": []}, "scopes"),
        ({"name": "ok", "scopes": ["root"]}, "scopes"),
        ({"name": "ok", "days": 0}, "days"),
        ({"name": "ok", "days": 366}, "days"),
        ({"name": "ok", "days": "soon"}, "days"),
        ({"name": "ok", "owner": "nobody"}, "owner"),
    ],
)
def test_wrong_terms_are_named_by_field(body: dict[str, object], field: str) -> None:
    answer = api_client(person(), Scope.WRITE).post("/api/v1/tokens/", body)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [field]
    assert ServiceToken.objects.count() == 1  # the caller's


def test_nobody_gets_a_token_of_another_person() -> None:
    chief, ada = admin(), person("ada")
    with pytest.raises(Conflict):
        token_issue(actor=chief, owner=ada, terms=TokenTerms("x"))
    with pytest.raises(Forbidden):
        token_issue(actor=ada, owner=chief, terms=TokenTerms("x"))


def test_only_an_admin_issues_for_a_program() -> None:
    program = service_account("robot")
    assert token_issue(actor=admin(), owner=program, terms=TokenTerms("x")).token.owner == program
    with pytest.raises(Forbidden):
        token_issue(actor=auditor(), owner=program, terms=TokenTerms("x"))


def test_a_deactivated_person_gets_no_token() -> None:
    with pytest.raises(Conflict):
        token_issue(actor=None, owner=deactivated(), terms=TokenTerms("x"))


def test_a_stranger_cannot_revoke_what_does_not_exist_for_them() -> None:
    row, secret = token(person())
    with pytest.raises(NotFound):
        token_revoke(actor=person(), token_id=row.pk)
    stranger = api_client(person(), Scope.WRITE)
    assert stranger.delete(f"/api/v1/tokens/{row.pk}/").status_code == 404
    assert stranger.get(f"/api/v1/tokens/{row.pk}/").status_code == 404
    assert bearer(secret).get(PEOPLE).status_code == 200


def test_revoking_twice_is_refused() -> None:
    owner = person()
    row, _secret = token(owner, Scope.READ)
    client = api_client(owner, Scope.WRITE)
    assert client.delete(f"/api/v1/tokens/{row.pk}/").status_code == 204
    assert client.post(f"/api/v1/tokens/{row.pk}/revoke/").status_code == 409
    with pytest.raises(AlreadySo):
        token_revoke(actor=admin(), token_id=row.pk)


def test_the_terms_are_bounded() -> None:
    with pytest.raises(Invalid) as refusal:
        token_issue(actor=None, owner=person(), terms=TokenTerms(" ", (), 0))
    assert set(refusal.value.errors) == {"name", "scopes", "days"}


def test_the_command_prints_the_token_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    person("ada")
    call_command("issue_token", "Ada", "--days", "3")
    out, err = capsys.readouterr()
    assert err == ""
    assert bearer(out.strip()).get(PEOPLE).status_code == 200
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["nobody"], ["ada", "--days", "400"]])
def test_the_command_says_what_is_wrong(arguments: list[str]) -> None:
    person("ada")
    with pytest.raises(CommandError):
        call_command("issue_token", *arguments)
