"""Half a year of jobs and daily use, written as closed records of the past and marked simulated.

Every project works on devices of its own, one job after the other, so no device was ever held twice. Jobs end
before the demo organisation begins; what runs from then on is run by the fleet simulator.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from inventory.models import Device, PoolKind
from inventory.models import Source as NodeSource
from kernel import clock
from kernel.models import StateChange
from kernel.subject import actor_fields, subject_fields
from kernel.unit import unit_of_work
from portal.demo.fleet import LAUNCHER, MODELS, fleet_nodes
from portal.demo.organisation import HALF_YEAR, MARK, SEED
from portal.demo.shapes import Shape, draw
from projects.models import Membership, Project
from quotas.models import Claim
from scheduling.engine import MILLI
from scheduling.metering import by_day, milli_gpu_seconds
from scheduling.models import Attempt, AttemptMember, Charge, DeviceAllocation, Job, JobLog
from scheduling.states import AttemptState, Cause, JobState

SPACE = uuid.UUID("6f1d2f0e-6f0c-4a59-9d0b-3b1f60b0a3d1")
"""Of the launch keys of these records, so that they are the same every time."""
JOBS_PER_PROJECT = 24
BATCH = 2000
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
    gpu_model_id: int
    owner: int
    shape: Shape
    devices: tuple[Device, ...]
    submitted_at: datetime
    started_at: datetime
    ended_at: datetime

    @property
    def state(self) -> JobState:
        return JobState(self.shape.ending)


@dataclass(slots=True)
class Rows:
    """Everything to be written, in the order of its foreign keys."""

    attempts: list[Attempt] = field(default_factory=list)
    members: list[AttemptMember] = field(default_factory=list)
    allocations: list[DeviceAllocation] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    steps: list[StateChange] = field(default_factory=list)


def seed_records() -> int:
    """Write the half year, once: where there is a job on the fleet's models already, nothing. How many jobs."""
    if Attempt.objects.filter(gpu_model__name__in=MODELS).exists():
        return 0
    random = Random(SEED + 2)  # noqa: S311  a demo, not a secret
    with unit_of_work():
        past = list(_past(random, clock.now()))
        jobs = Job.objects.bulk_create([_job(record) for record in past], batch_size=BATCH)
        JobLog.objects.bulk_create([JobLog(job=job) for job in jobs], batch_size=BATCH)
        through = Job.gpu_models.through
        through.objects.bulk_create(
            [through(job=job, gpumodel_id=r.gpu_model_id) for job, r in zip(jobs, past, strict=True)],
            batch_size=BATCH,
        )
        rows = Rows()
        for job, record in zip(jobs, past, strict=True):
            _add(rows, job, record)
        Attempt.objects.bulk_create(rows.attempts, batch_size=BATCH)
        AttemptMember.objects.bulk_create(rows.members, batch_size=BATCH)
        DeviceAllocation.objects.bulk_create(rows.allocations, batch_size=BATCH)
        Charge.objects.bulk_create(rows.charges, batch_size=BATCH)
        StateChange.objects.bulk_create(rows.steps, batch_size=BATCH)
    return len(jobs)


def _past(random: Random, now: datetime) -> Iterator[Past]:
    devices = _devices()
    team = _team()
    claims = Claim.objects.filter(gpu_model__name__in=MODELS, project__isnull=False, guaranteed__gt=0)
    for claim in claims.select_related("project").order_by("project_id"):
        own = _take(devices[claim.gpu_model_id or 0], claim.guaranteed)
        if own and claim.project is not None:
            yield from _jobs_of(random, claim.project, own, team[claim.project.pk], now)


def _devices() -> dict[int, list[Device]]:
    """By model: the devices of owned nodes outside of dedicated pools, in order."""
    found: dict[int, list[Device]] = defaultdict(list)
    names = [node.name for node in fleet_nodes()]
    rows = Device.objects.filter(node__name__in=names, node__source=NodeSource.OWNED)
    for device in (
        rows.exclude(node__pool__kind=PoolKind.DEDICATED).select_related("node").order_by("node__name", "index")
    ):
        found[device.gpu_model_id].append(device)
    return found


def _take(free: list[Device], count: int) -> list[Device]:
    """The next devices, on one node: at most as many as are left there."""
    same = [device for device in free[:count] if device.node_id == free[0].node_id]
    del free[: len(same)]
    return same


def _team() -> dict[int, list[int]]:
    members: dict[int, list[int]] = defaultdict(list)
    rows = Membership.objects.filter(left_at__isnull=True).order_by("project_id", "person_id")
    for project, person in rows.values_list("project_id", "person_id"):
        members[project].append(person)
    return members


def _jobs_of(random: Random, project: Project, own: Sequence[Device], team: list[int], now: datetime) -> Iterator[Past]:
    at = max(project.created_at + timedelta(days=4), now - HALF_YEAR)
    pace = (now - at) / JOBS_PER_PROJECT
    for number in range(1, JOBS_PER_PROJECT + 1):
        shape = draw(random, number, len(own))
        submitted_at = at + pace * random.uniform(0.02, 0.1)
        started_at = submitted_at + timedelta(seconds=random.randint(4, 5400))
        ended_at = started_at + pace * random.uniform(0.2, 0.8)
        at += pace
        if ended_at < min(at, now - timedelta(hours=1)):
            owner, devices = random.choice(team), tuple(own[: shape.gpus])
            yield Past(project, own[0].gpu_model_id, owner, shape, devices, submitted_at, started_at, ended_at)


def _job(record: Past) -> Job:
    length_s = int((record.ended_at - record.started_at).total_seconds())
    return Job(
        project_id=record.project.pk,
        owner_id=record.owner,
        name=record.shape.name,
        command=list(record.shape.command),
        milli_gpus=record.shape.gpus * MILLI,
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
    member = AttemptMember(
        attempt=attempt,
        node_id=record.devices[0].node_id,
        rank=0,
        launch_key=uuid.uuid5(SPACE, f"{record.project.name}/{record.shape.name}"),
        state=AttemptState.ENDED,
        started_at=record.started_at,
        ended_at=record.ended_at,
        last_report_at=record.ended_at,
        fetched_at=record.started_at,
        is_forgotten=True,
    )
    rows.attempts.append(attempt)
    rows.members.append(member)
    rows.steps += _steps(job, record)
    for device in record.devices:
        _hold(rows, member, device, record)


def _hold(rows: Rows, member: AttemptMember, device: Device, record: Past) -> None:
    start, end = record.started_at, record.ended_at
    allocation = DeviceAllocation(member=member, device=device, milli=MILLI, allocated_at=start, released_at=end)
    rows.allocations.append(allocation)
    price = _PRICES[device.node.name]
    for day, piece_start, piece_end in by_day(start, end):
        rows.charges.append(
            Charge(
                allocation=allocation,
                project_id=record.project.pk,
                gpu_model_id=device.gpu_model_id,
                day=day,
                during=(piece_start, piece_end),
                milli_gpu_seconds=milli_gpu_seconds(MILLI, start, piece_start, piece_end),
                per_gpu_hour=price,
                currency="USD",
                is_simulated=True,
            )
        )


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
