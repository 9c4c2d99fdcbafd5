"""Raises end by their dates, and the leads are told in time: whatever night was missed, on every day of the year."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import Notification, Person
from accounts.notifications.wording import strict_wording
from accounts.tests import factories as people
from inventory.models import GpuModel
from kernel import clock
from kernel.intervals import Interval
from kernel.ranges import to_range
from projects.models import Membership, Project, ProjectRole
from projects.tests.factories import active_project
from quotas import protected, services
from quotas.ends import stage_of, tell_ends
from quotas.models import Claim, ClaimKind, QuotaRequest
from quotas.selectors import Quota, quotas_at
from quotas.tests import asking
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db

BERLIN = ZoneInfo("Europe/Berlin")
SUMMER, WINTER, PLAIN = date(2027, 3, 28), date(2027, 10, 31), date(2027, 6, 15)
"""Days of Berlin of 23, 25 and 24 hours."""


def berlin(day: date, days: int = 0, hour: int = 0, minute: int = 0) -> datetime:
    """An hour of Berlin's clock, so many days after a day."""
    return datetime.combine(day + timedelta(days=days), time(hour, minute), BERLIN)


@pytest.fixture(autouse=True)
def in_berlin(settings: Settings) -> None:
    settings.ORGANISATION_TIME_ZONE = "Europe/Berlin"


@pytest.fixture
def model() -> GpuModel:
    found, _node = make.capacity(64)
    return found


def raised(model: GpuModel, ends_at: datetime, *, granted: datetime, project: Project | None = None) -> QuotaRequest:
    """A project that holds 8 and, until ``ends_at``, 20."""
    found = project or active_project()
    with clock.frozen(granted):
        make.grant(found, model, 8, limit=16)
        return asking.approve(asking.submitted(found, model, 20, limit=24, ends_at=ends_at))


def told_at(at: datetime) -> list[str]:
    """The topics that are told by the run of this moment."""
    known = set(Notification.objects.values_list("pk", flat=True))
    with clock.frozen(at):
        tell_ends()
    rows = Notification.objects.exclude(pk__in=known).filter(topic__startswith="quotas.").order_by("pk")
    return [strict_wording(row).title and row.topic.removeprefix("quotas.") for row in rows]


@pytest.mark.parametrize("day", [SUMMER, WINTER, PLAIN])
@pytest.mark.parametrize("hour", [0, 12])
def test_access_ends_at_its_instant_and_the_notices_come_on_their_days(model: GpuModel, day: date, hour: int) -> None:
    ends_at = berlin(day, hour=hour)
    request = raised(model, ends_at, granted=berlin(day, -30))
    project, key = request.project, (request.project_id, "gpu", model.pk)
    told = {days: told_at(berlin(day, days, 6)) for days in range(-10, 4)}
    over = 0 if hour == 0 else 1
    expected = {-7: ["ends_soon"], -1: ["ends_soon"], over: ["ended"]}
    assert told == {days: expected.get(days, []) for days in range(-10, 4)}
    for at, quota in ((ends_at - timedelta(microseconds=1), Quota(20, 24)), (ends_at, Quota(8, 16))):
        assert quotas_at(at, [project.pk])[key] == quota
    for days, quota in ((-1, Quota(20, 24)), (1, Quota(8, 16))):
        assert quotas_at(berlin(day, days), [project.pk])[key] == quota


@pytest.mark.parametrize("day", [SUMMER, WINTER, PLAIN])
def test_nobody_is_told_before_six_in_the_morning(model: GpuModel, day: date) -> None:
    raised(model, berlin(day, 1, 12), granted=berlin(day, -30))
    told_at(berlin(day, -6, 6))
    assert told_at(berlin(day, 0, 5, 59)) == []
    assert told_at(berlin(day, 0, 6)) == ["ends_soon"]
    assert told_at(berlin(day, 0, 6, 15)) == []


def test_of_missed_nights_only_the_nearest_notice_that_is_true_is_told(model: GpuModel) -> None:
    raised(model, berlin(PLAIN, hour=12), granted=berlin(PLAIN, -30))
    assert told_at(berlin(PLAIN, -5, 6)) == ["ends_soon"]
    assert told_at(berlin(PLAIN, 3, 9)) == ["ended"]
    assert told_at(berlin(PLAIN, 4, 6)) == []


