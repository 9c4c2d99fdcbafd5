"""Random histories against the real database, whose guard is the oracle: it agrees with the arithmetic in every
case, and no sequence of acts, in whatever order, ever brings a state that it would refuse."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inventory.models import CapacityFact, GpuModel, Node, ReserveFact
from kernel import clock
from kernel.errors import PortalError
from kernel.intervals import Interval
from projects.models import Project
from projects.tests.factories import active_project
from quotas import services
from quotas.errors import ExceedsFree
from quotas.ledger import broken
from quotas.models import Claim
from quotas.selectors import model_facts, quotas_at
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db
T0 = datetime(2030, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

start = st.integers(0, 20)
length = st.none() | st.integers(1, 10)
spans = st.tuples(start, length).map(lambda p: (p[0], None if p[1] is None else p[0] + p[1]))


def at(hour: int | None) -> datetime | None:
    return None if hour is None else T0 + hour * HOUR


def span(pair: tuple[int, int | None]) -> DateTimeTZRange:
    return DateTimeTZRange(at(pair[0]), at(pair[1]), "[)")


@contextmanager
def undone() -> Iterator[None]:
    """Whatever happens inside is rolled back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def guard_refuses() -> str | None:
    """What the database would say at commit."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    except IntegrityError as error:
        return str(error)
    return None


facts = st.lists(st.tuples(st.integers(0, 2), spans, st.integers(0, 12)), max_size=4)
reserves = st.lists(st.tuples(spans, st.integers(0, 10_000)), max_size=2)
claims = st.lists(st.tuples(spans, st.integers(0, 8), st.sampled_from(["temporary", "emergency"])), max_size=4)


def test_the_guard_refuses_exactly_what_breaks_the_law() -> None:
    nodes = [make.capacity(8, f"n{i}")[1] for i in range(3)]
    model, project = GpuModel.objects.get(), active_project()
    CapacityFact.objects.all().delete()
    verdicts: set[bool] = set()

    @settings(max_examples=120, deadline=None, database=None)
    @given(facts, reserves, claims)
    def law(some_facts: list, some_reserves: list, some_claims: list) -> None:  # type: ignore[type-arg]
        with undone():
            for node, pair, gpus in some_facts:
                _fact(nodes[node], model, pair, gpus)
            for pair, points in some_reserves:
                if not ReserveFact.objects.filter(during__overlap=span(pair)).exists():
                    ReserveFact.objects.create(gpu_model=model, basis_points=points, during=span(pair))
            for pair, amount, kind in some_claims:
                make.raw_claim(project, model, amount, span(pair), kind=kind)
            everything = Interval(T0)
            breach = broken(model_facts([model.pk], everything)[model.pk], everything)
            said = guard_refuses()
            assert (said is None) == (breach is None), (said, breach)
            verdicts.add(said is None)

    law()
    assert verdicts == {True, False}


def _fact(node: Node, model: GpuModel, pair: tuple[int, int | None], gpus: int) -> None:
    if not CapacityFact.objects.filter(node=node, during__overlap=span(pair)).exists():
        CapacityFact.objects.create(
            node=node, gpu_model=model, pool=node.pool, gpus=gpus, during=span(pair), accepted_by=node.accepted_by
        )


act = st.one_of(
    st.tuples(st.just("grant"), st.integers(0, 2), st.integers(0, 9), start, length),
    st.tuples(st.just("end"), st.integers(0, 2), st.integers(0, 9), start, length),
    st.tuples(st.just("capacity"), st.integers(0, 1), st.integers(0, 8), start, length),
    st.tuples(st.just("reserve"), st.just(0), st.integers(0, 4000), start, length),
    st.tuples(st.just("area"), st.just(0), st.integers(0, 4), start, length),
    st.tuples(st.just("dedicate"), st.just(0), st.integers(0, 1), start, length),
)


def test_no_order_of_acts_breaks_the_law_or_changes_the_past() -> None:
    model, first = make.capacity(8, "n0")
    nodes = [first, make.capacity(8, "n1")[1]]
    holders = [active_project() for _ in range(3)]
    outcomes: set[str] = set()

    # Histories in which each outcome is sure, so that the last assertion does not hang on chance.
    @example([("grant", 0, 9, 0, None), ("grant", 1, 9, 0, None), ("capacity", 0, 0, 0, None)])
    @example([("reserve", 0, 1000, 0, None), ("area", 0, 2, 0, None), ("capacity", 1, 8, 0, None)])
    @settings(max_examples=40, deadline=None, database=None)
    @given(st.lists(act, min_size=3, max_size=8))
    def law(acts: list) -> None:  # type: ignore[type-arg]
        with undone():
            past: dict[datetime, object] = {}
            for hour, (what, which, amount, delay, lasting) in enumerate(acts):
                now = T0 + hour * HOUR
                with clock.frozen(now):
                    outcomes.add(_act(what, which, amount, (now + delay * HOUR, lasting), (model, nodes, holders)))
                    assert guard_refuses() is None
                for moment, answer in past.items():
                    assert quotas_at(moment) == answer
                for half in range(2):
                    past[now + half * HOUR / 2] = quotas_at(now + half * HOUR / 2)
            _sum_by_hand(model)

    law()
    assert {"grant", "capacity", "reserve", "area"} <= outcomes
    assert {"ExceedsFree", "PromisesExceed"} <= outcomes


Ground = tuple[GpuModel, list[Node], list[Project]]


def _act(what: str, which: int, amount: int, when: tuple[datetime, int | None], ground: Ground) -> str:
    """Do it through its service; what was refused as too much, the database would have refused as well."""
    (model, nodes, holders), admin = ground, make.granter()
    begin = when[0]
    until = None if when[1] is None else begin + when[1] * HOUR
    terms = {"gpu_model_id": model.pk, "effective_from": begin, "effective_to": until}
    spec = services.GrantSpec(holders[which].pk, amount, **terms)  # type: ignore[arg-type]
    try:
        if what == "grant":
            services.quota_grant(actor=admin, grant=spec)
        elif what == "end":
            claim = Claim.objects.filter(project=holders[which]).order_by("-pk").first()
            if claim is not None:
                services.claim_end(actor=admin, claim_id=claim.pk, at=begin)
        elif what == "capacity":
            services.capacity_change(actor=admin, node_id=nodes[which].pk, gpus=amount, effective_from=begin)
        elif what == "reserve":
            services.reserve_set(actor=admin, gpu_model_id=model.pk, basis_points=amount, effective_from=begin)
        elif what == "area":
            area = services.AreaGrantSpec(make.area().pk, amount, **terms)  # type: ignore[arg-type]
            services.area_grant(actor=admin, grant=area)
        else:
            dedicated = services.pool_dedicate if amount else services.pool_release
            dedicated(actor=admin, pool_id=nodes[0].pool_id)
    except ExceedsFree:
        assert what != "grant" or _guard_refuses_too(spec)
        return "ExceedsFree"
    except PortalError as refused:
        return type(refused).__name__
    return what


def _guard_refuses_too(spec: services.GrantSpec) -> bool:
    """Write what the grant would have written, without asking whether it fits."""
    during = DateTimeTZRange(max(spec.effective_from or clock.now(), clock.now()), spec.effective_to)
    with undone():
        rows = Claim.objects.filter(project=spec.project_id, voided_at__isnull=True, during__overlap=during)
        for row in rows:
            if row.effective_from < during.lower:
                Claim.objects.filter(pk=row.pk).update(during=DateTimeTZRange(row.effective_from, during.lower))
            else:
                Claim.objects.filter(pk=row.pk).update(voided_at=clock.now())
        make.raw_claim(
            Project.objects.get(pk=spec.project_id), GpuModel.objects.get(), spec.guaranteed, during, kind="temporary"
        )
        return guard_refuses() is not None


def _sum_by_hand(model: GpuModel) -> None:
    """The law once more, at every edge there is, by the plainest query."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH edges AS (
                SELECT lower(during) AS at FROM quotas_claim UNION SELECT lower(during) FROM inventory_capacityfact
                UNION SELECT upper(during) FROM inventory_capacityfact WHERE upper(during) IS NOT NULL
                UNION SELECT lower(during) FROM inventory_reservefact
            )
            SELECT count(*) FROM edges WHERE
                (SELECT coalesce(sum(guaranteed), 0) FROM quotas_claim
                  WHERE gpu_model_id = %(model)s AND voided_at IS NULL AND during @> at) >
                (SELECT coalesce(sum(gpus), 0) - ceil(coalesce(sum(gpus), 0) * (
                    SELECT coalesce(sum(basis_points), 0) FROM inventory_reservefact
                     WHERE gpu_model_id = %(model)s AND during @> at) / 10000.0)
                   FROM inventory_capacityfact WHERE gpu_model_id = %(model)s AND during @> at)
            """,
            {"model": model.pk},
        )
        assert cursor.fetchone() == (0,)
