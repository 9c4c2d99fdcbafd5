"""Handing a request in for a decision; where the policy says so, it is granted in the same unit."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Person
from approvals.kinds import Case, Locked
from approvals.models import Approval
from approvals.services import answer_faults, approval_comment, approval_submit, lock_with_open, opened
from inventory.models import GpuModel
from kernel import clock
from kernel.errors import Invalid, NotFound
from kernel.unit import unit_of_work
from projects import policies
from projects.models import Project
from projects.selectors import tier_at
from projects.services.acts import as_now
from quotas.errors import Changed, RequestOpen
from quotas.models import QuotaRequest
from quotas.raises import is_lower
from quotas.requests.asking import asked_of, holdings_of, kept_by, least_guaranteed
from quotas.requests.checks import missing_faults, purpose_faults, shape_faults
from quotas.requests.content import WORDS, content_hash
from quotas.requests.selectors import KIND, open_question, visible_requests
from quotas.requests.weighing import measures_of, summary_of
from quotas.services.claims import require_active
from quotas.services.requests import step
from quotas.states import OPEN


def request_submit(*, actor: Person | None, request_id: int, answer: str = "") -> QuotaRequest:
    """Ask for a decision. From now on what is asked is fixed, until it is asked back.

    ``answer`` is to the question with which it was asked back, and needed exactly while that is open; whoever decides
    reads it among the comments. Locks approval, project, GPU model and request. Raises ``NotFound``, ``Forbidden``,
    ``NoResources`` (REG2), ``RequestOpen``, ``IllegalTransition``, ``Invalid`` naming each field; where it is granted
    at once, ``ExceedsFree``.
    """
    with unit_of_work():
        someone = as_now(actor)
        found = visible_requests(someone).filter(pk=request_id).first()
        if found is None:
            raise NotFound
        models = [] if found.gpu_model_id is None else [found.gpu_model_id]
        wanted = {Project: [found.project_id], GpuModel: models, QuotaRequest: [request_id]}
        locked = lock_with_open(KIND, request_id, wanted)
        row: QuotaRequest = locked[QuotaRequest][request_id]
        policies.require(someone, "request_quota", locked[Project][row.project_id])
        submit_locked(row, someone, locked, answer)
    return row


def submit_locked(row: QuotaRequest, someone: Person, locked: Locked, answer: str = "") -> Approval:
    """The same in a unit that holds the locks, for somebody who may."""
    QuotaRequest.machine.target(row.state, "submit")
    row.project = locked[Project][row.project_id]
    require_active(row.project)
    _require_submittable(row, answer.strip())
    if row.gpu_model_id not in locked[GpuModel]:
        raise Changed
    row.gpu_model = locked[GpuModel][row.gpu_model_id]
    _refuse_second(row)
    existing: Approval | None = opened(locked)
    if existing is not None:
        approval_comment(actor=someone, approval_id=existing.pk, text=answer)
    row.submitted_by, row.submitted_at = someone, clock.now()
    row.is_raise, row.keeps_limit = _never_less(row)
    step(row, "submit", someone, answer.strip(), ("submitted_by", "submitted_at", "is_raise", "keeps_limit"))
    # One that was made in this unit is nobody else's yet: it needs no lock, and whoever grants it looks for it here.
    locked = {**locked, QuotaRequest: {row.pk: row}}
    return approval_submit(actor=someone, case=_case(row), existing=existing, locked=locked)


def _require_submittable(row: QuotaRequest, answer: str) -> None:
    now = clock.now()
    question = open_question(row)
    answered = answer_faults(question.by if question else None, answer)
    faults: Mapping[str, Any] = missing_faults(row) | shape_faults(row, set(WORDS), now) | answered
    if not faults:
        faults = purpose_faults(row, holdings_of(row, now), now)
    if faults:
        raise Invalid(faults)


def _refuse_second(row: QuotaRequest) -> None:
    """One is open at a time, by the database too: two requests could each ask for what is there once."""
    other = QuotaRequest.objects.filter(project=row.project, gpu_model=row.gpu_model, state__in=OPEN)
    found = other.exclude(pk=row.pk).first()
    if found is not None and row.gpu_model is not None:
        text = _("Request %(request)s of this project for %(model)s is open already. Withdraw it or wait.")
        words = text % {"request": found.pk, "model": row.gpu_model.title}
        raise RequestOpen(words, data={"request": found.pk})


def _never_less(row: QuotaRequest) -> tuple[bool, bool]:
    """Whether it asks for a larger guarantee, and for no lower limit, than is held."""
    asked, now = asked_of(row), clock.now()
    window = asked.window(now)
    if window is None:
        return False, False
    parts = holdings_of(row, now).replaced_through(asked, window)
    is_raise = asked.totals.guaranteed > least_guaranteed(parts)
    return is_raise, not is_lower(asked.totals.limit, kept_by(asked, parts).limit)


def _case(row: QuotaRequest) -> Case:
    now = clock.now()
    asked, holdings = asked_of(row), holdings_of(row, now)
    tier = tier_at([row.project_id], now).get(row.project_id)
    model = row.gpu_model
    if model is None:
        raise Changed
    return Case(
        kind=KIND,
        subject_id=row.pk,
        project_id=row.project_id,
        title=row.title,
        content=content_hash(row),
        measures=measures_of(asked, holdings, model, tier, now),
        summary=summary_of(asked, holdings, model, now),
    )
