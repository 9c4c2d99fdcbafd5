"""What the database refuses, whoever writes: broken promises at commit, and any change of what was."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from inventory.models import CapacityFact, GpuModel, Node, ReserveFact
from kernel import clock
from projects.models import Project
from projects.tests.factories import active_project
from quotas.models import Claim
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db
T0 = datetime(2030, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def span(first: float, last: float | None = None) -> DateTimeTZRange:
    return DateTimeTZRange(T0 + first * DAY, None if last is None else T0 + last * DAY, "[)")


@pytest.fixture
def ground() -> tuple[GpuModel, Node, Project]:
    model, node = make.capacity(8)
    return model, node, active_project()


@pytest.fixture
def old_ground() -> tuple[GpuModel, Node, Project]:
    """The same, three days old by the database's clock."""
    with clock.frozen(datetime.now(UTC) - 3 * DAY):
        model, node = make.capacity(8)
    return model, node, active_project()


def commit() -> None:
    """What a commit would check, inside a test's transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def refused(message: str) -> Any:
    return pytest.raises(IntegrityError, match=message)


def test_a_claim_that_breaks_the_law_at_one_later_instant_is_refused(ground: tuple[GpuModel, Node, Project]) -> None:
    model, _node, project = ground
    make.raw_claim(project, model, 5, span(0))
    make.raw_claim(active_project(), model, 3, span(0, 10))
    commit()
    with refused("h100 at .*: 9 promised of 8 usable"), transaction.atomic():
        make.raw_claim(active_project(), model, 1, span(9, 20))
        commit()
    make.raw_claim(active_project(), model, 1, span(10, 20))
    commit()


def test_the_reserve_is_rounded_up_and_kept_out_of_promises(ground: tuple[GpuModel, Node, Project]) -> None:
    model, _node, project = ground
    ReserveFact.objects.create(gpu_model=model, basis_points=500, during=span(0))
    with refused("8 promised of 7 usable"), transaction.atomic():
        make.raw_claim(project, model, 8, span(0))
        commit()
    make.raw_claim(project, model, 7, span(0))
    commit()


def test_emergency_claims_count_against_the_reserve_alone(ground: tuple[GpuModel, Node, Project]) -> None:
    model, _node, project = ground
    ReserveFact.objects.create(gpu_model=model, basis_points=2500, during=span(0))
    make.raw_claim(project, model, 6, span(0))
    make.raw_claim(project, model, 2, span(0), kind="emergency")
    commit()
    with refused("1 emergency|3 emergency of 2 reserve"), transaction.atomic():
        make.raw_claim(active_project(), model, 1, span(1, 2), kind="emergency")
        commit()


def test_a_voided_claim_counts_for_nothing(ground: tuple[GpuModel, Node, Project]) -> None:
    model, _node, project = ground
    make.raw_claim(project, model, 8, span(5), voided_at=T0)
    make.raw_claim(active_project(), model, 8, span(0))
    commit()


Act = Callable[[GpuModel, Node], object]
LESS: dict[str, Act] = {
    "fact ends": lambda model, _node: CapacityFact.objects.filter(gpu_model=model).update(
        during=DateTimeTZRange(CapacityFact.objects.get().during.lower, T0 + DAY)
    ),
    "fewer GPUs": lambda model, _node: CapacityFact.objects.filter(gpu_model=model).update(gpus=7),
    "fact deleted": lambda model, _node: CapacityFact.objects.filter(gpu_model=model).delete(),
    "a reserve is set": lambda model, _node: ReserveFact.objects.create(
        gpu_model=model, basis_points=1, during=span(3)
    ),
    "a later claim reaches back": lambda model, _node: make.raw_claim(active_project(), model, 1, span(-1)),
}


@pytest.mark.parametrize("act", LESS.values(), ids=LESS.keys())
def test_taking_capacity_from_under_a_promise_is_refused(ground: tuple[GpuModel, Node, Project], act: Act) -> None:
    model, node, project = ground
    make.raw_claim(project, model, 8, span(2, 4))
    commit()
    with refused("promised of"), transaction.atomic():
        act(model, node)
        commit()


def test_capacity_that_only_grows_is_taken_without_a_check(ground: tuple[GpuModel, Node, Project]) -> None:
    model, node, project = ground
    ReserveFact.objects.create(gpu_model=model, basis_points=10_000, during=span(0, 1))
    make.raw_claim(project, model, 8, span(1))
    commit()
    make.capacity(4, "n2")
    commit()
    assert node.capacity_facts.count() == 1


def test_a_claim_that_lasts_longer_is_checked_again(ground: tuple[GpuModel, Node, Project]) -> None:
    model, _node, project = ground
    short = make.raw_claim(project, model, 5, span(0, 2))
    make.raw_claim(active_project(), model, 5, span(2))
    commit()
    with refused("10 promised of 8 usable"), transaction.atomic():
        Claim.objects.filter(pk=short.pk).update(during=span(0, 3))
        commit()


@pytest.mark.django_db(transaction=True)
def test_the_guard_acts_at_a_real_commit() -> None:
    model, _node = make.capacity(2)
    project = active_project()
    with refused("9 promised of 2 usable"), transaction.atomic():
        make.raw_claim(project, model, 9, span(0))
    assert not Claim.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_guard_refuses_a_snapshot_that_could_be_older_than_its_lock() -> None:
    model, _node = make.capacity(2)
    project = active_project()
    with pytest.raises(Exception, match="READ COMMITTED"), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        make.raw_claim(project, model, 1, span(0))


def begun(model: GpuModel, project: Project) -> Claim:
    """A claim in force since two days ago, by the database's clock."""
    start = datetime.now(UTC) - 2 * DAY
    return make.raw_claim(project, model, 1, DateTimeTZRange(start, None, "[)"))


