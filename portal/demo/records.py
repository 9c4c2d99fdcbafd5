"""Half a year of jobs and daily use, written as closed records of the past and marked simulated.

Every project works on lanes of its own, one job after the other, so no device was ever held twice, and keeps them as
busy as it keeps the fleet from now on: the present begins where the records end. Weekends are quieter, and there are
slack weeks.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from random import Random
from typing import Any

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from inventory.models import Device
from kernel import clock
from kernel.calendar import day_bounds, local_day
from kernel.models import StateChange
from kernel.subject import actor_fields, subject_fields
from kernel.unit import unit_of_work
from portal.demo.copied import analyse, copy_in, copy_values
from portal.demo.courses import HALF_YEAR
from portal.demo.fleet import LAUNCHER, MODELS, fleet_nodes
from portal.demo.lanes import Lane, lanes
from portal.demo.organisation import MARK, SEED
from portal.demo.shapes import Shape, draw
from portal.demo.wishes import NODE, WEEKEND, drawn, nodes_of
from projects.models import Membership, Project
from scheduling.engine import MILLI
from scheduling.metering import by_day, milli_gpu_seconds
from scheduling.models import Attempt, AttemptMember, Charge, DeviceAllocation, Job, JobLog
from scheduling.states import AttemptState, Cause, JobState

Part = tuple[date, datetime, datetime, int]
"""A piece of a job within one day, and its milli-GPU-seconds on a device."""
SPACE = uuid.UUID("6f1d2f0e-6f0c-4a59-9d0b-3b1f60b0a3d1")
"""Of the launch keys of these records, so that they are the same every time."""
SLACK = 0.1
"""Of the weeks: how many a lane rests."""
_CAUSES = {
    JobState.SUCCEEDED: (Cause.FINISHED, 0),
    JobState.FAILED: (Cause.FINISHED, 1),
    JobState.CANCELLED: (Cause.USER, None),
    JobState.TIMED_OUT: (Cause.TIMEOUT, None),
}
_EVENTS = {
    JobState.SUCCEEDED: "succeed",
    JobState.FAILED: "fail",
    JobState.CANCELLED: "cancelled",
    JobState.TIMED_OUT: "time_out",
}


@dataclass(frozen=True, slots=True)
class Past:
    """One job of the past: who, what, where, when."""

    project: Project
    owner: int
    shape: Shape
    devices: tuple[Device, ...]
    submitted_at: datetime
    started_at: datetime
    ended_at: datetime

    @property
    def gpu_model_id(self) -> int:
        return self.devices[0].gpu_model_id

    @property
    def state(self) -> JobState:
        return JobState(self.shape.ending)


@dataclass(slots=True)
class Rows:
    """Everything to be written, in the order of its foreign keys."""

    attempts: list[Attempt] = field(default_factory=list)
    members: list[AttemptMember] = field(default_factory=list)
    allocations: list[DeviceAllocation] = field(default_factory=list)
    charges: list[tuple[DeviceAllocation, "Past", Part, Decimal]] = field(default_factory=list)
    steps: list[StateChange] = field(default_factory=list)

    def write(self) -> None:
        """Ids come as rows are written, and those below take them from the row above."""
        copy_in(self.attempts)
        for member in self.members:
            member.attempt_id = member.attempt.pk
        copy_in(self.members)
        for allocation in self.allocations:
            allocation.member_id = allocation.member.pk
        copy_in(self.allocations)
        copy_values(Charge, _CHARGED, (_charge(*charge) for charge in self.charges))
        copy_in(self.steps)


def seed_records() -> int:
    """Write the half year, once: where there is a job on the fleet's models already, nothing. How many jobs."""
    if Attempt.objects.filter(gpu_model__name__in=MODELS).exists():
        return 0
    random = Random(SEED + 2)  # noqa: S311  a demo, not a secret
    with unit_of_work():
        past = list(_past(random, clock.now()))
        jobs = [_job(record) for record in past]
        copy_in(jobs)
        copy_in([JobLog(job=job) for job in jobs])
        through = Job.gpu_models.through
        copy_in([through(job=job, gpumodel_id=r.gpu_model_id) for job, r in zip(jobs, past, strict=True)])
        rows = Rows()
        for job, record in zip(jobs, past, strict=True):
            _add(rows, job, record)
        rows.write()
        analyse(Job, JobLog, through, Attempt, AttemptMember, DeviceAllocation, Charge, StateChange)
    return len(jobs)


def _past(random: Random, now: datetime) -> Iterator[Past]:
    team, ends = _team(), _ends()
    for lane in lanes():
        yield from _jobs_of(random, lane, team[lane.project.pk], ends.get(lane.project.pk, now))


def _ends() -> dict[int, datetime]:
    """When the projects that run no more were stopped."""
    steps = StateChange.objects.filter(machine=Project.machine.name, event__in=("suspend", "close"))
    return {int(pk): at for pk, at in steps.values_list("subject_id", "at")}


def _team() -> dict[int, list[int]]:
    members: dict[int, list[int]] = defaultdict(list)
    rows = Membership.objects.filter(left_at__isnull=True).order_by("project_id", "person_id")
    for project, person in rows.values_list("project_id", "person_id"):
        members[project].append(person)
    return members


