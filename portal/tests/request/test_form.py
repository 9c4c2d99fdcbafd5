"""The form of a quota request through HTTP: what is refused where, what is kept, and that it is sent once."""

import json
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Person
from accounts.tests import factories as people
from approvals.models import Approval
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.models import FormDraft
from portal.pages.request.keeping import NEW
from projects.models import Project
from projects.services.members import member_add
from projects.tests.factories import active_project
from quotas.models import Claim, QuotaRequest, RequestAttachment
from quotas.requests.selectors import KIND
from quotas.states import RequestState
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.fixture
def model() -> GpuModel:
    """64 H100 of which 60 may be guaranteed."""
    found, _node = make.capacity(64, reserve=625)
    return found


@pytest.fixture
def project() -> Project:
    return active_project(name="Tides")


@pytest.fixture
def lead(project: Project) -> Client:
    return people.browser(asking.lead_of(project))


def day(after: int) -> str:
    return (local_day(clock.now()) + timedelta(days=after)).isoformat()


def typed(model: GpuModel, **more: Any) -> dict[str, Any]:
    """Forty more for thirty days: more than the policy grants by itself."""
    usual = {
        "gpu_model": str(model.pk),
        "guaranteed_more": "40",
        "length": "time",
        "from_on": day(0),
        "to_on": day(29),
        "reason": "The probe beats the run at equal tokens.",
        "_key": str(uuid4()),
        "act": "submit",
    }
    return {**usual, **more}


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def form_of(project: Project) -> str:
    return f"/projects/{project.pk}/request"


def test_what_is_typed_as_more_is_asked_for_as_totals(lead: Client, project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=16)
    answer = lead.post(form_of(project), typed(model, limit_more="40", least_more="24"))
    row = QuotaRequest.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == f"/quota-requests/{row.pk}"
    assert (row.guaranteed, row.limit, row.least, row.state) == (48, 56, 32, RequestState.SUBMITTED)
    assert row.starts_at is None
    assert row.ends_at == day_bounds(local_day(clock.now()) + timedelta(days=29)).end


def test_a_limit_left_empty_rises_as_far_as_needed(lead: Client, project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=16)
    lead.post(form_of(project), typed(model))
    assert QuotaRequest.objects.get().limit == 48
    lead.post(form_of(project), typed(model, guaranteed_more="4", act="save"))
    assert QuotaRequest.objects.get(state=RequestState.DRAFT).limit == 16


def test_the_policy_grants_what_is_small(lead: Client, project: Project, model: GpuModel) -> None:
    lead.post(form_of(project), typed(model, guaranteed_more="1", to_on=day(5)))
    assert QuotaRequest.objects.get().state == RequestState.APPROVED
    assert Claim.objects.get().guaranteed == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"gpu_model": ""}, "Choose a GPU model."),
        ({"guaranteed_more": "many"}, "“many” is not a whole number."),
        ({"guaranteed_more": ""}, "Say how many GPUs"),
        ({"guaranteed_more": "61"}, "61 asked; of 64 GPUs 60 can be guaranteed"),
        ({"limit_more": "20"}, "20 is less than the guarantee of 40."),
        ({"least_more": "50"}, "50 is more than the guarantee of 40"),
        ({"from_on": "2001-01-01"}, "lies in the past."),
        ({"to_on": "tomorrow"}, "“tomorrow” is not a day"),
        ({"to_on": ""}, "Say the last day"),
        ({"reason": "  "}, "Say what it is for"),
        ({"reason": "x" * 2001}, "2001 characters; at most 2000"),
    ],
)
def test_each_fault_is_said_at_its_field_and_the_text_is_kept(
    lead: Client, project: Project, model: GpuModel, more: dict[str, str], words: str
) -> None:
    sent = typed(model, **more)
    answer = lead.post(form_of(project), sent)
    page = text(answer)
    assert answer.status_code == 422
    assert words in page
    assert "One field to correct" in page
    assert not QuotaRequest.objects.exists()
    draft = FormDraft.objects.get()
    assert (draft.form, draft.subject) == (NEW, f"project:{project.pk}")
    assert draft.data["reason"] == [sent["reason"]]
    again = text(lead.get(f"{form_of(project)}?draft={draft.key}"))
    assert "As you left it" in again


def test_all_faults_are_said_in_one_round(lead: Client, project: Project, model: GpuModel) -> None:
    page = text(lead.post(form_of(project), typed(model, guaranteed_more="x", to_on="", reason="")))
    assert "3 fields to correct" in page


