"""Write what starts: attempts, members and device allocations, with what each job was told cleared."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from inventory.models import Node
from kernel.states import transition
from scheduling.engine.model import Placement
from scheduling.launchers import push_soon
from scheduling.models import Attempt, AttemptMember, DeviceAllocation, Job

_CLEARED = ["reason", "reason_code", "reason_data", "not_before"]


@dataclass(frozen=True, slots=True)
class Place:
    """A job and where it goes. ``nodes`` are those of the placement, in its order, with their pools."""

    job: Job
    gpu_model: int
    nodes: Sequence[Node]
    placement: Placement

    @property
    def launcher(self) -> str:
        """All nodes of a placement are of pools with one launcher; the first speaks for it."""
        return str(self.nodes[0].pool.launcher)


def starts_write(places: Sequence[Place], now: datetime) -> None:
    """Attempts, members and allocations in one statement each; the database refuses a device given twice. Jobs and
    nodes are locked."""
    if not places:
        return
    jobs = [place.job for place in places]
    numbers = dict(Attempt.objects.filter(job__in=jobs).values_list("job_id").annotate(n=Max("number")))
    attempts = Attempt.objects.bulk_create(
        Attempt(
            job=place.job,
            number=numbers.get(place.job.pk, 0) + 1,
            launcher=place.launcher,
            gpu_model_id=place.gpu_model,
            is_preemptible=place.job.is_preemptible,
            max_runtime_s=allowed_runtime_s(place.job, place.nodes),
            assigned_at=now,
        )
        for place in places
    )
    members = AttemptMember.objects.bulk_create(
        AttemptMember(attempt=attempt, node=node, rank=rank, launch_key=uuid.uuid4())
        for attempt, place in zip(attempts, places, strict=True)
        for rank, node in enumerate(place.nodes)
    )
    placements = [place.placement[node.pk] for place in places for node in place.nodes]
    DeviceAllocation.objects.bulk_create(
        DeviceAllocation(member=member, device_id=device, milli=milli, allocated_at=now)
        for member, devices in zip(members, placements, strict=True)
        for device, milli in sorted(devices.items())
    )
    for attempt in attempts:
        _assign(attempt)
    by_launcher: dict[str, list[AttemptMember]] = {}
    for member in members:
        by_launcher.setdefault(member.attempt.launcher, []).append(member)
    for launcher, some in by_launcher.items():
        push_soon(launcher, *some)


def allowed_runtime_s(job: Job, nodes: Sequence[Node]) -> int | None:
    """How long an attempt of the job may run on these nodes: its max runtime and every pool's bound hold."""
    bounds = [job.max_runtime_s, *(node.pool.max_runtime_bound_s for node in nodes)]
    return min((bound for bound in bounds if bound is not None), default=None)


def _assign(attempt: Attempt) -> None:
    job = attempt.job
    job.reason, job.reason_code, job.reason_data, job.not_before = "", "", {}, None
    transition(job, "assign", actor=None, data={"attempt": attempt.number}, fields=_CLEARED)
