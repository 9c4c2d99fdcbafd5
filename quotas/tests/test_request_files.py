"""Files of a request: what is taken, as what it is sent, and to whom."""

import base64
from datetime import timedelta
from typing import Any

import pytest

from accounts.tests import factories as people
from approvals.services import delegation_create
from inventory.models import GpuModel
from kernel import clock
from kernel.errors import Invalid
from projects.models import Project
from projects.tests import factories
from quotas import services
from quotas.errors import RequestNotEditable
from quotas.models import QuotaRequest
from quotas.requests.content import content_hash
from quotas.requests.files import MOST_BYTES, tidy_name
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft() -> QuotaRequest:
    model, _node = make.capacity(64)
    return asking.draft(factories.active_project(), model, 40)


def add(draft: QuotaRequest, name: str, content: bytes) -> Any:
    lead = asking.lead_of(draft.project)
    return services.attachment_add(actor=lead, request_id=draft.pk, name=name, content=content)


@pytest.mark.parametrize(
    ("name", "tidy"),
    [
        ("plan.pdf", "plan.pdf"),
        ("PLAN.PDF", "PLAN.pdf"),
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\temp\\plan.csv", "plan.csv"),
        ('a"; filename="b.exe.txt', "a_ filename=_b.exe.txt"),
        ("a\r\nSet-Cookie: x=1.txt", "aSet-Cookie_ x=1.txt"),
        ("gpj.\u202efdp.txt", "gpj.fdp.txt"),
        ("\u8ba1\u5212.md", "\u8ba1\u5212.md"),
        (".txt", "txt"),
        ("x" * 300 + ".txt", "x" * 116 + ".txt"),
    ],
)
def test_a_name_is_only_a_name(name: str, tidy: str) -> None:
    assert tidy_name(name) == tidy


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", b"<script>alert(1)</script>"),
        ("picture.svg", b"<svg/>"),
        ("plan", b"text"),
        ("plan.pdf", b"<script>alert(1)</script>"),
        ("plan.png", b"GIF89a"),
        ("plan.txt", b"\xff\xfe\x00"),
        ("plan.txt", b"a\0b"),
        ("plan.txt", b""),
        ("plan.txt", b"x" * (MOST_BYTES + 1)),
        ("plan.xlsx", b"a,b"),
    ],
)
def test_what_is_not_taken(draft: QuotaRequest, name: str, content: bytes) -> None:
    with pytest.raises(Invalid) as refused:
        add(draft, name, content)
    assert list(refused.value.errors) == ["file"]


def test_five_are_enough_and_each_is_part_of_what_is_decided_on(draft: QuotaRequest) -> None:
    before = content_hash(draft)
    for index in range(5):
        add(draft, f"plan-{index}.txt", b"Text")
    assert content_hash(QuotaRequest.objects.get(pk=draft.pk)) != before
    with pytest.raises(Invalid, match="At most 5 files"):
        add(draft, "plan.txt", b"Text")
    services.request_submit(actor=asking.lead_of(draft.project), request_id=draft.pk)
    with pytest.raises(RequestNotEditable):
        add(draft, "plan.txt", b"Text")


def test_a_file_is_kept_and_not_shown_and_strangers_see_none(draft: QuotaRequest) -> None:
    add(draft, "\u8ba1\u5212.md", b"<script>alert(1)</script>")
    path = f"/api/v1/quota-requests/{draft.pk}/attachments"
    lead = people.api_client(asking.lead_of(draft.project))
    (row,) = lead.get(path).json()["results"]
    answer = lead.get(f"{path}/{row['id']}")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''%E8%AE%A1%E5%88%92.md"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert people.api_client(people.person()).get(f"{path}/{row['id']}").status_code == 404
    other = asking.draft(factories.active_project(), GpuModel.objects.get(name="h100"), 1)
    assert lead.get(f"/api/v1/quota-requests/{other.pk}/attachments/{row['id']}").status_code == 404


def test_who_stands_in_reads_the_files_of_what_they_decide_and_of_nothing_else(draft: QuotaRequest) -> None:
    row = add(draft, "plan.txt", b"Why")
    admin, helper = people.admin(), people.person("helper")
    path = f"/api/v1/quota-requests/{draft.pk}/attachments/{row.pk}"
    until = clock.now() + timedelta(days=3)
    delegation_create(actor=admin, stand_in_id=helper.pk, starts_at=None, ends_at=until)
    assert people.api_client(helper).get(path).status_code == 404
    services.request_submit(actor=asking.lead_of(draft.project), request_id=draft.pk)
    assert people.api_client(helper).get(path).status_code == 200
    assert people.api_client(people.person()).get(path).status_code == 404


def test_the_way_of_a_request_through_the_api(draft: QuotaRequest) -> None:
    project: Project = draft.project
    lead = people.api_client(asking.lead_of(project))
    body = {"project": project.pk, "gpu_model": "h100", "guaranteed": 40, "reason": "A run", "least": 16}
    made = lead.post("/api/v1/quota-requests", body, format="json", headers={"Idempotency-Key": "one"})
    again = lead.post("/api/v1/quota-requests", body, format="json", headers={"Idempotency-Key": "one"})
    assert (made.status_code, made.json()["id"]) == (201, again.json()["id"])
    path = f"/api/v1/quota-requests/{made.json()['id']}"
    content = base64.b64encode(b"%PDF-1.7").decode()
    assert lead.post(f"{path}/attachments", {"name": "a.pdf", "content": content}, format="json").status_code == 201
    assert lead.patch(path, {"guaranteed": 10**9}, format="json").status_code == 422
    shown = lead.post(f"{path}/submit").json()
    assert shown["state"] == "submitted"
    assert [step["roles"] for step in shown["path"]] == [["admin"], ["director"]]
    assert shown["can"] == ["clone", "withdraw"]
    for person, changes in ((people.admin(), {"changes": {"guaranteed": 20}}), (people.director(), {})):
        vote = f"/api/v1/approvals/{shown['approval']}/approve"
        assert people.api_client(person).post(vote, changes, format="json").status_code == 200
    granted = lead.get(path).json()
    assert (granted["state"], granted["granted"]["guaranteed"]) == ("approved", 20)
    rows = lead.get("/api/v1/quota-requests", {"state": "approved", "mine": "true"}).json()["results"]
    assert [row["id"] for row in rows] == [granted["id"]]


@pytest.mark.parametrize("act", ["request_discard", "request_withdraw"])
def test_files_of_a_draft_that_is_given_up_go_with_it(draft: QuotaRequest, act: str) -> None:
    add(draft, "plan.txt", b"A plan")
    getattr(services, act)(actor=asking.lead_of(draft.project), request_id=draft.pk)
    assert not draft.attachments.exists()


def test_files_of_what_was_asked_stay_with_it(draft: QuotaRequest) -> None:
    add(draft, "plan.txt", b"A plan")
    lead = asking.lead_of(draft.project)
    services.request_submit(actor=lead, request_id=draft.pk)
    services.request_withdraw(actor=lead, request_id=draft.pk)
    assert draft.attachments.count() == 1
