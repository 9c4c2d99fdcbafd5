"""The form of a registration: kept as it is typed, gone on with, sent once, every fault in one round."""

import re
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from accounts.models import Person
from accounts.tests import factories as people
from approvals.selectors import answer_time
from kernel import clock, form_drafts
from kernel.models import FormDraft, IdempotencyKey
from projects import services
from projects.content import content_hash
from projects.models import Membership, Project, ProjectChange
from projects.registration import keeping, typed
from projects.registration.glance import glance
from projects.tests import factories
from projects.tests.test_decisions import waiting
from projects.tests.test_pages import sent, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead() -> Person:
    factories.gpu_model("h100")
    return people.person("the-lead")


def keep(owner: Person, data: dict[str, str], project: Project | None = None, seen: str = "") -> FormDraft:
    """As the page's script does."""
    form = keeping.EDIT if project else keeping.NEW
    subject = keeping.subject_of(project.pk) if project else ""
    values = {name: [value] for name, value in data.items()}
    message = form_drafts.Typed(form, values, subject, seen, writer="a page")
    return form_drafts.save(owner_id=owner.pk, key=uuid4(), typed=message)


def errors_on(page: Any) -> str:
    """The sentences that stand under fields and rows, in the order of the page."""
    return " | ".join(re.findall(r'<ul class="errorlist[^>]*>\s*<li>(.*?)</li>', text_of(page), re.S))


# --- kept while one types


def test_a_form_is_restored_as_it_was_typed_rows_included(lead: Person) -> None:
    raw = {
        "name": "半 <half> a name",
        "breakthrough": "eleven",
        "datasets": "one\ntwo",
        "kind": "product",
        "compute-TOTAL_FORMS": "3",
        "compute-0-gpu_model": "h100",
        "compute-0-target": "a lot",
        "compute-1-gpu_model": "h100",
        "compute-1-DELETE": "on",
        "compute-2-min": "7",
        "milestones-TOTAL_FORMS": "1",
        "milestones-0-name": "第一",
        "milestones-0-due_on": "next spring",
        "team-TOTAL_FORMS": "1",
        "team-INITIAL_FORMS": "0",
        "team-0-person": "somebody",
        "team-0-role": "lead",
    }
    draft = keep(lead, raw)
    page = text_of(people.browser(lead).get(f"/projects/new?draft={draft.key}"))
    for value in ("半 &lt;half&gt; a name", "eleven", "a lot", "第一", "next spring", "somebody"):
        assert f'value="{value}"' in page, value
    assert "one\ntwo</textarea>" in page
    assert '<option value="product" selected>' in page
    assert 'name="compute-1-min" value="7"' in page
    assert 'name="compute-TOTAL_FORMS" value="2"' in page
    assert 'name="_version" autocomplete="off" value="1"' in page
    assert "errorlist" not in page


def test_unfinished_forms_are_listed_where_they_are_gone_on_with(lead: Person) -> None:
    draft, nameless = keep(lead, {"name": "Folding"}), keep(lead, {"goal": "Something"})
    page = text_of(people.browser(lead).get("/projects/new"))
    for row, title in ((draft, "Folding"), (nameless, "Project without a name")):
        assert title in page
        assert f'href="/projects/new?draft={row.key}"' in page
        assert f'href="/form-drafts/{row.key}/discard"' in page
    assert "Folding" not in text_of(people.browser(people.person()).get("/projects/new"))
    browser = people.browser(lead)
    assert "Discard “Folding”?" in text_of(browser.get(f"/form-drafts/{draft.key}/discard"))
    assert browser.post(f"/form-drafts/{draft.key}/discard")["Location"] == "/projects/new"
    assert browser.get(f"/projects/new?draft={draft.key}").status_code == 404


def test_typing_reaches_no_project_and_no_history(lead: Person) -> None:
    project = factories.draft_project(lead=lead)
    lines, content = ProjectChange.objects.count(), content_hash(project)
    keep(lead, {"name": "Other"}, project)
    keep(lead, {"name": "New"})
    assert (Project.objects.count(), ProjectChange.objects.count()) == (1, lines)
    assert content_hash(project) == content


