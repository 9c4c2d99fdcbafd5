"""Signing in and out with a local account, the lock-out, and the doors that stay closed."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.test import Client

from accounts.models import Person
from accounts.services import person_reactivate
from accounts.tests.factories import PASSWORD, browser, off_board, person, service_account
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"


def sign_in(client: Client, username: str, password: str = PASSWORD, **more: object) -> object:
    return client.post(LOGIN, {"username": username, "password": password}, **more)  # type: ignore[arg-type]


def is_signed_in(client: Client) -> bool:
    return client.get("/tokens/").status_code == 200


@pytest.fixture
def ada() -> Person:
    return person("ada", password=PASSWORD)


@pytest.mark.parametrize("name", ["ada", "ADA", "  Ada "])
def test_a_local_account_signs_in_by_its_name(ada: Person, name: str) -> None:
    client = Client()
    assert sign_in(client, name).status_code == 302  # type: ignore[attr-defined]
    assert is_signed_in(client)


def test_a_page_asks_to_sign_in_and_is_shown_afterwards(ada: Person) -> None:
    client = Client()
    asked = client.get("/tokens/?x=1")
    assert (asked.status_code, asked["Location"]) == (302, "/accounts/login?next=/tokens/%3Fx%3D1")
    answer = client.post(asked["Location"], {"username": "ada", "password": PASSWORD})
    assert answer["Location"] == "/tokens/?x=1"


def test_nobody_is_sent_to_a_foreign_place_after_signing_in(ada: Person) -> None:
    answer = Client().post(f"{LOGIN}?next=https://evil.example/", {"username": "ada", "password": PASSWORD})
    assert answer["Location"] == "/"


def test_a_wrong_password_says_nothing_about_the_account(ada: Person) -> None:
    known, unknown = sign_in(Client(), "ada", "wrong"), sign_in(Client(), "nobody", "wrong")
    assert known.status_code == unknown.status_code == 200  # type: ignore[attr-defined]
    texts = [a.content.decode().replace("nobody", "ada") for a in (known, unknown)]  # type: ignore[attr-defined]
    assert [t.count("Please enter a correct") for t in texts] == [1, 1]


def test_a_service_account_and_an_account_without_password_do_not_sign_in() -> None:
    person("sso")
    service_account("robot")
    for name in ("sso", "robot"):
        client = Client()
        sign_in(client, name)
        assert not is_signed_in(client)


def test_a_deactivated_person_neither_signs_in_nor_stays_in(ada: Person) -> None:
    client = Client()
    sign_in(client, "ada")
    off_board(ada)
    assert not is_signed_in(client)
    assert sign_in(Client(), "ada").status_code == 200  # type: ignore[attr-defined]
    person_reactivate(actor=None, person_id=ada.pk)
    assert not is_signed_in(client), "an old session must not come back to life"
    sign_in(client, "ada")
    assert is_signed_in(client)


def test_signing_out_is_by_post_only(ada: Person) -> None:
    client = browser(ada)
    assert client.get("/accounts/logout/").status_code == 405
    assert is_signed_in(client)
    assert client.post("/accounts/logout/").status_code == 302
    assert not is_signed_in(client)


def test_forms_need_their_csrf_token(ada: Person) -> None:
    client = Client(enforce_csrf_checks=True)
    assert sign_in(client, "ada").status_code == 403  # type: ignore[attr-defined]


def test_the_session_gets_a_new_key_on_signing_in(ada: Person) -> None:
    client = Client()
    session = client.session
    session["x"] = 1
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key or ""
    before = client.cookies[settings.SESSION_COOKIE_NAME].value
    sign_in(client, "ada")
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != before


# --- lock-out


def fail(times: int, username: str = "ada") -> object:
    answer: object = None
    for _ in range(times):
        answer = sign_in(Client(), username, "wrong")
    return answer


def test_too_many_failures_lock_out_and_say_for_how_long(ada: Person) -> None:
    assert fail(9).status_code == 200  # type: ignore[attr-defined]
    answer = fail(1)
    assert answer.status_code == 429  # type: ignore[attr-defined]
    page = answer.content.decode()  # type: ignore[attr-defined]
    assert "Try again in 15 minutes." in page
    assert 0 < int(answer["Retry-After"]) <= 900  # type: ignore[index]
    assert 'value="ada"' in page


def test_the_right_password_does_not_help_while_locked_out(ada: Person) -> None:
    fail(10)
    client = Client()
    assert sign_in(client, "ada").status_code == 429  # type: ignore[attr-defined]
    assert not is_signed_in(client)


def test_other_cases_of_letters_are_the_same_name(ada: Person) -> None:
    for name in ("ada", "ADA", "Ada", "aDa", "adA"):
        fail(2, name)
    assert sign_in(Client(), "ada").status_code == 429  # type: ignore[attr-defined]


def test_another_browser_does_not_evade_the_lock_out(ada: Person) -> None:
    for number in range(10):
        sign_in(Client(HTTP_USER_AGENT=f"browser {number}"), "ada", "wrong")
    assert sign_in(Client(), "ada").status_code == 429  # type: ignore[attr-defined]


def test_a_lock_out_is_for_one_name_from_one_address(ada: Person) -> None:
    person("bob", password=PASSWORD)
    fail(10)
    assert sign_in(Client(), "bob").status_code == 302  # type: ignore[attr-defined]
    assert sign_in(Client(REMOTE_ADDR="127.0.0.9"), "ada").status_code == 302  # type: ignore[attr-defined]


def test_a_forged_forwarding_header_is_not_another_address(ada: Person) -> None:
    for number in range(10):
        sign_in(Client(HTTP_X_FORWARDED_FOR=f"10.0.0.{number}"), "ada", "wrong")
    assert sign_in(Client(), "ada").status_code == 429  # type: ignore[attr-defined]


def test_refused_attempts_do_not_make_it_longer_and_it_ends(ada: Person) -> None:
    fail(10)
    AccessAttempt.objects.update(attempt_time=AccessAttempt.objects.get().attempt_time - timedelta(minutes=14))
    answer = sign_in(Client(), "ada")
    assert "Try again in 1 minute." in answer.content.decode()  # type: ignore[attr-defined]
    AccessAttempt.objects.update(attempt_time=AccessAttempt.objects.get().attempt_time - timedelta(minutes=1))
    assert sign_in(Client(), "ada").status_code == 302  # type: ignore[attr-defined]


def test_a_success_forgets_the_failures(ada: Person) -> None:
    fail(9)
    assert sign_in(Client(), "ada").status_code == 302  # type: ignore[attr-defined]
    assert fail(9).status_code == 200  # type: ignore[attr-defined]


def test_a_password_never_reaches_the_attempts(ada: Person) -> None:
    sign_in(Client(), "ada", "canary-7319")
    assert "canary-7319" not in str(list(AccessAttempt.objects.values()))


# --- password


def test_changing_the_password_ends_the_other_sessions(ada: Person) -> None:
    here, elsewhere = browser(ada), browser(ada)
    body = {"old_password": PASSWORD, "new_password": "distant-meadow-88"}
    assert here.post("/password/", body).status_code == 302
    assert is_signed_in(here)
    assert not is_signed_in(elsewhere)
    assert sign_in(Client(), "ada", "distant-meadow-88").status_code == 302  # type: ignore[attr-defined]
    entry = AuditEntry.objects.get(action="person.password_changed")
    assert (entry.before, entry.after) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [("wrong", "distant-meadow-88", "not your password"), (PASSWORD, "short", "too short"), (PASSWORD, "12345678", "")],
)
def test_a_wrong_or_weak_password_is_refused_at_its_field(ada: Person, old: str, new: str, sentence: str) -> None:
    answer = browser(ada).post("/password/", {"old_password": old, "new_password": new})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert sign_in(Client(), "ada").status_code == 302  # type: ignore[attr-defined]


def test_who_has_no_password_here_cannot_change_one() -> None:
    assert browser(person("sso")).get("/password/").status_code == 403


# --- doors of the sign-in package that we do not open


@pytest.mark.parametrize(
    "path",
    [
        "signup", "email", "password/reset", "password/change", "password/set", "confirm-email", "inactive",
        "reauthenticate", "login/code/confirm", "3rdparty", "3rdparty/signup", "3rdparty/login/error", "social/signup",
    ],
)  # fmt: skip
def test_nothing_else_of_the_package_is_reachable(path: str, ada: Person) -> None:
    for client in (Client(), browser(ada)):
        assert client.get(f"/accounts/{path}/").status_code == 404
        assert client.post(f"/accounts/{path}/").status_code == 404


def test_without_a_provider_there_is_no_button_and_no_flow() -> None:
    assert "oidc" not in Client().get(LOGIN).content.decode()
    assert Client().post("/accounts/oidc/oidc/login/").status_code == 404
