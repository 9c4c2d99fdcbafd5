"""People through the pages and the API: who may see whom, who may change what."""

import io

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts import policies
from accounts.models import Person, Role, RoleGrant, Scope, ServiceToken
from accounts.services import person_create
from accounts.tests.factories import (
    PASSWORD,
    admin,
    api_client,
    auditor,
    browser,
    deactivated,
    director,
    off_board,
    person,
    service_account,
    token,
)
from kernel.errors import Invalid
from kernel.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db
PEOPLE = "/api/v1/people/"
SCRIPT = "<script>alert(1)</script>"


# --- API


def test_anybody_signed_in_finds_people_by_a_part_of_the_name() -> None:
    person("ada", display_name="Ada Lovelace")
    person("grace", display_name="Grace Hopper")
    found = api_client(person("me"), Scope.READ).get(PEOPLE, {"q": "LOVE"}).json()
    assert found["count"] == 1
    assert set(found["results"][0]) == {"id", "username", "display_name"}


def test_a_session_of_a_browser_reads_the_api_too() -> None:
    assert browser(person()).get(PEOPLE).status_code == 200


def test_who_is_deactivated_is_seen_by_admins_and_auditors_only() -> None:
    gone = deactivated("gone")
    for someone, status in ((person(), 404), (director(), 404), (admin(), 200), (auditor(), 200)):
        answer = api_client(someone).get(f"{PEOPLE}{gone.pk}/")
        assert answer.status_code == status
    full = api_client(auditor()).get(f"{PEOPLE}{gone.pk}/").json()
    assert full == {
        "id": gone.pk, "username": "gone", "display_name": "Gone",
        "email": "", "is_active": False, "is_service": False, "language": "", "roles": [],
    }  # fmt: skip


@pytest.mark.parametrize("who", [person, director, auditor])
def test_only_admins_change_people(who: object) -> None:
    ada, client = person("ada"), api_client(who())  # type: ignore[operator]
    for act in ("deactivate", "reactivate", "grant-role", "revoke-role"):
        assert client.post(f"{PEOPLE}{ada.pk}/{act}/", {"role": "auditor"}).status_code == 403
    assert client.post(PEOPLE, {"username": "x", "display_name": "X"}).status_code == 403
    assert Person.objects.get(pk=ada.pk).is_active


def test_an_admin_creates_and_gives_a_role() -> None:
    client = api_client(admin())
    made = client.post(PEOPLE, {"username": "ada", "display_name": "Ada", "password": PASSWORD})
    assert made.status_code == 201
    assert "password" not in made.json()
    url = f"{PEOPLE}{made.json()['id']}"
    assert client.post(f"{url}/grant-role", {"role": "director"}).json()["roles"] == ["director"]
    assert client.post(f"{url}/grant-role", {"role": "director"}).status_code == 409
    assert client.post(f"{url}/revoke-role", {"role": "director"}).json()["roles"] == []
    assert client.post(f"{url}/grant-role", {"role": "emperor"}).status_code == 422


def test_own_roles_and_own_state_are_403() -> None:
    chief = admin()
    admin()
    client = api_client(chief)
    assert client.post(f"{PEOPLE}{chief.pk}/grant-role/", {"role": "director"}).status_code == 403
    assert client.post(f"{PEOPLE}{chief.pk}/revoke-role/", {"role": "admin"}).status_code == 403
    assert client.post(f"{PEOPLE}{chief.pk}/deactivate/").status_code == 403


def test_sorting_is_by_allowed_keys_only() -> None:
    client = api_client(admin())
    assert client.get(PEOPLE, {"ordering": "-username"}).status_code == 200
    assert client.get(PEOPLE, {"ordering": "password"}).status_code == 422
    assert client.get(PEOPLE, {"ordering": "role_grants__role"}).status_code == 422


def test_the_list_costs_the_same_for_many(django_assert_max_num_queries: object) -> None:
    for _ in range(20):
        director()
    client = api_client(admin(), Scope.READ)
    client.get(PEOPLE)
    with django_assert_max_num_queries(5):  # type: ignore[operator]  # token, own roles, count, rows, roles
        assert client.get(PEOPLE).json()["count"] == 21