def _jobs_of(random: Random, lane: Lane, team: list[int], end: datetime) -> Iterator[Past]:
    """One after the other until ``end``, with minutes between them, but for weekends and weeks that are slack."""
    at = max(lane.project.created_at + timedelta(days=9), clock.now() - HALF_YEAR)
    at += timedelta(hours=random.uniform(0, 60))
    number = lane.place * 1000
    while at < end - timedelta(hours=2):
        rest = _rest(lane, at, end)
        if rest is not None:
            at = rest + timedelta(minutes=random.randint(0, 600))
            continue
        number += 1
        started_at = at + timedelta(seconds=random.randint(4, 900))
        ended_at = min(
            started_at + timedelta(hours=_length_h(random, len(lane.devices))),
            end - timedelta(minutes=random.randint(2, 50)),
        )
        at = ended_at + timedelta(minutes=random.randint(1, 100))
        shape = draw(random, number, len(lane.devices))
        yield Past(
            lane.project,
            random.choice(team),
            shape,
            lane.devices,
            started_at - timedelta(seconds=random.randint(4, 2400)),
            started_at,
            ended_at,
        )


def _length_h(random: Random, gpus: int) -> float:
    """Most under two days, some a week; the large ones longer."""
    return random.choice((9, 20, 30, 44, 70, 110)) * random.uniform(0.7, 1.3) * (1.4 if gpus >= NODE else 1.1)


def _rest(lane: Lane, at: datetime, end: datetime) -> datetime | None:
    """When the lane goes on, if it rests at this instant."""
    day = local_day(at)
    week = day.isocalendar()
    key = f"{week.year}-{week.week}/{lane.place}"
    monday = (day_bounds(day + timedelta(days=8 - week.weekday)).start) + timedelta(hours=8)
    if week.weekday > 5 and drawn(lane.project.name, f"weekend/{key}") > WEEKEND:
        return monday
    # The newest week is nobody's slack one: the present goes on from there.
    is_slack = end - at > timedelta(days=8) and drawn(lane.project.name, f"week/{key}") < SLACK
    return monday if is_slack else None


def _job(record: Past) -> Job:
    length_s = int((record.ended_at - record.started_at).total_seconds())
    return Job(
        project_id=record.project.pk,
        owner_id=record.owner,
        name=record.shape.name,
        command=list(record.shape.command),
        milli_gpus=record.shape.gpus * MILLI,
        nodes_exact=nodes_of(record.shape.gpus) if record.shape.gpus > NODE else None,
        max_runtime_s=length_s if record.state == JobState.TIMED_OUT else 2 * length_s,
        state=record.state,
        reason=MARK,
        submitted_at=record.submitted_at,
        queued_at=record.submitted_at,
        ended_at=record.ended_at,
    )


def _add(rows: Rows, job: Job, record: Past) -> None:
    cause, exit_code = _CAUSES[record.state]
    attempt = Attempt(
        job=job,
        number=1,
        launcher=LAUNCHER,
        gpu_model_id=record.gpu_model_id,
        state=AttemptState.ENDED,
        cause=cause,
        exit_code=exit_code,
        message=MARK,
        stop_reason=cause if cause != Cause.FINISHED else "",
        assigned_at=record.started_at,
        started_at=record.started_at,
        ended_at=record.ended_at,
    )
    rows.attempts.append(attempt)
    rows.steps += _steps(job, record)
    parts = _parts(record.started_at, record.ended_at)
    by_node = groupby(record.devices, key=lambda device: device.node_id)
    for rank, (node_id, devices) in enumerate(by_node):
        member = AttemptMember(
            attempt=attempt,
            node_id=node_id,
            rank=rank,
            launch_key=uuid.uuid5(SPACE, f"{record.project.name}/{record.shape.name}/{rank}"),
            state=AttemptState.ENDED,
            started_at=record.started_at,
            ended_at=record.ended_at,
            last_report_at=record.ended_at,
            fetched_at=record.started_at,
            is_forgotten=True,
        )
        rows.members.append(member)
        for device in devices:
            _hold(rows, member, device, record, parts)


def _hold(rows: Rows, member: AttemptMember, device: Device, record: Past, parts: list[Part]) -> None:
    allocation = DeviceAllocation(
        member=member, device=device, milli=MILLI, allocated_at=record.started_at, released_at=record.ended_at
    )
    rows.allocations.append(allocation)
    price = _PRICES[device.node.name]
    rows.charges += [(allocation, record, part, price) for part in parts]


def _parts(start: datetime, end: datetime) -> list[Part]:
    """A job's time by day, with its milli-GPU-seconds: the same for each of its devices."""
    return [(day, at, until, milli_gpu_seconds(MILLI, start, at, until)) for day, at, until in by_day(start, end)]


_CHARGED = (
    "allocation_id",
    "project_id",
    "gpu_model_id",
    "day",
    "during",
    "milli_gpu_seconds",
    "per_gpu_hour",
    "currency",
    "is_simulated",
)


def _charge(allocation: DeviceAllocation, record: Past, part: Part, price: Decimal) -> list[Any]:
    day, start, end, spent = part
    during = DateTimeTZRange(start, end)
    return [allocation.pk, record.project.pk, record.gpu_model_id, day, during, spent, price, "USD", True]


_PRICES = {node.name: node.per_gpu_hour for node in fleet_nodes()}


def _steps(job: Job, record: Past) -> Iterator[StateChange]:
    """Queued, starting, running, and how it ended, with the instants of then."""
    way = [("assign", record.started_at), ("run", record.started_at)]
    if record.state == JobState.CANCELLED:
        way.append(("stop", record.ended_at))
    way.append((_EVENTS[record.state], record.ended_at))
    state: str = JobState.QUEUED
    for event, at in way:
        target = Job.machine.target(state, event)
        yield StateChange(
            machine=Job.machine.name,
            event=event,
            from_state=state,
            to_state=target,
            at=at,
            reason=MARK,
            **subject_fields(job),
            **actor_fields(None),
        )
        state = target
