"""A new base under raises that run: what it leaves of them, what lists say of it, and what it never takes."""

import pytest
from django.db import connection

from approvals.kinds import QueueRow
from inventory.models import GpuModel
from kernel import clock
from kernel.intervals import Interval
from projects.models import Project
from projects.tests.factories import active_project
from quotas.errors import HasMore
from quotas.models import QuotaRequest
from quotas.raises import Part, Totals, left_of, total_after
from quotas.requests import queue
from quotas.selectors import Quota, free_between, quotas_at
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> GpuModel:
    found, _node = make.capacity(16)
    return found


def held(project: Project, model: GpuModel, days: float = 0) -> Quota:
    return quotas_at(asking.in_days(days), [project.pk])[project.pk, "gpu", model.pk]


def raised(project: Project, model: GpuModel, to: int) -> QuotaRequest:
    return asking.approve(asking.submitted(project, model, to, ends_at=asking.in_days(20)))


def shown(request: QuotaRequest) -> QueueRow:
    approval = asking.approval(request)
    return queue.rows([approval], clock.now())[approval.pk]


def judged_by_the_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def test_a_base_that_is_raised_again_adds_nothing_to_what_is_held(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 4)
    raised(project, model, 16)
    make.grant(project, model, 2)
    assert held(project, model).guaranteed == 14
    make.grant(active_project(), model, 2)
    make.grant(project, model, 4)
    assert (held(project, model).guaranteed, held(project, model, 21).guaranteed) == (14, 4)
    assert free_between(model, Interval(clock.now())) == 0
    judged_by_the_database()


def test_a_base_for_a_part_of_a_raise_changes_that_part_alone(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 4)
    raised(project, model, 12)
    make.grant(project, model, 8, effective_from=asking.in_days(5), effective_to=asking.in_days(10))
    make.grant(project, model, 4, effective_from=asking.in_days(6))
    assert [held(project, model, days).guaranteed for days in (1, 5.5, 7, 11, 21)] == [12, 12, 8, 12, 4]
    judged_by_the_database()


@pytest.mark.parametrize(
    ("base", "raises", "has", "left"),
    [
        (8, [(8, 12), (4, 16)], 16, [4, 4]),
        (4, [(12, 16)], 14, [10]),
        (16, [(12, 16)], 16, [0]),
        (20, [(12, 16)], 16, [0]),
        (2, [(12, 16)], 16, [12]),
        (6, [(4, 8), (4, 12)], 12, [2, 4]),
        (0, [(4, 8)], 4, [4]),
    ],
)
def test_what_a_new_base_leaves_of_raises(base: int, raises: list[tuple[int, int]], has: int, left: list[int]) -> None:
    during = Interval(clock.now())
    rows = [(Part(during, gpus, None), Totals(to, None)) for gpus, to in raises]
    assert [part.guaranteed for part in left_of(rows, Totals(base, None), has)] == left
    assert base + sum(left) == total_after(base, sum(gpus for gpus, _to in raises), has) <= max(base, has)


def test_making_a_raise_permanent_takes_what_is_free_when_it_ends(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 4, limit=4)
    raised(project, model, 16)
    request = asking.submitted(project, model, 16)
    waiting = shown(request)
    assert (waiting.before, waiting.after, waiting.asked_more, waiting.free) == ("4, limit 4", "16, no limit", 12, 12)
    assert waiting.what == "Raise"
    decided = shown(asking.approve(request))
    assert (decided.before, decided.after, decided.what) == ("4, limit 4", "16, no limit", "Raise")
    assert held(project, model, 21).guaranteed == 16


def test_a_larger_base_under_a_larger_raise_is_shown_as_one(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 4)
    raised(project, model, 12)
    request = asking.submitted(project, model, 8)
    assert (shown(request).what, shown(request).asked_more) == ("Raise", 4)
    decided = shown(asking.approve(request))
    assert (decided.what, decided.before, decided.after) == ("Raise", "4, no limit", "8, no limit")
    assert (held(project, model).guaranteed, held(project, model, 21).guaranteed) == (12, 8)


def test_a_limit_that_was_given_meanwhile_is_not_taken(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 4, limit=6)
    request = asking.submitted(project, model, 8, limit=8)
    make.grant(project, model, 4)
    with pytest.raises(HasMore, match="There is no limit by now"):
        asking.approve(request)
    assert held(project, model) == Quota(4, None)


def test_a_lower_limit_that_was_asked_for_is_granted(project: Project, model: GpuModel) -> None:
    make.grant(project, model, 4)
    asking.approve(asking.submitted(project, model, 8, limit=8))
    assert held(project, model) == Quota(8, 8)
