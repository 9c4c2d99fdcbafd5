"""Leads hear when their project's use reaches 80 and 100 per cent of its limit: once per crossing."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Notification
from accounts.notifications.wording import strict_wording
from kernel import clock
from projects.models import Project
from quotas.crossings import REST, Use, tell_crossings
from quotas.models import LimitCrossing
from scheduling.models import Job
from scheduling.states import JobState
from scheduling.tests import factories

pytestmark = pytest.mark.django_db
SOON, HOUR = timedelta(minutes=5), timedelta(hours=1)
NEAR, FULL = "Vision uses 80 per cent of its limit on H100", "Vision uses all of its limit on H100"


@pytest.fixture
def fake() -> factories.FakeNode:
    return factories.node("alpha", gpus=16)


@pytest.fixture
def project(fake: factories.FakeNode) -> Project:
    return factories.project(gpus=10, limit=10, name="Vision")


def told(at: datetime | None = None) -> list[str]:
    """The titles of what the run of this moment tells, each to one person."""
    known = list(Notification.objects.values_list("pk", flat=True))
    with clock.frozen(at or clock.now()):
        tell_crossings()
    rows = Notification.objects.exclude(pk__in=known).filter(topic__contains="_limit").order_by("pk")
    return [strict_wording(row).title for row in rows]


def runs(project: Project, fake: factories.FakeNode, gpus: int) -> Job:
    job = factories.running_job(project, [fake], milli_gpus=gpus * 1000)
    assert job.state == JobState.RUNNING, (job.state, job.reason)
    return job


def ends(job: Job, fake: factories.FakeNode) -> None:
    [member] = factories.members_of(job)
    fake.end(member.pk)
    fake.sync()


@pytest.mark.parametrize(
    ("used", "limit", "levels"),
    [(7, 10, []), (8, 10, [80]), (9.5, 10, [80]), (10, 10, [80, 100]), (12, 10, [80, 100]), (0, 0, []), (1, 0, [])],
)
def test_a_level_is_reached_with_its_last_part(used: float, limit: int, levels: list[int]) -> None:
    assert Use(used, limit).levels == levels


def test_each_level_is_told_once_to_the_lead(project: Project, fake: factories.FakeNode) -> None:
    runs(project, fake, 7)
    assert told() == []
    runs(project, fake, 1)
    assert told() == [NEAR]
    assert told(clock.now() + SOON) == []
    runs(project, fake, 2)
    assert told() == [FULL]
    assert told(clock.now() + SOON) == []
    assert {row.person for row in Notification.objects.filter(topic__contains="_limit")} == {project.created_by}


def test_who_reaches_both_at_once_is_told_the_higher(project: Project, fake: factories.FakeNode) -> None:
    runs(project, fake, 10)
    assert told() == [FULL]
    assert sorted(LimitCrossing.objects.values_list("level", flat=True)) == [80, 100]


def test_use_that_swings_about_a_level_is_one_crossing(project: Project, fake: factories.FakeNode) -> None:
    first = runs(project, fake, 8)
    assert told() == [NEAR]
    ends(first, fake)
    assert told(clock.now() + HOUR) == []
    runs(project, fake, 8)
    assert told(clock.now() + 2 * HOUR) == []


def test_a_day_below_the_level_makes_the_next_one_news(project: Project, fake: factories.FakeNode) -> None:
    first = runs(project, fake, 8)
    start = clock.now()
    assert told(start) == [NEAR]
    ends(first, fake)
    assert told(start + HOUR) == []
    assert told(start + REST + 2 * HOUR) == []
    assert not LimitCrossing.objects.exists()
    runs(project, fake, 8)
    assert told(start + REST + 3 * HOUR) == [NEAR]


def test_days_in_which_nobody_looked_make_no_news(project: Project, fake: factories.FakeNode) -> None:
    runs(project, fake, 8)
    assert told() == [NEAR]
    assert told(clock.now() + 3 * REST) == []


def test_a_run_that_was_missed_is_made_up_for_once(project: Project, fake: factories.FakeNode) -> None:
    runs(project, fake, 8)
    later = clock.now() + 3 * REST
    assert told(later) == [NEAR]
    assert told(later) == []


def test_where_nothing_is_limited_or_the_project_stands_still_nothing_is_told(fake: factories.FakeNode) -> None:
    free, still = factories.project(gpus=4, limit=None), factories.project(gpus=4, limit=4)
    runs(free, fake, 4)
    runs(still, fake, 4)
    Project.objects.filter(pk=still.pk).update(state="suspended")
    assert told() == []


def test_it_costs_the_same_for_few_and_many(project: Project, fake: factories.FakeNode) -> None:
    runs(project, fake, 1)
    told()
    with CaptureQueriesContext(connection) as few:
        told()
    others = [factories.project(gpus=1, limit=1) for _number in range(4)]
    for other in others:
        runs(other, fake, 1)
    told()
    with CaptureQueriesContext(connection) as many:
        told()
    assert LimitCrossing.objects.count() == 2 * len(others)
    assert len(many) <= len(few) + 1
