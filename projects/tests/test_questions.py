"""An approver returns with a question; nobody submits again without an answer, and the thread is kept."""

from typing import Any

import pytest

from accounts.tests import factories as people
from kernel.errors import Invalid
from kernel.models import AuditEntry
from projects import selectors, services
from projects.models import Project, Question
from projects.services.acts import MAX_REASON
from projects.tests import factories

pytestmark = pytest.mark.django_db


def returned(reason: str = "Which data?") -> Project:
    project = factories.submitted_project()
    return services.project_decide(answer="return", actor=factories.admin(), project_id=project.pk, reason=reason)


def test_returning_opens_a_question_and_submitting_answers_it() -> None:
    project = returned()
    question = selectors.open_question(project)
    assert question is not None
    assert (question.text, question.asked_by, question.answer) == ("Which data?", factories.admin(), "")
    services.project_submit(actor=project.created_by, project_id=project.pk, answer=" The web of 2026 ")
    assert selectors.open_question(project) is None
    (line,) = selectors.questions(project)
    assert (line.answer, line.answered_by) == ("The web of 2026", project.created_by)
    assert line.answered_at is not None
    assert line.answered_at >= line.asked_at


@pytest.mark.parametrize("answer", ["", "  \n", "x" * (MAX_REASON + 1)])
def test_an_open_question_needs_an_answer_that_fits(answer: str) -> None:
    project = returned()
    with pytest.raises(Invalid) as refusal:
        services.project_submit(actor=project.created_by, project_id=project.pk, answer=answer)
    assert list(refusal.value.errors) == ["answer"]
    project.refresh_from_db()
    assert project.state == "draft"
    assert Question.objects.get().answered_at is None


def test_an_answer_to_nothing_is_refused() -> None:
    project = factories.draft_project()
    with pytest.raises(Invalid) as refusal:
        services.project_submit(actor=project.created_by, project_id=project.pk, answer="Yes")
    assert list(refusal.value.errors) == ["answer"]


def test_what_is_missing_is_named_together_with_the_answer() -> None:
    project = returned()
    services.project_edit(actor=project.created_by, project_id=project.pk, changes={"goal": ""})
    with pytest.raises(Invalid) as refusal:
        services.project_submit(actor=project.created_by, project_id=project.pk)
    assert set(refusal.value.errors) == {"goal", "answer"}


def test_withdrawing_and_submitting_again_keeps_the_thread_and_asks_nothing_again() -> None:
    project = returned("First?")
    lead = project.created_by
    given: Any = {"project_id": project.pk}
    services.project_submit(actor=lead, answer="One", **given)
    services.project_withdraw(actor=lead, **given)
    services.project_submit(actor=lead, **given)
    services.project_decide(answer="return", actor=factories.admin(), reason="Second?", **given)
    thread = selectors.questions(project)
    assert [(line.text, line.answer) for line in thread] == [("First?", "One"), ("Second?", "")]


def test_history_and_audit_say_what_was_asked_and_answered() -> None:
    project = returned()
    services.project_submit(actor=project.created_by, project_id=project.pk, answer="The web")
    steps = [(item.what, item.reason) for item in selectors.history(project) if item.kind == "state"]
    assert steps == [("submit", ""), ("return", "Which data?"), ("submit", "The web")]
    latest = AuditEntry.objects.filter(action="project.submitted").latest("id")
    assert latest.after is not None
    assert latest.after["reason"] == "The web"


def test_the_api_takes_the_answer_and_shows_the_thread() -> None:
    project = returned()
    client = people.api_client(project.created_by)
    address = f"/api/v1/projects/{project.pk}/"
    (line,) = client.get(address).json()["questions"]
    assert (line["question"], line["answer"], line["answered_by"], line["answered_at"]) == (
        "Which data?",
        "",
        None,
        None,
    )
    assert line["asked_by"]["username"] == "registry-admin"
    refused = client.post(f"{address}submit/", {})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["answer"])
    done = client.post(f"{address}submit/", {"answer": "The web"})
    assert done.status_code == 200
    assert done.json()["questions"][0]["answer"] == "The web"
    assert done.json()["questions"][0]["answered_by"]["id"] == project.created_by_id
