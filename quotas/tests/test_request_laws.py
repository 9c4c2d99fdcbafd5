"""The law under any order of acts: whatever is asked, decided, taken back, granted, or changed about the machines, and
however time goes on, guarantees never exceed what is usable, at any instant past or to come; the past stays as it was.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Person, Role
from accounts.tests import factories as people
from approvals.services import Ballot, approval_vote
from inventory.models import CapacityFact, GpuModel, Node, ReserveFact
from kernel import clock
from kernel.errors import PortalError
from kernel.tests.examples import examples
from projects.models import Project
from projects.tests.factories import active_project
from quotas import services
from quotas.models import Claim, QuotaRequest
from quotas.selectors import quotas_at
from quotas.states import OPEN
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db

START = datetime(2027, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
GPUS = 24

amounts = st.integers(0, GPUS)
more = st.none() | st.integers(0, GPUS // 2)
froms = st.none() | st.integers(0, 12)
lengths = st.none() | st.integers(1, 12)
which = st.integers(0, 1)
asked = (which, amounts, more, froms, lengths)
acts = st.one_of(
    st.tuples(st.just("ask"), *asked),
    st.tuples(st.just("get"), *asked),
    st.tuples(st.just("get"), *asked),
    st.tuples(st.just("approve"), which, st.none() | amounts),
    st.tuples(st.sampled_from(["reject", "return", "withdraw"]), which),
    st.tuples(st.just("again"), which, amounts),
    st.tuples(st.just("grant"), which, amounts, lengths),
    st.tuples(st.just("capacity"), amounts),
    st.tuples(st.just("reserve"), st.integers(0, 10_000)),
    st.tuples(st.just("wait"), st.integers(1, 9)),
)


@dataclass
class World:
    """Two projects on one GPU model, and what was in force at instants that have passed."""

    model: GpuModel
    node: Node
    projects: list[Project]
    admin: Person
    director: Person
    now: datetime = START
    past: dict[datetime, Any] = field(default_factory=dict)

    def do(self, act: tuple[Any, ...]) -> None:
        name, *terms = act
        if name == "wait":
            self.past[self.now] = self.held(self.now)
            self.now += terms[0] * DAY
            return
        by_name: dict[str, Callable[..., object]] = {
            "ask": self.ask,
            "get": self.get,
            "approve": self.approve,
            "again": self.again,
            "grant": self.grant,
            "capacity": lambda gpus: services.capacity_change(actor=self.admin, node_id=self.node.pk, gpus=gpus),
            "reserve": lambda points: services.reserve_set(
                actor=self.admin, gpu_model_id=self.model.pk, basis_points=points
            ),
        }
        with suppress(PortalError):
            if name in by_name:
                by_name[name](*terms)
            else:
                self.answer(name, terms[0])

    def ask(self, index: int, guaranteed: int, above: int | None, start: int | None, days: int | None) -> None:
        starts_at = None if start is None else self.now + start * DAY
        ends_at = None if days is None else (starts_at or self.now) + days * DAY
        project = self.projects[index]
        limit = None if above is None else min(GPUS, guaranteed + above)
        asking.submitted(project, self.model, guaranteed, limit=limit, starts_at=starts_at, ends_at=ends_at)

    def get(self, index: int, *terms: Any) -> None:
        self.ask(index, *terms)
        self.approve(index, None)

    def approve(self, index: int, less: int | None) -> None:
        changes = {} if less is None else {"guaranteed": less}
        for person in (self.admin, self.director):
            request = self.open(index)
            if request is not None:
                self.vote(request, person, Ballot("approve", changes=changes))
                changes = {}

    def answer(self, name: str, index: int) -> None:
        request = self.open(index)
        if request is None:
            return
        if name == "withdraw":
            services.request_withdraw(actor=asking.lead_of(request.project), request_id=request.pk)
        else:
            self.vote(request, self.admin, Ballot(name, comment="Because"))

    def again(self, index: int, guaranteed: int) -> None:
        request = self.open(index)
        if request is not None:
            lead = asking.lead_of(request.project)
            facts: services.RequestFacts = {"guaranteed": guaranteed, "limit": None}
            services.request_edit(actor=lead, request_id=request.pk, facts=facts)
            services.request_submit(actor=lead, request_id=request.pk, answer="Because")

    def grant(self, index: int, guaranteed: int, days: int | None) -> None:
        ends_at = None if days is None else self.now + days * DAY
        make.grant(self.projects[index], self.model, guaranteed, effective_to=ends_at)

    def vote(self, request: QuotaRequest, person: Person, ballot: Ballot) -> None:
        approval_vote(actor=person, approval_id=asking.approval(request).pk, ballot=ballot)

    def open(self, index: int) -> QuotaRequest | None:
        rows = QuotaRequest.objects.filter(project=self.projects[index], state__in=OPEN)
        return rows.select_related("project").first()

    def held(self, at: datetime) -> Any:
        return {key: (quota.guaranteed, quota.limit) for key, quota in quotas_at(at).items()}

    def check(self) -> None:
        """The law in other words than the code's, row by row at each instant at which anything changes."""
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        claims = list(Claim.objects.filter(voided_at__isnull=True))
        facts = list(CapacityFact.objects.all())
        reserves = list(ReserveFact.objects.all())
        spans = [*(row.during for row in claims), *(row.during for row in facts), *(row.during for row in reserves)]
        edges = {span.lower for span in spans} | {span.upper for span in spans if span.upper}
        for at in edges:
            capacity = sum(row.gpus for row in facts if at in row.during)
            points = sum(row.basis_points for row in reserves if at in row.during)
            promised = sum(row.guaranteed for row in claims if at in row.during)
            assert 10_000 * promised <= 10_000 * capacity - points * capacity, f"{at}: {promised} of {capacity}"
        for claim in claims:
            request = claim.request
            if request is not None and request.granted_from is not None:
                assert claim.effective_from >= request.granted_from
                assert request.granted_ends_at is None or claim.during.upper <= request.granted_ends_at
        for at, was in self.past.items():
            assert self.held(at) == was, f"what was in force at {at} is not what it was"


def build() -> World:
    model, node = make.capacity(GPUS)
    projects = [active_project() for _ in range(2)]
    return World(model, node, projects, make.granter(), people.person("", Role.DIRECTOR))


@settings(
    max_examples=examples(20),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(acts, min_size=9, max_size=18))
def test_the_law_holds_after_every_act(done: list[tuple[Any, ...]]) -> None:
    with transaction.atomic():
        with clock.frozen(START - DAY):
            world = build()
        for act in done:
            with clock.frozen(world.now):
                world.do(act)
            world.check()
        transaction.set_rollback(True)
