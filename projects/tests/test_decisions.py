"""A decision holds for one content, is taken once, and never by the project's own people."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.models import Person
from accounts.services import role_grant
from accounts.tests import factories as people
from kernel.errors import IllegalTransition
from kernel.models import AuditEntry, OutboxEvent, StateChange
from projects import selectors, services
from projects.content import FIELDS, changed_fields, content_hash
from projects.models import Project
from projects.tests import factories

Act = Callable[[], Any]


def url(project: Project, action: str = "") -> str:
    return f"/api/v1/projects/{project.pk}/{action}"


@pytest.mark.django_db
def test_an_approval_of_older_content_is_refused_and_says_what_changed() -> None:
    lead, director = people.person(), people.api_client(people.director())
    project = factories.submitted_project(lead=lead)
    seen = director.get(url(project)).json()["content"]
    services.project_decide(answer="return", actor=factories.admin(), project_id=project.pk, reason="Which data?")
    services.project_edit(actor=lead, project_id=project.pk, changes={"goal": "Another goal", "datasets": ["x"]})
    services.project_submit(actor=lead, project_id=project.pk, answer="x")
    for action in ("approve", "reject", "return"):
        refused = director.post(url(project, action), {"seen": seen, "reason": "So"})
        assert refused.status_code == 409
        assert refused.json()["code"] == "content_changed"
        assert refused.json()["changed"] == ["goal", "datasets"]
    again = director.get(url(project)).json()["content"]
    assert refused.json()["content"] == again
    assert director.post(url(project, "approve"), {"seen": again}).json()["state"] == "active"


@pytest.mark.django_db
def test_a_team_that_changed_since_is_other_content() -> None:
    lead = people.person()
    project = factories.submitted_project(lead=lead)
    seen = content_hash(project)
    services.member_add(actor=lead, project_id=project.pk, person=people.person().username, role="lead")
    refused = people.api_client(people.director()).post(url(project, "approve/"), {"seen": seen})
    assert refused.status_code == 409
    assert refused.json()["changed"] == ["team"]


@pytest.mark.django_db
def test_something_that_is_no_hash_is_refused() -> None:
    project = factories.submitted_project()
    refused = people.api_client(people.director()).post(url(project, "approve/"), {"seen": "latest"})
    assert refused.status_code == 409
    assert refused.json()["changed"] == list(FIELDS)


@pytest.mark.django_db
@pytest.mark.parametrize("way_back", ["withdraw", "return"])
def test_an_approval_after_it_went_back_is_refused(way_back: str) -> None:
    lead = people.person()
    project = factories.submitted_project(lead=lead)
    seen = content_hash(project)
    if way_back == "withdraw":
        services.project_withdraw(actor=lead, project_id=project.pk)
    else:
        services.project_decide(answer="return", actor=factories.admin(), project_id=project.pk, reason="A question")
    refused = people.api_client(people.director()).post(url(project, "approve/"), {"seen": seen})
    assert refused.status_code == 409
    assert refused.json()["code"] == "illegal_transition"
    project.refresh_from_db()
    assert project.state == "draft"


@pytest.mark.django_db
def test_every_field_that_an_approver_sees_is_in_the_hash() -> None:
    services.area_create(actor=factories.admin(), name="vision", title="Vision")
    lead = people.person()
    project = factories.draft_project(lead=lead)
    other = factories.full_facts(
        name="Other",
        goal="Other",
        kind="product",
        stage="training",
        area="vision",
        data_class="open",
        breakthrough=1,
        datasets=["other"],
        expected_compute=[],
        milestones=[],
    )
    for field in FIELDS:
        before = content_hash(project)
        if field == "team":
            services.member_add(actor=lead, project_id=project.pk, person=people.person().username, role="researcher")
        else:
            changes: Any = {field: other[field]}  # type: ignore[literal-required]
            services.project_edit(actor=lead, project_id=project.pk, changes=changes)
        project = Project.objects.get(pk=project.pk)
        assert changed_fields(before, content_hash(project)) == [field]


@pytest.mark.django_db
def test_nobody_approves_an_own_project_by_api_page_or_service() -> None:
    creator = people.person("creator")
    project = factories.submitted_project(lead=creator)
    services.member_add(actor=creator, project_id=project.pk, person=people.person("heir").username, role="lead")
    services.member_remove(actor=creator, project_id=project.pk, person_id=creator.pk)
    # They get the role to decide afterwards, as somebody promoted would.
    for someone in ("creator", "heir"):
        person = Person.objects.get(username=someone)
        role_grant(actor=None, person_id=person.pk, role="director")
        refused = people.api_client(person).post(url(project, "approve/"))
        assert (refused.status_code, refused.json()["code"]) == (403, "own_project"), someone
        browser = people.browser(person)
        page = browser.get(f"/projects/{project.pk}/decide/")["Location"]
        assert "Approve" not in browser.get(page).content.decode()
        vote = {"answer": "approve", "seen": content_hash(project), "version": 1}
        assert browser.post(f"{page}/vote", vote).status_code == 403
    project.refresh_from_db()
    assert project.state == "submitted"


@pytest.mark.django_db
def test_an_act_leaves_history_audit_and_news_together() -> None:
    admin = factories.admin()
    project = factories.active_project()
    services.project_suspend(actor=admin, project_id=project.pk, reason="Licence lapsed")
    step = StateChange.objects.order_by("-id")[0]
    assert (step.event, step.from_state, step.to_state, step.reason) == (
        "suspend",
        "active",
        "suspended",
        "Licence lapsed",
    )
    entry = AuditEntry.objects.order_by("-id")[0]
    assert (entry.action, entry.actor_id) == ("project.suspended", str(admin.pk))
    assert entry.after == {"state": "suspended", "reason": "Licence lapsed"}
    event = OutboxEvent.objects.order_by("-id")[0]
    assert (event.topic, event.subject_id, event.data["project_id"]) == (
        "project.suspended",
        str(project.pk),
        project.pk,
    )
    services.project_resume(actor=admin, project_id=project.pk)
    services.project_close(actor=admin, project_id=project.pk, reason="Done")
    topics = OutboxEvent.objects.filter(subject_id=str(project.pk)).order_by("id").values_list("topic", flat=True)
    assert list(topics) == ["project.suspended", "project.resumed", "project.closed"]


@pytest.mark.django_db
def test_a_refused_act_leaves_nothing() -> None:
    project = factories.active_project()
    before = (StateChange.objects.count(), AuditEntry.objects.count(), OutboxEvent.objects.count())
    with pytest.raises(IllegalTransition):
        services.project_resume(actor=factories.admin(), project_id=project.pk)
    assert before == (StateChange.objects.count(), AuditEntry.objects.count(), OutboxEvent.objects.count())


@pytest.mark.django_db(transaction=True)
def test_two_approvals_at_once_are_one_approval() -> None:
    project = factories.submitted_project()
    clients = [people.api_client(people.director()), people.api_client(people.director())]
    codes = at_once(project, [partial(client.post, url(project, "approve/")) for client in clients])
    assert sorted(codes) == [200, 409]
    project.refresh_from_db()
    assert project.state == "active"
    assert StateChange.objects.filter(machine="project", event="approve", subject_id=str(project.pk)).count() == 1


@pytest.mark.django_db(transaction=True)
def test_approval_and_withdrawal_at_once_give_one_of_them() -> None:
    lead = people.person()
    project = factories.submitted_project(lead=lead)
    director, client = people.api_client(people.director()), people.api_client(lead)
    acts = [partial(director.post, url(project, "approve/")), partial(client.post, url(project, "withdraw/"))]
    assert sorted(at_once(project, acts)) == [200, 409]
    assert StateChange.objects.filter(machine="project", event__in=["approve", "withdraw"]).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_leads_who_leave_at_once_do_not_both_leave() -> None:
    first, second = people.person(), people.person()
    project = factories.active_project(lead=first)
    services.member_add(actor=first, project_id=project.pk, person=second.username, role="lead")
    pairs = [(people.api_client(someone), someone.pk) for someone in (first, second)]
    acts = [partial(client.delete, url(project, f"members/{pk}/")) for client, pk in pairs]
    assert sorted(at_once(project, acts)) == [204, 409]
    assert len([row for row in selectors.members(project) if row.role == "lead"]) == 1


def at_once(project: Project, acts: Sequence[Act]) -> list[int]:
    """Hold the project's row until every act, each on a connection of its own, waits for it; then let go."""
    codes: list[int] = []

    def run(act: Act) -> None:
        try:
            codes.append(act().status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        for thread in threads:
            thread.start()
        # A lock is waited for at most three seconds.
        deadline = time.monotonic() + 2.5
        while (met := waiting() == len(acts)) is False and time.monotonic() < deadline:
            pass
    for thread in threads:
        thread.join()
    assert met, "the acts did not meet at the lock"
    return codes


def waiting() -> int:
    """Connections to this database that wait for a lock, as it is now and not when the transaction began."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])