def test_the_same_form_sent_twice_is_one_request(lead: Client, project: Project, model: GpuModel) -> None:
    sent = typed(model)
    first, second = lead.post(form_of(project), sent), lead.post(form_of(project), sent)
    assert first["Location"] == second["Location"]
    assert QuotaRequest.objects.count() == Approval.objects.filter(kind=KIND).count() == 1
    other = lead.post(form_of(project), {**sent, "guaranteed_more": "48"})
    assert other.status_code == 409
    assert "was sent before, with other values" in text(other)
    assert QuotaRequest.objects.count() == 1


def test_a_file_added_after_going_back_costs_no_word(lead: Client, project: Project, model: GpuModel) -> None:
    sent = typed(model)
    lead.post(form_of(project), sent)
    file = SimpleUploadedFile("plan.txt", b"A plan")
    page = lead.post(form_of(project), {**sent, "reason": "Another reason", "files": file})
    assert (page.status_code, "Another reason" in text(page)) == (409, True)
    assert FormDraft.objects.get().data["reason"] == ["Another reason"]


def test_a_file_that_is_too_large_is_refused_by_its_own_size(lead: Client, project: Project, model: GpuModel) -> None:
    file = SimpleUploadedFile("plan.txt", b"x" * (7 * 1024 * 1024))
    page = lead.post(form_of(project), {**typed(model), "files": file}, follow=True)
    assert "plan.txt” has 7" in text(page), re.findall(r"plan.txt[^<]{0,90}", text(page))
    assert not RequestAttachment.objects.exists()


def test_a_second_request_for_the_same_model_is_refused_at_the_model(
    lead: Client, project: Project, model: GpuModel
) -> None:
    asking.submitted(project, model, 40)
    answer = lead.post(form_of(project), typed(model))
    assert answer.status_code == 409
    assert "is open already" in text(answer)
    assert "asked for already" in text(answer)


def test_what_changed_while_one_looked_is_not_stored(lead: Client, project: Project, model: GpuModel) -> None:
    """The page said 8 becomes 48; meanwhile the project got 12."""
    make.grant(project, model, 12, limit=16)
    answer = lead.post(form_of(project), typed(model, _held=f"{model.pk}:8:16"))
    assert answer.status_code == 422
    assert "The project has 12, limit 16 by now, not 8, limit 16" in text(answer)
    assert not QuotaRequest.objects.exists()
    assert lead.post(form_of(project), typed(model, _held=f"{model.pk}:12:16")).status_code == 302


@pytest.mark.parametrize("mark", ["", "x", "9:", "9:a:b", ":::", "1" * 60])
def test_a_mark_that_nobody_wrote_changes_nothing(lead: Client, project: Project, model: GpuModel, mark: str) -> None:
    assert lead.post(form_of(project), typed(model, _held=mark)).status_code == 302


def test_a_draft_is_gone_on_with_and_sent(lead: Client, project: Project, model: GpuModel) -> None:
    make.grant(project, model, 8, limit=16)
    lead.post(form_of(project), typed(model, act="save"))
    row = QuotaRequest.objects.get()
    page = text(lead.get(f"/quota-requests/{row.pk}/edit"))
    assert 'name="guaranteed_more" value="40"' in page
    assert "8 becomes 48." in page
    edited = typed(model, guaranteed_more="44", seen="")
    assert lead.post(f"/quota-requests/{row.pk}/edit", edited).status_code == 302
    row.refresh_from_db()
    assert (row.guaranteed, row.state) == (52, RequestState.SUBMITTED)
    assert lead.post(f"/quota-requests/{row.pk}/edit", edited).status_code == 302
    assert lead.get(f"/quota-requests/{row.pk}/edit").status_code == 409


def test_saving_as_typed_is_found_again_from_home(lead: Client, project: Project, model: GpuModel) -> None:
    key = str(uuid4())
    data = {"project_name": [project.name], "guaranteed_more": ["not yet"]}
    body = {"form": NEW, "subject": f"project:{project.pk}", "data": data, "version": 0, "writer": "w"}
    assert lead.post(f"/form-drafts/{key}", json.dumps(body), content_type="application/json").status_code == 200
    home = text(lead.get("/"))
    assert "Quota for Tides" in home
    assert f"/projects/{project.pk}/request?draft={key}" in home
    page = text(lead.get(f"/projects/{project.pk}/request?draft={key}"))
    assert 'value="not yet"' in page


