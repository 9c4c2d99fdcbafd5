"""By what a request is judged: how much more, for how long, and which rule of the policy that the portal comes with."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from pytest_django import Settings

from inventory.models import GpuModel
from kernel import clock
from projects.models import Project
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("guaranteed", "days", "rule"),
    [
        (8, None, "Gives back, or guarantees no more"),
        (4, None, "Gives back, or guarantees no more"),
        (9, 14, "Small and short"),
        (9, 14.01, "Up to 32"),
        (10, 14, "Up to 32"),
        (40, None, "Up to 32"),
        (41, None, "Everything else"),
    ],
)
def test_the_policy_that_the_portal_comes_with(
    project: Project, model: GpuModel, guaranteed: int, days: float | None, rule: str
) -> None:
    make.grant(project, model, 8, limit=8)
    ends_at = None if days is None else asking.in_days(days)
    request = asking.submitted(project, model, guaranteed, limit=60, ends_at=ends_at)
    assert asking.approval(request).rule == rule


def test_one_small_raise_on_top_of_another_is_not_small(project: Project, model: GpuModel) -> None:
    first = asking.submitted(project, model, 1, ends_at=asking.in_days(10))
    second = asking.submitted(project, model, 2, ends_at=asking.in_days(10))
    assert asking.approval(first).is_automatic
    assert asking.approval(second).measures["gpus"] == 2
    assert not asking.approval(second).is_automatic


@pytest.mark.parametrize(
    ("first", "second", "days", "is_automatic"),
    [
        ((0, 7), (7, 14), 14, True),
        ((0, 7), (7, 15), 15, False),
        ((0, 10), (20, 30), 20, False),
        ((0, 10), (39, 49), 20, False),
        ((0, 10), (41, 51), 10, True),
        ((41, 51), (0, 10), 10, True),
        ((20, 30), (0, 10), 20, False),
    ],
)
def test_one_short_raise_after_another_is_not_short(
    project: Project,
    model: GpuModel,
    first: tuple[int, int],
    second: tuple[int, int],
    days: int,
    *,
    is_automatic: bool,
) -> None:
    now = clock.now()
    with clock.frozen(now):
        for start, end in (first, second):
            window = {"starts_at": asking.in_days(start) if start else None, "ends_at": asking.in_days(end)}
            request = asking.submitted(project, model, 1, **window)
    approval = asking.approval(request)
    assert (approval.measures["days"], approval.is_automatic) == (days, is_automatic)


@pytest.mark.parametrize("first", ["2027-10-25", "2027-03-22", "2027-09-01"])
def test_a_day_on_which_clocks_change_is_a_day(
    project: Project, model: GpuModel, settings: Settings, first: str
) -> None:
    settings.ORGANISATION_TIME_ZONE = "Europe/Berlin"
    start = datetime.fromisoformat(first).replace(tzinfo=ZoneInfo("Europe/Berlin"))
    request = asking.submitted(project, model, 1, starts_at=start, ends_at=start + timedelta(days=14))
    approval = asking.approval(request)
    assert (approval.measures["days"], approval.rule) == (14, "Small and short")


def test_a_raise_of_last_week_is_remembered(project: Project, model: GpuModel) -> None:
    assert asking.approval(asking.submitted(project, model, 1, ends_at=asking.in_days(14))).is_automatic
    with clock.frozen(clock.now() + timedelta(days=20)):
        again = asking.approval(asking.submitted(project, model, 1, ends_at=asking.in_days(10)))
    assert (again.measures["days"], again.is_automatic) == (24, False)
