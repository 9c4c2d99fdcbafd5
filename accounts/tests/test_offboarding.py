"""Off-boarding as the act itself: everything or nothing, asked again under the lock, with a report that stays."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from django.db import IntegrityError, connection, transaction

from accounts import policies
from accounts.errors import AlreadySo
from accounts.models import Offboarding, Person, Role, RoleGrant, Scope, ServiceToken
from accounts.offboarding import steps
from accounts.offboarding.steps import Item, Leaving, Line, OffboardingStep, Succession
from accounts.services import Farewell, TokenTerms, person_offboard, person_reactivate, service_account_create
from accounts.services.tokens import token_issue
from accounts.tests.factories import admin, api_client, auditor, browser, director, off_board, person, token
from kernel.errors import Forbidden, Invalid, Unauthenticated
from kernel.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db


def address(someone: Person) -> str:
    return f"/people/{someone.pk}/deactivate/"


def lines(report: Offboarding) -> dict[str, int | None]:
    return {f"{row['room']}.{row['what']}": row["count"] for row in report.lines}


def fresh(someone: Person) -> Person:
    return Person.objects.get(pk=someone.pk)


@pytest.fixture
def asking() -> Iterator[list[str]]:
    """A room that asks one question, ``lamp``, and notes to whom what was handed over."""
    taken: list[str] = []

    def carry_out(leaving: Leaving) -> list[Line]:
        taken.append(str(leaving.successors["lamp"]))
        return [Line("lamp", [Item("The lamp")], 1)]

    step = OffboardingStep(
        room="test",
        title="Test",
        words={"lamp": "Lamps"},
        preview=lambda _person: [],
        carry_out=carry_out,
        successions=lambda _person: [Succession("lamp", Item("The lamp"))],
    )
    steps.register(step)
    yield taken
    del steps._steps["test"]


@pytest.fixture
def failing() -> Iterator[None]:
    """The last room to act breaks after it has written something."""

    def carry_out(leaving: Leaving) -> list[Line]:
        Person.objects.filter(pk=leaving.person.pk).update(email="half@done.example")
        raise RuntimeError("broken")

    steps.register(
        OffboardingStep(room="test", title="Test", words={}, preview=lambda _person: [], carry_out=carry_out)
    )
    yield
    del steps._steps["test"]


# --- what ends


def test_sessions_tokens_and_roles_end_and_the_report_says_so() -> None:
    chief, ada = admin("chief"), person("ada", Role.DIRECTOR, Role.AUDITOR)
    client, api = browser(ada), api_client(ada)
    report = off_board(ada, actor=chief, reason="  Left  ")
    assert client.get("/tokens/").status_code == 302
    assert api.get("/api/v1/people/").status_code == 401
    assert not RoleGrant.objects.filter(person=ada, revoked_at__isnull=True).exists()
    assert lines(report) == {"accounts.sessions": None, "accounts.tokens": 1, "accounts.roles": 2}
    assert (report.by, report.reason, fresh(ada).is_active) == (chief, "Left", False)
    entry = AuditEntry.objects.get(action="person.offboarded")
    assert entry.after is not None
    assert (entry.subject_id, entry.after["reason"], entry.after["report"]) == (str(ada.pk), "Left", report.pk)
    assert AuditEntry.objects.filter(action="role.revoked", subject_id=str(ada.pk)).count() == 2
    assert OutboxEvent.objects.filter(topic="person.deactivated", subject_id=str(ada.pk)).count() == 1


def test_what_was_made_for_programs_goes_on_and_is_named() -> None:
    chief, leaver = admin(), admin("leaver")
    robot = service_account_create(actor=leaver, username="robot", display_name="Robot")
    issued = token_issue(actor=leaver, owner=robot, terms=TokenTerms("export", (Scope.READ,), 30))
    report = off_board(leaver, actor=chief)
    assert lines(report)["accounts.programs"] == 1
    assert lines(report)["accounts.program_tokens"] == 1
    assert fresh(robot).is_active
    assert ServiceToken.objects.get(pk=issued.token.pk).revoked_at is None


def test_nothing_of_it_comes_back_by_reactivating() -> None:
    chief, ada = admin(), director("ada")
    off_board(ada, actor=chief)
    question = browser(chief).get(f"/people/{ada.pk}/reactivate/").content.decode()
    assert "roles in the organisation: grant them again" in question
    assert not fresh(ada).is_active, "asking changes nothing"
    assert browser(chief).post(f"/people/{ada.pk}/reactivate/").status_code == 302
    assert fresh(ada).is_active
    assert policies.organisation_roles(fresh(ada)) == frozenset()
    off_board(ada, actor=chief)
    assert Offboarding.objects.filter(person=ada).count() == 2, "somebody can go twice, with a report each"


def test_a_role_that_rested_from_before_is_named_when_it_would_return() -> None:
    chief, ada = admin(), person("ada")
    off_board(ada, actor=chief)
    RoleGrant.objects.create(person=ada, role=Role.AUDITOR, granted_at=ada.created_at)
    assert "held again at once" in browser(chief).get(f"/people/{ada.pk}/reactivate/").content.decode()
    person_reactivate(actor=chief, person_id=ada.pk)
    assert policies.has_role(fresh(ada), Role.AUDITOR)


# --- all or nothing


def test_a_step_that_breaks_leaves_everything_as_it_was(failing: None) -> None:
    chief, ada = admin(), director("ada")
    live = token(ada)[0]
    with pytest.raises(RuntimeError):
        off_board(ada, actor=chief)
    now = fresh(ada)
    assert (now.is_active, now.email, now.session_epoch) == (True, "", ada.session_epoch)
    assert policies.has_role(now, Role.DIRECTOR)
    assert ServiceToken.objects.get(pk=live.pk).revoked_at is None
    assert not Offboarding.objects.exists()
    assert not AuditEntry.objects.filter(
        action__in=["person.offboarded", "person.deactivated", "role.revoked"]
    ).exists()
    assert not OutboxEvent.objects.filter(topic="person.deactivated").exists()


@pytest.mark.parametrize(
    "statement", ["UPDATE accounts_offboarding SET reason = 'x'", "DELETE FROM accounts_offboarding"]
)
def test_the_database_keeps_reports_as_they_are(statement: str) -> None:
    report = off_board(person("ada"), actor=admin())
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert Offboarding.objects.get().reason == report.reason


# --- questions and answers


def test_a_question_without_an_answer_stops_the_act(asking: list[str]) -> None:
    ada = person("ada")
    with pytest.raises(Invalid, match="The lamp") as refusal:
        off_board(ada, actor=admin())
    assert list(refusal.value.errors) == ["successors.lamp"]
    assert fresh(ada).is_active
    assert asking == []


def test_nobody_is_an_answer_if_it_is_given(asking: list[str]) -> None:
    report = off_board(person("ada"), actor=admin(), successors={"lamp": None})
    assert asking == ["None"]
    assert lines(report)["test.lamp"] == 1


def test_an_answer_that_nobody_asked_for_is_refused() -> None:
    ada = person("ada")
    with pytest.raises(Invalid) as refusal:
        off_board(ada, actor=admin(), successors={"77": None})
    assert list(refusal.value.errors) == ["successors.77"]
    assert fresh(ada).is_active


def test_who_cannot_take_over_is_refused_with_the_reason(asking: list[str]) -> None:
    chief, ada, gone = admin("chief"), person("ada"), person("gone")
    off_board(gone, successors={"lamp": None})
    robot = service_account_create(actor=None, username="robot", display_name="Robot")
    for pk, why in [
        (gone.pk, "deactivated"),
        (ada.pk, "the one who leaves"),
        (chief.pk, "themselves"),
        (robot.pk, "service account"),
        (999999, "nobody with this number"),
    ]:
        with pytest.raises(Invalid, match=why):
            off_board(ada, actor=chief, successors={"lamp": pk})
    assert fresh(ada).is_active


# --- the page


def test_the_page_shows_what_ends_and_asks(asking: list[str]) -> None:
    chief, ada, heir = admin(), director("ada"), person("heir")
    client = browser(chief)
    page = client.get(address(ada)).content.decode()
    assert "Roles in the organisation: revoked" in page
    assert "New lead of “The lamp”" in page
    refused = client.post(address(ada), {"reason": "Left", "successor-lamp": ""})
    assert refused.status_code == 422
    assert "“The lamp” would be without a lead" in refused.content.decode()
    unknown = client.post(address(ada), {"reason": "Left", "successor-lamp": "nobody-here"})
    assert unknown.status_code == 422
    assert "Nobody has the user name “nobody-here”" in unknown.content.decode()
    assert fresh(ada).is_active
    done = client.post(address(ada), {"reason": "Left", "successor-lamp": "HEIR"}, follow=True)
    assert done.status_code == 200
    assert "Off-boarding of Ada" in done.content.decode()
    assert asking == [str(heir)]


def test_nobody_is_chosen_with_a_box_whatever_stands_in_the_field(asking: list[str]) -> None:
    ada, client = person("ada"), browser(admin())
    body = {"reason": "Left", "successor-lamp": "suggested", "without-lamp": "on"}
    assert client.post(address(ada), body).status_code == 302
    assert asking == ["None"]


def test_a_question_that_is_gone_by_now_is_said_on_the_page() -> None:
    ada, client = person("ada"), browser(admin())
    answer = client.post(address(ada), {"reason": "Left", "successor-77": "someone"})
    assert answer.status_code == 422
    assert "needs none any more" in answer.content.decode()
    assert fresh(ada).is_active


@pytest.mark.parametrize("reason", ["", "   ", "x" * 2001])
def test_a_reason_is_needed(reason: str) -> None:
    ada, chief = person("ada"), admin()
    assert browser(chief).post(address(ada), {"reason": reason}).status_code == 422
    answer = api_client(chief).post(f"/api/v1/people/{ada.pk}/deactivate/", {"reason": reason})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == ["reason"]
    assert fresh(ada).is_active


def test_the_report_is_for_admins_and_auditors_and_shows_text_as_text() -> None:
    chief, ada = admin(), person("ada", display_name="阿达")
    report = off_board(ada, actor=chief, reason="<script>alert(1)</script>\n调离")
    path = f"/people/{ada.pk}/offboardings/{report.pk}/"
    for someone, status in ((person(), 403), (director(), 403), (auditor(), 200), (chief, 200)):
        assert browser(someone).get(path).status_code == status
    page = browser(chief).get(path).content.decode()
    assert "<script>alert(1)" not in page
    assert "调离" in page
    assert path.rstrip("/") in browser(chief).get(f"/people/{ada.pk}/").content.decode()
    assert browser(chief).get(f"/people/{chief.pk}/offboardings/{report.pk}/").status_code == 404


def test_a_line_of_a_room_that_is_gone_is_still_shown(asking: list[str]) -> None:
    chief, ada = admin(), person("ada")
    report = off_board(ada, actor=chief, successors={"lamp": None})
    step = steps._steps.pop("test")
    try:
        assert "The lamp" in browser(chief).get(f"/people/{ada.pk}/offboardings/{report.pk}/").content.decode()
    finally:
        steps.register(replace(step))


# --- two at once


@pytest.mark.django_db(transaction=True)
def test_of_two_admins_one_off_boards_and_the_other_is_told() -> None:
    first, second, ada = admin(), admin(), person("ada")
    start = Barrier(2, timeout=20)

    def go(actor: Person) -> bool:
        try:
            start.wait()
            person_offboard(actor=actor, person_id=ada.pk, farewell=Farewell("Left"))
        except AlreadySo:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        outcomes = [done.result(20) for done in [pool.submit(go, first), pool.submit(go, second)]]
    assert sorted(outcomes) == [False, True]
    assert Offboarding.objects.filter(person=ada).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_admins_cannot_off_board_each_other_even_if_a_third_is_there() -> None:
    first, second, _third = admin(), admin(), admin()
    start = Barrier(2, timeout=20)

    def go(actor: Person, other: Person) -> bool:
        try:
            start.wait()
            person_offboard(actor=actor, person_id=other.pk, farewell=Farewell("Left"))
        except (Forbidden, Unauthenticated):
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        tries = [pool.submit(go, first, second), pool.submit(go, second, first)]
        outcomes = [done.result(20) for done in tries]
    assert sorted(outcomes) == [False, True]
    assert Person.objects.filter(pk__in=[first.pk, second.pk], is_active=True).count() == 1