REWRITES = {
    "guaranteed": "guaranteed = 0",
    "limit": '"limit" = 99',
    "kind": "kind = 'temporary'",
    "resource": "reason = 'another'",
    "granted_by": "granted_by_id = NULL, source = 'x'",
    "start": "during = tstzrange(lower(during) + interval '1 hour', upper(during))",
    "past end": "during = tstzrange(lower(during), now() - interval '1 hour')",
    "bounds": "during = tstzrange(lower(during), now() + interval '1 hour', '[]')",
    "empty": "during = 'empty'",
    "void": "voided_at = now()",
    "teller": "end_reason = 'somebody else'",
}


@pytest.mark.parametrize("change", REWRITES.values(), ids=REWRITES.keys())
def test_a_claim_that_has_begun_is_not_rewritten(old_ground: tuple[GpuModel, Node, Project], change: str) -> None:
    model, _node, project = old_ground
    claim = begun(model, project)
    with refused("refused|history|only its end"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE quotas_claim SET {change} WHERE id = %s", [claim.pk])


def test_only_the_part_ahead_moves(old_ground: tuple[GpuModel, Node, Project]) -> None:
    model, _node, project = old_ground
    claim = begun(model, project)
    soon, later = datetime.now(UTC) + DAY, datetime.now(UTC) + 2 * DAY
    for end in (later, soon, later):
        Claim.objects.filter(pk=claim.pk).update(during=DateTimeTZRange(claim.during.lower, end))
    over = make.raw_claim(active_project(), model, 1, DateTimeTZRange(claim.during.lower, datetime.now(UTC) - DAY))
    with refused("the past of"), transaction.atomic():
        Claim.objects.filter(pk=over.pk).update(during=DateTimeTZRange(claim.during.lower, later))


def test_a_claim_is_never_deleted_and_a_void_one_never_revived(ground: tuple[GpuModel, Node, Project]) -> None:
    model, _node, project = ground
    claim = make.raw_claim(project, model, 1, span(0))
    with refused("DELETE refused"), transaction.atomic():
        claim.delete()
    Claim.objects.filter(pk=claim.pk).update(voided_at=T0)
    for change in ({"voided_at": None}, {"voided_at": T0 + DAY}, {"during": span(0, 1)}):
        with refused("is void|taken effect"), transaction.atomic():
            Claim.objects.filter(pk=claim.pk).update(**change)


def test_facts_that_have_begun_keep_their_amount_and_those_ahead_may_be_taken_back(
    ground: tuple[GpuModel, Node, Project],
) -> None:
    model, node, _project = ground
    start = datetime.now(UTC) - 2 * DAY
    past = ReserveFact.objects.create(gpu_model=model, basis_points=10, during=DateTimeTZRange(start, T0))
    for act in (
        lambda: ReserveFact.objects.filter(pk=past.pk).update(basis_points=20),
        lambda: ReserveFact.objects.filter(pk=past.pk).delete(),
        lambda: ReserveFact.objects.filter(pk=past.pk).update(during=DateTimeTZRange(start, start + DAY)),
    ):
        with refused("history"), transaction.atomic():
            act()
    ahead = ReserveFact.objects.create(gpu_model=model, basis_points=10, during=span(1))
    ReserveFact.objects.filter(pk=ahead.pk).update(basis_points=20)
    ReserveFact.objects.filter(pk=ahead.pk).delete()
    assert node.capacity_facts.exists()


@pytest.mark.parametrize("holder", ["project", "area", "pool"])
def test_a_holder_has_one_base_claim_at_a_time(ground: tuple[GpuModel, Node, Project], holder: str) -> None:
    model, node, project = ground
    rows = {"project": project, "area": make.area(), "pool": node.pool}
    fields: dict[str, Any] = {name: rows[name] if name == holder else None for name in rows}
    whose = fields.pop("project")
    make.raw_claim(whose, model, 1, span(0, 5), **fields)
    make.raw_claim(whose, model, 1, span(5), **fields)
    make.raw_claim(whose, model, 1, span(0), kind="temporary", **fields)
    with refused("claim_one_base_of_"), transaction.atomic():
        make.raw_claim(whose, model, 1, span(4, 6), **fields)