def test_a_nul_in_the_address_is_refused() -> None:
    assert browser(admin()).get("/people/?q=%00").status_code == 400


# --- what may be created


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"username": "ADA"}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": " "}, "username"),
        ({"display_name": ""}, "display_name"),
        ({"display_name": "two\nlines"}, "display_name"),
        ({"email": "nowhere"}, "email"),
        ({"password": "password"}, "password"),
    ],
)
def test_what_cannot_be_taken_is_named(fields: dict[str, str], field: str) -> None:
    person("ada")
    with pytest.raises(Invalid) as refusal:
        person_create(actor=None, **{"username": "new", "display_name": "New", **fields})
    assert list(refusal.value.errors) == [field]
    assert Person.objects.count() == 1


def test_all_faults_are_named_at_once() -> None:
    answer = api_client(admin()).post(PEOPLE, {"username": "a b", "display_name": " ", "email": "x"})
    assert answer.status_code == 422
    assert set(answer.json()["errors"]) >= {"display_name"}


def test_a_password_is_in_no_audit_entry() -> None:
    api_client(admin()).post(PEOPLE, {"username": "ada", "display_name": "Ada", "password": "canary-harbour-9"})
    assert "canary-harbour-9" not in str(list(AuditEntry.objects.values()))


# --- deactivation


def test_deactivation_ends_sessions_and_tokens_and_is_told_upward() -> None:
    ada = person("ada")
    client, api = browser(ada), api_client(ada)
    assert client.get("/tokens/").status_code == 200
    off_board(ada, actor=admin())
    assert client.get("/tokens/").status_code == 302
    assert client.get(PEOPLE).status_code == 401
    assert api.get(PEOPLE).status_code == 401
    assert not ServiceToken.objects.filter(owner=ada, revoked_at__isnull=True).exists()
    event = OutboxEvent.objects.get(topic="person.deactivated")
    assert (event.subject_id, event.data) == (str(ada.pk), {"person_id": ada.pk})
    entry = AuditEntry.objects.get(action="person.deactivated")
    assert entry.after == {"is_active": False, "tokens_revoked": 1}
    assert Session.objects.exists(), "the session row may stay; it opens nothing"


# --- pages


def test_the_page_of_people_is_for_admins_and_auditors() -> None:
    for someone, status in ((person(), 403), (director(), 403), (admin(), 200), (auditor(), 200)):
        assert browser(someone).get("/people/").status_code == status
    assert browser().get("/people/").status_code == 302


def test_an_auditor_reads_and_changes_nothing() -> None:
    ada, client = person("ada"), browser(auditor())
    page = client.get(f"/people/{ada.pk}/").content.decode()
    assert "Grant role" not in page
    assert "Deactivate" not in page
    for path in ("deactivate", "reactivate", "grant", "revoke/auditor", "tokens"):
        assert client.post(f"/people/{ada.pk}/{path}/", {"role": "auditor"}).status_code == 403
    assert client.post("/people/new/", {"username": "x", "display_name": "X"}).status_code == 403
    assert not RoleGrant.objects.filter(person=ada).exists()


def test_an_admin_creates_a_person_on_the_page() -> None:
    client = browser(admin())
    body = {"username": "ada", "display_name": "Ada", "email": "", "password": ""}
    answer = client.post("/people/new/", body, follow=True)
    assert answer.status_code == 200
    assert "Ada was created" in answer.content.decode()
    again = client.post("/people/new/", body)
    assert again.status_code == 422
    assert "is taken" in again.content.decode()