def test_a_question_is_answered_with_the_form(lead: Client, project: Project, model: GpuModel) -> None:
    row = asking.submitted(project, model, 40, ends_at=day_bounds(local_day(clock.now()) + timedelta(days=9)).end)
    asking.vote(row, "return", comment="Why not A100?")
    page = text(lead.get(f"/quota-requests/{row.pk}/edit"))
    assert "Why not A100?" in page
    sent = typed(model, guaranteed_more="36")
    assert "Answer the question before you submit again." in text(lead.post(f"/quota-requests/{row.pk}/edit", sent))
    answered = {**typed(model, guaranteed_more="36"), "answer": "It is too slow."}
    assert lead.post(f"/quota-requests/{row.pk}/edit", answered).status_code == 302
    row.refresh_from_db()
    assert (row.state, row.guaranteed) == (RequestState.SUBMITTED, 36)


def upload(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_files_make_a_draft_and_keep_what_was_typed(lead: Client, project: Project, model: GpuModel) -> None:
    sent = typed(model, guaranteed_more="not yet", act="attach")
    answer = lead.post(form_of(project), {**sent, "files": [upload("plot.png", PNG), upload("a.txt", b"seen")]})
    row = QuotaRequest.objects.get()
    assert answer["Location"].startswith(f"/quota-requests/{row.pk}/edit?draft=")
    assert sorted(row.attachments.values_list("name", flat=True)) == ["a.txt", "plot.png"]
    page = text(lead.get(answer["Location"]))
    assert 'value="not yet"' in page
    assert "plot.png" in page
    gone = row.attachments.get(name="plot.png")
    lead.post(f"/quota-requests/{row.pk}/edit", {**typed(model), "act": f"drop:{gone.pk}"})
    assert [file.name for file in row.attachments.all()] == ["a.txt"]


def test_what_has_files_of_ones_own_is_sent_as_it_was_seen(lead: Client, project: Project, model: GpuModel) -> None:
    """The files are part of the content: attaching one is no change by somebody else."""
    answer = lead.post(form_of(project), {**typed(model, act="attach"), "files": [upload("a.txt", b"seen")]})
    page = text(lead.get(answer["Location"]))
    [seen] = re.findall(r'name="seen" value="([0-9a-f]+)"', page)
    [key] = re.findall(r'name="_key" autocomplete="off" value="([0-9a-f-]+)"', page)
    row = QuotaRequest.objects.get()
    sent = typed(model, seen=seen, _key=key)
    overtaken = lead.post(f"/quota-requests/{row.pk}/edit", {**sent, "seen": "0" * len(seen)})
    assert overtaken.status_code == 409
    assert "Somebody else changed this request" in text(overtaken)
    assert lead.post(f"/quota-requests/{row.pk}/edit", sent).status_code == 302
    row.refresh_from_db()
    assert row.state == RequestState.SUBMITTED


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("run.exe", b"MZ", "is no file that can be attached"),
        ("plot.png", b"<script>", "does not hold what its name says"),
        ("big.txt", b"a" * (5 * 1024 * 1024 + 1), "at most"),
        ("empty.txt", b" ", ""),
    ],
)
def test_files_that_are_not_taken_are_named(
    lead: Client, project: Project, model: GpuModel, name: str, content: bytes, words: str
) -> None:
    answer = lead.post(form_of(project), {**typed(model, act="attach"), "files": [upload(name, content)]}, follow=True)
    assert words in text(answer)
    assert QuotaRequest.objects.get().attachments.count() == (0 if words else 1)


def test_a_name_with_a_path_or_script_is_only_a_name(lead: Client, project: Project, model: GpuModel) -> None:
    name = "..\\..\\<script>alert(1)</script>.txt"
    lead.post(form_of(project), {**typed(model, act="attach"), "files": [upload(name, b"x")]})
    row = QuotaRequest.objects.get()
    file = row.attachments.get()
    assert not set(file.name) & set('<>\\/"')
    assert "<script>alert" not in lead.get(f"/quota-requests/{row.pk}").content.decode()
    answer = lead.get(f"/quota-requests/{row.pk}/files/{file.pk}")
    assert answer["Content-Disposition"].startswith("attachment;")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert people.browser(people.person()).get(f"/quota-requests/{row.pk}/files/{file.pk}").status_code == 404
    other = asking.draft(active_project(name="Winds"), model, 8)
    assert lead.get(f"/quota-requests/{other.pk}/files/{file.pk}").status_code == 404


def test_only_leads_of_active_projects_ask(project: Project, model: GpuModel, lead: Client) -> None:
    researcher: Person = people.person("mate")
    member_add(actor=asking.lead_of(project), project_id=project.pk, person=researcher.username, role="researcher")
    row = asking.draft(project, model, 8)
    for address in (form_of(project), f"/quota-requests/{row.pk}/edit", f"/quota-requests/{row.pk}/give-up"):
        assert people.browser(researcher).get(address).status_code == 403
        assert people.browser(people.person()).get(address).status_code == 404
        assert lead.get(address).status_code == 200