def test_going_on_with_an_edit_says_what_changed_meanwhile(lead: Person) -> None:
    project = factories.draft_project(lead=lead, name="Alpha", goal="Old")
    seen = content_hash(project)
    draft = keep(lead, {"name": "Alpha", "goal": "Mine"}, project, seen)
    address = f"/projects/{project.pk}/edit"
    browser = people.browser(lead)
    assert "You were editing this" in text_of(browser.get(address))
    assert "Mine" not in text_of(browser.get(address))
    services.project_edit(actor=lead, project_id=project.pk, changes={"stage": "training"})
    page = text_of(browser.get(f"{address}?draft={draft.key}"))
    assert "Mine</textarea>" in page
    assert "somebody changed: Stage" in page
    refused = browser.post(address, sent(name="Alpha", goal="Mine", seen=seen))
    assert refused.status_code == 422
    assert "Somebody else changed this project" in text_of(refused)
    again = re.findall(r'name="seen" value="([0-9a-f]+)"', text_of(refused))[0]
    assert browser.post(address, sent(name="Alpha", goal="Mine", seen=again)).status_code == 302
    assert not FormDraft.objects.exists()


def test_a_refused_form_is_kept_and_a_done_one_forgotten(lead: Person) -> None:
    browser, key = people.browser(lead), str(uuid4())
    wrong = {**sent(**{"compute-0-target": "two"}), "_key": key, "_version": "0", "_writer": "a page"}
    assert browser.post("/projects/new", wrong).status_code == 422
    draft = FormDraft.objects.get()
    assert (str(draft.key), draft.data["compute-0-target"], draft.version) == (key, ["two"], 1)
    assert "csrfmiddlewaretoken" not in draft.data
    # Another page has gone on with it: what that one saved stays.
    form_drafts.save(
        owner_id=lead.pk, key=draft.key, typed=form_drafts.Typed(keeping.NEW, {"name": ["There"]}, version=1)
    )
    browser.post("/projects/new", wrong)
    assert FormDraft.objects.get().data == {"name": ["There"]}
    assert browser.post("/projects/new", {**sent(), "_key": key}).status_code == 302
    assert not FormDraft.objects.exists()


# --- every fault in one round


FAULTY = {
    "name": "taken",
    "goal": "",
    "stage": "",
    "breakthrough": "11",
    "datasets": "x" * 201,
    "compute-TOTAL_FORMS": "3",
    "compute-0-min": "5",
    "compute-1-gpu_model": "h100",
    "compute-1-target": "1.5",
    "compute-2-target": "4",
    "milestones-0-due_on": "soon",
    "milestones-1-name": "Met in the future",
    "milestones-1-due_on": "2030-01-01",
    "milestones-1-met_on": "2031-01-01",
    "team-TOTAL_FORMS": "1",
    "team-INITIAL_FORMS": "0",
    "team-0-person": "nobody-here",
    "team-0-role": "researcher",
    "act": "submit",
}


def test_all_faults_are_said_together_with_value_and_what_is_allowed(lead: Person) -> None:
    factories.draft_project(name="Taken")
    page = people.browser(lead).post("/projects/new", sent(**FAULTY))
    said = errors_on(page)
    for sentence in (
        "A project named “taken” exists already",
        "Say what the project is to reach.",
        "Say at which stage",
        "11 is not a whole number from 0 to 10",
        "201 characters; at most 200",
        "At least 5, target 2, at most 4: none may be less than the one before it",
        "“1.5” is not a whole number",
        "Choose a GPU model.",
        "“soon” is not a day",
        "2031-01-01 has not come yet",
        "Nobody has the user name “nobody-here”",
    ):
        assert sentence in said, sentence
    assert "11 fields to correct" in text_of(page)
    assert Project.objects.count() == 1


