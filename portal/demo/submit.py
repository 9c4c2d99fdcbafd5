"""Work for the simulated nodes: the demo's people submit jobs as long as the cluster has room to spare.

Level-triggered: it looks at what is used and queued now and submits a little, so a tick that comes late, twice or
never does no harm. Only jobs on the fleet's models are ever submitted; the agents of this machine are left to users.
"""

from dataclasses import dataclass
from random import Random

from django.db.models import Sum

from accounts.models import Person
from inventory.models import GpuModel
from inventory.selectors import capacity_at
from kernel import clock
from kernel.errors import PortalError
from kernel.sweep import each
from portal.demo.fleet import MODELS
from portal.demo.organisation import SEED
from portal.demo.seeded import was_seeded
from portal.demo.shapes import draw
from projects.models import Membership, ProjectRole
from projects.states import ProjectState
from quotas.models import Resource
from quotas.selectors import Quota, quotas_at
from scheduling.engine import MILLI
from scheduling.models import Job
from scheduling.services import job_submit
from scheduling.spec import JobSpec
from scheduling.states import LIVE, JobState

BUSY = 70
"""Per cent of a model's capacity that the demo's jobs hold or ask for."""
AT_ONCE = 6
RUNTIME_S = (900, 7200)


@dataclass(frozen=True, slots=True)
class Room:
    """A project that could run more on a model, and how many GPUs of its guarantee and limit are left."""

    project_id: int
    model: GpuModel
    guaranteed: int
    limit: int


def demo_submit(at_once: int = AT_ONCE) -> int:
    """Submit at most this many jobs; none where there is no demo organisation. How many."""
    if not was_seeded():
        return 0
    models = {model.pk: model for model in GpuModel.objects.filter(name__in=MODELS)}
    number = Job.objects.count()
    random = Random(SEED + number)  # noqa: S311  a demo, not a secret
    chosen = _choose(random, models, at_once)
    submitted = each("demo_submit", chosen, lambda room: _submit(random, room, number))
    return len([job for job in submitted if job is not None])


def _choose(random: Random, models: dict[int, GpuModel], at_once: int) -> list[Room]:
    """Projects with room, on models that are less busy than they should be."""
    now = clock.now()
    held = _held()
    by_model: dict[int, int] = {}
    for (_project, model), milli in held.items():
        by_model[model] = by_model.get(model, 0) + milli
    capacity = capacity_at(now)
    idle = {pk for pk in models if pk in capacity and by_model.get(pk, 0) < capacity[pk].capacity * MILLI * BUSY // 100}
    active = set(
        Membership.objects.filter(project__state=ProjectState.ACTIVE, left_at__isnull=True).values_list(
            "project_id", flat=True
        )
    )
    rooms = [
        room
        for (project, resource, model), quota in sorted(quotas_at(now).items(), key=_in_order)
        if resource == Resource.GPU and model in idle and project in active
        if (room := _room(project, models[model], quota, held.get((project, model), 0))) is not None
    ]
    return random.sample(rooms, min(at_once, len(rooms)))


def _in_order(item: tuple[tuple[int, str, int | None], Quota]) -> tuple[int, str, int]:
    """By project, resource and model in the order in which they were made: the same in every seed."""
    project, resource, model = item[0]
    return project, resource, model or 0


def _held() -> dict[tuple[int, int], int]:
    """By project and model: milli-GPU that live and waiting jobs of the fleet's models hold or ask for."""
    jobs = Job.objects.filter(state__in=[*LIVE, JobState.QUEUED], gpu_models__name__in=MODELS)
    sums = jobs.values_list("project_id", "gpu_models").annotate(total=Sum("milli_gpus"))
    return {(project, model): int(total) for project, model, total in sums.order_by()}


def _room(project: int, model: GpuModel, quota: Quota, held: int) -> Room | None:
    used = -(-held // MILLI)
    limit = (quota.limit if quota.limit is not None else quota.guaranteed) - used
    return Room(project, model, quota.guaranteed - used, limit) if limit > 0 else None


def _submit(random: Random, room: Room, number: int) -> Job:
    """One of the project's people asks for a job that its quota allows. Raises what ``job_submit`` raises."""
    shape = draw(random, number + random.randint(1, 999), min(room.limit, 8))
    runtime_s = random.randint(*RUNTIME_S)
    is_late = shape.ending == JobState.TIMED_OUT
    spec = JobSpec(
        name=shape.name,
        command=shape.command,
        milli_gpus=shape.gpus * MILLI,
        gpu_models=(room.model.name,),
        is_preemptible=shape.gpus > room.guaranteed,
        max_runtime_s=runtime_s if is_late else 2 * runtime_s,
        grace_s=30,
        checkpoint_dir="checkpoints",
        checkpoint_interval_s=600,
        env={
            "SIMULATED_RUNTIME_S": str(runtime_s + 60 * is_late),
            "SIMULATED_EXIT_CODE": "1" if shape.ending == JobState.FAILED else "0",
        },
    )
    return job_submit(actor=_actor(random, room.project_id), project_id=room.project_id, spec=spec)


def _actor(random: Random, project_id: int) -> Person:
    members = Membership.objects.filter(project=project_id, left_at__isnull=True, person__is_active=True)
    found = list(members.filter(role__in=ProjectRole.values).select_related("person").order_by("person_id"))
    if not found:
        raise PortalError(f"project {project_id} has no active member")
    return found[random.randrange(len(found))].person
