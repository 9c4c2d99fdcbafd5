"""Work for the simulated nodes: the demo's people submit jobs as long as their project keeps less busy than it would.

Level-triggered: it looks at what is used and queued now and submits a little, so a tick that comes late, twice or
never does no harm. Only jobs on the fleet's models are ever submitted; the agents of this machine are left to users.
"""

from dataclasses import dataclass
from random import Random

from django.db.models import Sum

from accounts.models import Person
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import local_day
from kernel.errors import PortalError
from kernel.sweep import each
from portal.demo.fleet import MODELS
from portal.demo.lanes import held_shares, wanted
from portal.demo.organisation import SEED
from portal.demo.seeded import was_seeded
from portal.demo.shapes import draw
from portal.demo.wishes import NODE, WEEKEND, drawn, granules, is_eager, nodes_of
from projects.models import Membership, ProjectRole
from projects.states import ProjectState
from scheduling.engine import MILLI
from scheduling.models import Job
from scheduling.services import job_submit
from scheduling.spec import JobSpec
from scheduling.states import LIVE, JobState

AT_ONCE = 6
RUNTIMES_S = ((900, 3600), (3600, 14000))
"""Short and long ones, as many of each; twice the longest fits the bound of the exploration pool."""
WAITING = 2
"""Jobs that wait at an eager project."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The next job of a project. ``missing``: GPUs that the project keeps less busy than it would."""

    project_id: int
    model: GpuModel
    gpus: int
    is_preemptible: bool
    missing: int


def demo_submit(at_once: int = AT_ONCE) -> int:
    """Submit at most this many jobs; none where there is no demo organisation. How many."""
    if not was_seeded():
        return 0
    number = Job.objects.count()
    random = Random(SEED + number)  # noqa: S311  a demo, not a secret
    wishes = sorted(_wishes(), key=lambda wish: (-wish.missing, wish.project_id))[:at_once]
    numbered = list(enumerate(wishes, start=number))
    submitted = each("demo_submit", numbered, lambda pair: _submit(random, pair[1], pair[0]))
    return len([job for job in submitted if job is not None])


def _wishes() -> list[Wish]:
    """At most one of each active project and model."""
    models = {model.pk: model for model in GpuModel.objects.filter(name__in=MODELS)}
    shares, held = held_shares(), _held()
    active = set(
        Membership.objects.filter(project__state=ProjectState.ACTIVE, left_at__isnull=True).values_list(
            "project_id", flat=True
        )
    )
    found = []
    for (project, model), gpus in wanted().items():
        share = shares[model][project]
        used = -(-held.get((project, model), 0) // MILLI)
        parts = granules(share.project, gpus)
        level = _level(share.project, gpus)
        if is_eager(share.project) and gpus:
            level += WAITING * min(parts)
        fitting = [part for part in parts if part <= level - used]
        if project in active and fitting:
            over = used + fitting[0] > share.guaranteed and not is_eager(share.project)
            found.append(Wish(project, models[model], fitting[0], over, level - used))
    return found


def _level(project: str, gpus: int) -> int:
    """What it keeps busy today: at weekends some projects rest."""
    week = local_day(clock.now()).isocalendar()
    rests = week.weekday > 5 and drawn(project, f"weekend/{week.year}-{week.week}/0") > WEEKEND
    return 0 if rests else gpus


def _held() -> dict[tuple[int, int], int]:
    """By project and model: milli-GPU that live and waiting jobs of the fleet's models hold or ask for."""
    jobs = Job.objects.filter(state__in=[*LIVE, JobState.QUEUED], gpu_models__name__in=MODELS)
    sums = jobs.values_list("project_id", "gpu_models").annotate(total=Sum("milli_gpus"))
    return {(project, model): int(total) for project, model, total in sums.order_by()}


def _submit(random: Random, wish: Wish, number: int) -> Job:
    """One of the project's people asks for a job that its quota allows. Raises what ``job_submit`` raises."""
    shape = draw(random, number, wish.gpus)
    runtime_s = random.randint(*random.choice(RUNTIMES_S))
    is_late = shape.ending == JobState.TIMED_OUT
    spec = JobSpec(
        name=shape.name,
        command=shape.command,
        milli_gpus=shape.gpus * MILLI,
        nodes_exact=nodes_of(shape.gpus) if shape.gpus > NODE else None,
        gpu_models=(wish.model.name,),
        is_preemptible=wish.is_preemptible,
        max_runtime_s=runtime_s if is_late else 2 * runtime_s,
        grace_s=30,
        checkpoint_dir="checkpoints",
        checkpoint_interval_s=600,
        env={
            "SIMULATED_RUNTIME_S": str(runtime_s + 60 * is_late),
            "SIMULATED_EXIT_CODE": "1" if shape.ending == JobState.FAILED else "0",
        },
    )
    return job_submit(actor=_actor(random, wish.project_id), project_id=wish.project_id, spec=spec)


def _actor(random: Random, project_id: int) -> Person:
    members = Membership.objects.filter(project=project_id, left_at__isnull=True, person__is_active=True)
    found = list(members.filter(role__in=ProjectRole.values).select_related("person").order_by("person_id"))
    if not found:
        raise PortalError(f"project {project_id} has no active member")
    return found[random.randrange(len(found))].person
