"""What waiting jobs are told, and what of it is kept: only what is new."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from kernel import clock
from scheduling.engine.model import Decision as Decided
from scheduling.engine.model import Wait
from scheduling.models import Job
from scheduling.services import telling
from scheduling.services.apply import Applied
from scheduling.services.telling import reasons_tell
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def told(*waits: Wait, at: datetime | None = None) -> list[int]:
    """The jobs whose reason is news."""
    decision = Decided((), (), (), waits, {}, {})
    return [news.wait.job for news in reasons_tell(decision, Applied(), at or clock.now(), 300)]


def wait(job: Job, free: int = 1, *, kind: str = "no_room", until: float | None = None) -> Wait:
    return Wait(job.pk, kind, f"{free} free", {"gpus": 1, "gates": [{"kind": kind, "free": free}]}, until)


@pytest.fixture
def job() -> Job:
    make.node(gpus=1)
    return make.job(make.project(gpus=1, limit=1))


def test_a_reason_of_another_kind_is_news_and_other_amounts_are_only_told(job: Job) -> None:
    assert told(wait(job)) == [job.pk]
    assert told(wait(job)) == []
    assert told(wait(job, 2)) == []
    job.refresh_from_db()
    assert (job.reason, job.reason_data["needs"]["gates"][0]["free"]) == ("2 free", 2)
    assert told(wait(job, kind="limit")) == [job.pk]


def test_an_expected_start_that_hardly_moves_is_the_same(job: Job) -> None:
    at = clock.now().timestamp() + 3600
    told(wait(job, until=at))
    job.refresh_from_db()
    first = job.reason_data["until"]
    for moved, changes in ((30, False), (90, True)):
        told(wait(job, until=at + moved))
        job.refresh_from_db()
        assert (job.reason_data["until"] != first) is changes
    told(replace(wait(job), until=None))
    job.refresh_from_db()
    assert job.reason_data["until"] is None


def test_of_very_many_those_with_other_amounts_wait_a_minute(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "MANY", 0)
    began = clock.now()
    told(wait(job), at=began)
    for later, free in ((30, 1), (60, 2)):
        told(wait(job, 2), at=began + timedelta(seconds=later))
        job.refresh_from_db()
        assert job.reason == f"{free} free"


def test_a_job_that_left_the_queue_is_told_nothing(job: Job) -> None:
    make.decide()
    assert told(wait(job)) == []
    job.refresh_from_db()
    assert job.reason == ""