def test_granting_and_revoking_on_the_page() -> None:
    ada, client = person("ada"), browser(admin())
    assert client.post(f"/people/{ada.pk}/grant/", {"role": "director"}).status_code == 302
    question = client.get(f"/people/{ada.pk}/revoke/director/").content.decode()
    assert "Revoke the role “Director” of Ada?" in question
    assert policies.has_role(Person.objects.get(pk=ada.pk), Role.DIRECTOR), "asking changes nothing"
    assert client.post(f"/people/{ada.pk}/revoke/director/").status_code == 302
    assert not policies.has_role(Person.objects.get(pk=ada.pk), Role.DIRECTOR)


def test_own_account_is_refused_on_the_page_too() -> None:
    chief = admin()
    admin()
    client = browser(chief)
    for path in ("deactivate", "grant", "revoke/admin"):
        assert client.post(f"/people/{chief.pk}/{path}/", {"role": "director"}).status_code == 403
    assert policies.organisation_roles(Person.objects.get(pk=chief.pk)) == {Role.ADMIN}


def test_deactivating_asks_and_names_what_ends() -> None:
    ada, client = person("ada"), browser(admin())
    token(ada)
    question = client.get(f"/people/{ada.pk}/deactivate/").content.decode()
    assert "Access tokens: revoked for good" in question
    assert Person.objects.get(pk=ada.pk).is_active
    assert client.post(f"/people/{ada.pk}/deactivate/", {"reason": "Left"}).status_code == 302
    assert client.post(f"/people/{ada.pk}/deactivate/", {"reason": "Left"}).status_code == 409
    assert client.get(f"/people/{ada.pk}/deactivate/").status_code == 409
    assert client.post(f"/people/{ada.pk}/reactivate/").status_code == 302


def test_who_is_nobody_is_404() -> None:
    client = browser(admin())
    for path in ("", "revoke/admin/", "deactivate/"):
        assert client.get(f"/people/999999/{path}").status_code == 404


def test_a_token_of_a_program_is_shown_once() -> None:
    robot, client = service_account("robot"), browser(admin())
    body = {"name": "export", "scopes": "read", "days": "30"}
    shown = client.post(f"/people/{robot.pk}/tokens/", body)
    assert shown.status_code == 200
    assert "no-store" in shown["Cache-Control"]
    assert "sluice_" in shown.content.decode().split('id="issued-secret"')[1]
    assert 'id="issued-secret"' not in client.get(f"/people/{robot.pk}/").content.decode()
    assert ServiceToken.objects.get().owner == robot


def test_own_tokens_on_the_page() -> None:
    ada = person("ada")
    client = browser(ada)
    shown = client.post("/tokens/", {"name": "mine", "scopes": "write", "days": "30"})
    assert 'id="issued-secret"' in shown.content.decode()
    row = ServiceToken.objects.get()
    other = browser(person())
    assert other.get(f"/tokens/{row.pk}/revoke/").status_code == 404
    assert other.post(f"/tokens/{row.pk}/revoke/").status_code == 404
    assert "Revoke the token “mine”?" in client.get(f"/tokens/{row.pk}/revoke/").content.decode()
    assert client.post(f"/tokens/{row.pk}/revoke/").status_code == 302
    assert ServiceToken.objects.get().revoked_at is not None
    assert client.post("/tokens/", {"name": "x", "scopes": "write", "days": "400"}).status_code == 422


def test_script_in_names_stays_text() -> None:
    chief = admin()
    ada = person("ada", display_name=SCRIPT)
    token(ada, name=SCRIPT)
    pages = [
        browser(chief).get(path)
        for path in ("/people/", f"/people/{ada.pk}/", f"/people/{ada.pk}/deactivate/", "/audit/")
    ] + [browser(ada).get("/tokens/")]
    for page in pages:
        assert page.status_code == 200
        assert SCRIPT not in page.content.decode()
        assert "&lt;script&gt;" in page.content.decode()


# --- command line


def test_the_command_creates_the_first_admin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    call_command("create_person", "root", "--role", "admin", "--name", "Root")
    root = Person.objects.get(username="root")
    assert root.check_password(PASSWORD)
    assert policies.organisation_roles(root) == {Role.ADMIN}
    with pytest.raises(CommandError, match="taken"):
        call_command("create_person", "ROOT", "--no-password")
