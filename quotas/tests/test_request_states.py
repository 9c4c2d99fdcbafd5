"""Every state × event × role of a quota request by HTTP: who may, who may not, and what the state refuses."""

import pytest

from accounts.models import Person, Role
from accounts.tests import factories as people
from approvals.rules import Rule, StepRule
from approvals.services import policy_set
from inventory.models import GpuModel
from projects.models import Project
from projects.tests import factories as registry
from quotas import services
from quotas.models import Claim, QuotaRequest
from quotas.states import QUOTA_REQUEST, RequestState
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db

EVENTS = ["submit", "withdraw", "approve", "reject", "return"]
TO = {
    ("draft", "submit"): "submitted",
    ("draft", "withdraw"): "withdrawn",
    ("submitted", "approve"): "approved",
    ("submitted", "reject"): "rejected",
    ("submitted", "return"): "returned",
    ("submitted", "withdraw"): "withdrawn",
    ("returned", "submit"): "submitted",
    ("returned", "withdraw"): "withdrawn",
}
OF_LEADS = ("submit", "withdraw")
VARIANTS: dict[str, dict[str, int]] = {"raise": {}, "for a time": {"days": 20}, "gives back": {"guaranteed": 4}}


def asked(project: Project, model: GpuModel, variant: str) -> QuotaRequest:
    terms = VARIANTS[variant]
    ends_at = asking.in_days(terms["days"]) if "days" in terms else None
    return asking.draft(project, model, terms.get("guaranteed", 20), limit=32, ends_at=ends_at)


def in_state(state: str, project: Project, model: GpuModel, variant: str) -> QuotaRequest:
    row = asked(project, model, variant)
    if state == "draft":
        return row
    if state == "withdrawn":
        return services.request_withdraw(actor=asking.lead_of(project), request_id=row.pk)
    services.request_submit(actor=asking.lead_of(project), request_id=row.pk)
    answers = {"returned": "return", "rejected": "reject", "approved": "approve"}
    if state in answers:
        asking.vote(row, answers[state])
    row.refresh_from_db()
    return row


def cast(project: Project) -> dict[str, Person | None]:
    researcher = people.person()
    registry.enrol(project, researcher)
    return {
        "anonymous": None,
        "stranger": people.person(),
        "researcher": researcher,
        "auditor": people.auditor(),
        "admin": people.admin(),
        "lead": asking.lead_of(project),
    }


def body_of(row: QuotaRequest, event: str) -> dict[str, str]:
    if event == "submit":
        return {"answer": "For the second run"} if row.state == "returned" else {}
    return {"reason": "Said by a test"} if event == "withdraw" else {"comment": "Said by a test"}


def path_of(row: QuotaRequest, event: str) -> str:
    if event in OF_LEADS:
        return f"/api/v1/quota-requests/{row.pk}/{event}"
    return f"/api/v1/approvals/{asking.approval(row).pk}/{event}"


def test_the_table_here_is_the_table_of_the_machine() -> None:
    assert {(str(state), event): str(to) for (state, event), to in QUOTA_REQUEST.table.items()} == TO


def expected(state: str, event: str, role: str) -> int:
    if role == "anonymous":
        return 401
    if role == "stranger":
        return 404
    if role != ("lead" if event in OF_LEADS else "admin"):
        return 409 if event not in OF_LEADS and state != "submitted" else 403
    return 200 if (state, event) in TO else 409


@pytest.fixture
def project() -> Project:
    """A project that holds 8 of 64 GPUs; what it asks for waits for one admin, whatever it is."""
    make.capacity(64)
    found = registry.active_project()
    admin = people.admin("rule-maker")
    rule = Rule("An admin", (StepRule(roles=(Role.ADMIN,)),))
    policy_set(actor=admin, kind="quota_request", rules=[rule], seen=1, reason="For this test")
    return found


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("state", RequestState.values)
def test_step(project: Project, state: str, variant: str) -> None:
    model = GpuModel.objects.get(name="h100")
    for event in EVENTS:
        if event not in OF_LEADS and state in ("draft", "withdrawn"):
            continue
        make.grant(project, model, 8, limit=16)
        row = in_state(state, project, model, variant)
        assert row.is_temporary == (variant == "for a time")
        able = "lead" if event in OF_LEADS else "admin"
        for role, person in sorted(cast(project).items(), key=lambda pair: pair[0] == able):
            answer = people.api_client(person).post(path_of(row, event), body_of(row, event), format="json")
            code = expected(state, event, role)
            assert answer.status_code == code, (state, event, role, answer.content)
        row.refresh_from_db()
        assert row.state == TO.get((state, event), state)
        effects = Claim.objects.filter(request=row).count()
        assert effects == (1 if row.state == "approved" else 0), (state, event)
        if row.is_open:
            services.request_withdraw(actor=asking.lead_of(project), request_id=row.pk)