def test_what_will_change_is_said_with_the_jobs_that_stay_protected(
    model: GpuModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = raised(model, berlin(PLAIN, hour=12), granted=berlin(PLAIN, -30))
    key = (request.project_id, model.pk)
    monkeypatch.setattr(protected, "_readers", [lambda _projects: {key: [4000, 6000, 2000, 3000]}])
    told_at(berlin(PLAIN, -1, 6))
    text = strict_wording(Notification.objects.get(topic="quotas.ends_soon")).text
    assert "Guaranteed 20 → 8, limit 24 → 16" in text
    assert "stay protected: 2; that count as preemptible from then on: 2." in text


def test_of_two_that_are_due_the_one_that_fails_does_not_keep_the_other(model: GpuModel) -> None:
    ends_at = berlin(PLAIN, hour=12)
    bad, good = (raised(model, ends_at, granted=berlin(PLAIN, -30)) for _ in range(2))
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF NEW.once LIKE 'request:{bad.pk}:%' THEN RAISE EXCEPTION 'disk full'; END IF; RETURN NEW; END $$;"
            "CREATE TRIGGER refuse BEFORE INSERT ON accounts_notification FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    assert told_at(berlin(PLAIN, -1, 6)) == ["ends_soon"]
    assert Notification.objects.get(topic="quotas.ends_soon").subject_id == str(good.pk)
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER refuse ON accounts_notification")
    assert told_at(berlin(PLAIN, -1, 7)) == ["ends_soon"]


@pytest.mark.parametrize("act", ["asked again", "asked back", "extended", "ended early"])
def test_only_what_is_granted_says_when_it_ends(model: GpuModel, act: str) -> None:
    """A request for more neither prolongs nor shortens what is there before it is granted."""
    ends_at = berlin(PLAIN, hour=12)
    request = raised(model, ends_at, granted=berlin(PLAIN, -30))
    later = berlin(PLAIN, 30)
    with clock.frozen(berlin(PLAIN, -20)):
        if act == "ended early":
            claim = Claim.objects.get(kind=ClaimKind.TEMPORARY)
            services.claim_end(actor=make.granter(), claim_id=claim.pk)
        else:
            again = asking.submitted(request.project, model, 20, limit=24, ends_at=later)
            if act == "asked back":
                asking.vote(again, "return")
            if act == "extended":
                asking.approve(again)
    holds = {"asked again": 8, "asked back": 8, "extended": 20, "ended early": 8}[act]
    key = (request.project_id, "gpu", model.pk)
    assert quotas_at(ends_at, [request.project_id])[key].guaranteed == holds
    assert told_at(berlin(PLAIN, -1, 6)) == ([] if act in ("extended", "ended early") else ["ends_soon"])


def test_a_raise_that_somebody_shortened_is_told_by_its_new_end(model: GpuModel) -> None:
    request = raised(model, berlin(PLAIN, hour=12), granted=berlin(PLAIN, -60))
    with clock.frozen(berlin(PLAIN, -40)):
        claim = Claim.objects.get(kind=ClaimKind.TEMPORARY)
        services.claim_end(actor=make.granter(), claim_id=claim.pk, at=berlin(PLAIN, -37))
    told = {days: told_at(berlin(PLAIN, days, 6)) for days in range(-40, 2)}
    assert {days: topics for days, topics in told.items() if topics} == {
        -40: ["ends_soon"],
        -38: ["ends_soon"],
        -37: ["ended"],
    }
    assert quotas_at(berlin(PLAIN, -37), [request.project_id])[request.project_id, "gpu", model.pk].guaranteed == 8


@pytest.mark.parametrize(
    ("length", "left", "stage"),
    [(30, 8, None), (30, 7, "7"), (30, 2, "7"), (30, 1, "1"), (5, 4, None), (5, 1, "1"), (0, 0, None)],
)
def test_a_raise_that_is_short_is_not_told_when_it_was_only_just_granted(
    length: int, left: int, stage: str | None
) -> None:
    ends_at = berlin(PLAIN, hour=20)
    assert stage_of(berlin(PLAIN, -length, 7), ends_at, berlin(PLAIN, -left, 8)) == stage


def _crowd(model: GpuModel, count: int, leads: int) -> None:
    """So many raises that end tomorrow, and a people that leads them."""
    crowd = [Person(username=f"lead-{index}", display_name=f"Lead {index}") for index in range(leads)]
    everybody = Person.objects.bulk_create(crowd)
    now, someone = clock.now(), people.person()
    projects = Project.objects.bulk_create(
        Project(name=f"Crowd {i}", state="active", created_by=someone, created_at=now, updated_at=now)
        for i in range(count)
    )
    Membership.objects.bulk_create(
        Membership(project=row, person=everybody[i % leads], role=ProjectRole.LEAD, joined_at=now)
        for i, row in enumerate(projects)
    )
    start, end = now - timedelta(days=30), now + timedelta(days=1)
    stated = {"gpu_model": model, "guaranteed": 1, "created_by": someone, "created_at": now, "updated_at": now}
    granted = {"granted_guaranteed": 1, "granted_from": start, "granted_ends_at": end, "state": "approved"}
    requests = QuotaRequest.objects.bulk_create(QuotaRequest(project=row, **stated, **granted) for row in projects)
    during = to_range(Interval(start, end))
    claim = {"resource": "gpu", "gpu_model": model, "kind": "temporary", "guaranteed": 0, "limit": 1, "during": during}
    Claim.objects.bulk_create(Claim(project=row.project, request=row, granted_at=now, **claim) for row in requests)


def test_a_thousand_quotas_and_four_hundred_people_take_few_statements(model: GpuModel) -> None:
    with clock.frozen(berlin(PLAIN, 0, 7)):
        _crowd(model, 1000, 400)
        with CaptureQueriesContext(connection) as captured:
            assert tell_ends() == 1000
    assert len(captured) <= 50