def test_a_text_that_cannot_be_read_is_not_called_missing_as_well(lead: Person) -> None:
    page = people.browser(lead).post("/projects/new", sent(breakthrough="high", act="submit"))
    assert "“high” is not a whole number." in errors_on(page)
    assert "Estimate the breakthrough" not in errors_on(page)


def test_people_who_cannot_join_are_named_by_row(lead: Person) -> None:
    people.person("ada")
    rows = {
        "team-TOTAL_FORMS": "4",
        "team-INITIAL_FORMS": "0",
        "team-0-person": "ada",
        "team-1-person": "nobody-here",
        "team-3-person": "ADA",
    }
    rows |= {f"team-{n}-role": "researcher" for n in range(4)}
    page = people.browser(lead).post("/projects/new", sent(**rows))
    assert page.status_code == 422
    assert "Nobody has the user name “nobody-here”" in errors_on(page)
    assert "Ada is on the team already" in errors_on(page)
    assert not Project.objects.exists()
    done = {**rows, "team-1-person": "", "team-3-person": "", "team-0-role": "lead"}
    assert people.browser(lead).post("/projects/new", sent(**done)).status_code == 302
    team = Membership.objects.order_by("pk").values_list("person__username", "role")
    assert list(team) == [("the-lead", "lead"), ("ada", "lead")]


def test_what_is_left_empty_beside_a_target_has_a_sensible_value(lead: Person) -> None:
    assert (
        people.browser(lead).post("/projects/new", sent(**{"compute-0-min": "", "compute-0-max": ""})).status_code
        == 302
    )
    row = Project.objects.get().expected_compute.get()
    assert (row.min, row.target, row.max) == (0, 2, 2)


# --- sent once


def test_the_same_form_sent_twice_leads_to_one_project(lead: Person) -> None:
    browser, key = people.browser(lead), str(uuid4())
    form = {**sent(act="submit"), "_key": key}
    first, second = browser.post("/projects/new", form), browser.post("/projects/new", form)
    assert first["Location"] == second["Location"] == f"/projects/{Project.objects.get().pk}"
    other = browser.post("/projects/new", {**form, "name": "Changed after going back"})
    assert other.status_code == 409
    assert "was sent before, with another text" in text_of(other)
    assert f'name="_key" autocomplete="off" value="{key}"' not in text_of(other)
    assert Project.objects.count() == 1


def test_resubmitting_twice_leads_to_the_project(lead: Person) -> None:
    project = factories.draft_project(lead=lead)
    form = {**sent(act="submit"), "_key": str(uuid4()), "seen": content_hash(project)}
    browser, address = people.browser(lead), f"/projects/{project.pk}/edit"
    assert browser.post(address, form)["Location"] == f"/projects/{project.pk}"
    assert browser.post(address, form)["Location"] == f"/projects/{project.pk}"
    assert browser.post(address, {**form, "goal": "Other"}).status_code == 409
    project.refresh_from_db()
    assert project.state == "submitted"


def test_a_submission_that_fails_at_the_last_moment_keeps_nothing(lead: Person) -> None:
    """The form's own look at the name is not the last word: the database is."""
    form = sent(act="submit")
    sending = services.Sending(
        facts=factories.full_facts(name="Alpha"), key=uuid4(), form=keeping.NEW, typed={}, is_submission=True
    )
    services.registration_create(actor=people.person(), sending=sending)
    assert people.browser(lead).post("/projects/new", {**form, "name": "alpha"}).status_code == 422
    assert Project.objects.count() == 1
    assert IdempotencyKey.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_sendings_at_once_make_one_project(lead: Person) -> None:
    form = {**sent(act="submit"), "_key": str(uuid4())}
    browsers = [people.browser(lead), people.browser(lead)]
    answers: list[str] = []

    def post(browser: Any) -> None:
        try:
            answers.append(browser.post("/projects/new", form)["Location"])
        finally:
            connection.close()

    _meet_at_the_models([partial(post, browser) for browser in browsers])
    assert answers == [f"/projects/{Project.objects.get().pk}"] * 2


def _meet_at_the_models(acts: Sequence[Any]) -> None:
    """Hold the table that every registration writes into until one act waits for it and the other for the key."""
    threads = [threading.Thread(target=act) for act in acts]
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE projects_project IN SHARE MODE")
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 2.5
        while (met := waiting() == len(acts)) is False and time.monotonic() < deadline:
            pass
    for thread in threads:
        thread.join()
    assert met, "the acts did not meet"


# --- asked, answered, submitted again


def test_the_question_stands_on_the_form_and_must_be_answered(lead: Person) -> None:
    project = factories.submitted_project(lead=lead)
    services.project_decide(answer="return", actor=factories.admin(), project_id=project.pk, reason="Why not <A100>?")
    browser, address = people.browser(lead), f"/projects/{project.pk}/edit"
    page = text_of(browser.get(address))
    assert "Why not &lt;A100&gt;?" in page
    assert page.index("The question you were asked") < page.index('id="what"')
    form = {**sent(act="submit"), "seen": content_hash(project)}
    silent = browser.post(address, form)
    assert silent.status_code == 422
    assert "Answer the question before you submit again." in errors_on(silent)
    draft = keep(lead, {"answer": "Too little"}, project, content_hash(project))
    assert "Too little</textarea>" in text_of(browser.get(f"{address}?draft={draft.key}"))
    assert browser.post(address, {**form, "answer": "Too little memory"}).status_code == 302
    project.refresh_from_db()
    assert project.state == "submitted"
    assert project.questions.get().answer == "Too little memory"
    assert not FormDraft.objects.exists()


def test_saving_without_submitting_needs_no_answer(lead: Person) -> None:
    project = factories.submitted_project(lead=lead)
    services.project_decide(answer="return", actor=factories.admin(), project_id=project.pk, reason="Why?")
    address = f"/projects/{project.pk}/edit"
    assert people.browser(lead).post(address, sent(answer="Not sure yet")).status_code == 302
    assert not project.questions.get().answer


# --- read beside the form


def test_a_glance_reads_what_it_can_and_nothing_more() -> None:
    data = {
        "name": ["  Two   words "],
        "breakthrough": ["x"],
        "compute-0-gpu_model": ["h100"],
        "compute-0-target": ["64"],
        "compute-1-gpu_model": ["a100"],
        "compute-1-target": ["9" * 400],
        "milestones-0-name": [""],
    }
    seen = glance(data)
    assert (seen.name, [(row.gpu_model, row.min, row.target, row.max) for row in seen.compute]) == (
        "Two words",
        [("h100", 0, 64, 64), ("a100", 0, 0, 0)],
    )
    assert set(seen.missing) == {"goal", "stage", "milestones"}


def test_an_empty_draft_is_an_empty_form() -> None:
    assert typed.of_draft({}) == {"form": {}, "compute": [], "milestones": [], "team": []}


def test_the_typical_answer_is_the_median_of_what_was_decided() -> None:
    start = datetime(2026, 3, 2, 12, tzinfo=UTC)
    admin, lead = factories.admin(), people.person()
    assert answer_time(start) is None
    found = None
    for hours, answer in ((1, "approve"), (30, "reject"), (5, "return")):
        with clock.frozen(start):
            project = factories.submitted_project(lead=lead)
        with clock.frozen(start + timedelta(hours=hours)):
            assert found is None, "two answers say nothing about what is typical"
            services.project_decide(answer=answer, actor=admin, project_id=project.pk, reason="Said")
        found = answer_time(start + timedelta(days=2))
    with clock.frozen(start):
        withdrawn = factories.submitted_project(lead=lead)
        services.project_withdraw(actor=lead, project_id=withdrawn.pk)
        factories.submitted_project(lead=lead)
    found = answer_time(start + timedelta(days=2))
    assert found is not None
    assert (found.typical_s, found.count) == (5 * 3600, 3)
    assert answer_time(start + timedelta(days=93)) is None
