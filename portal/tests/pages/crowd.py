"""An organisation of hundreds of projects with quotas, use and samples, written in bulk: only to be read."""

import random
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.db import connection
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from accounts.models import Person
from inventory.models import CapacityFact, Device, GpuModel, Node, NodePrice, Pool
from inventory.prices import MINUTES_OF_DAY
from kernel import clock
from kernel.calendar import local_day
from kernel.intervals import Interval
from kernel.ranges import to_range
from monitoring.models import GpuLatest
from projects.models import Membership, Milestone, Project, ProjectRole, ResearchArea, Stage, Tier, TierFact
from projects.states import ProjectState
from quotas.models import Claim
from scheduling.metering import by_day, milli_gpu_seconds
from scheduling.models import Attempt, AttemptMember, Charge, DeviceAllocation, Job
from scheduling.states import AttemptState, JobState

MODELS = ("h200", "h100", "a100", "l40s")
LEADS = ("Mira Halvorsen", "Luca Ferrandi", "Ada Fenwright", "王佳玲", "Oskar Vennegard", "Noor Castellan-Oyelaran")
SUBJECTS = (
    "Molecular dynamics",
    "蛋白质折叠路径",
    "Video prediction, long horizon",
    "Cell state atlas",
    "城市交通仿真",
)
LONG = "Uncertainty-aware multimodal foundation model for climate, weather and ocean reanalysis from 1950 to 1979"
GPUS_A_NODE, JOBS_BEHIND = 8, 10


def crowd(projects: int = 300) -> list[Project]:
    """The same every time. Needs an empty registry."""
    chance = random.Random(7)
    now = clock.now()
    leads = [_person(index, name) for index, name in enumerate(LEADS)]
    areas = [ResearchArea.objects.create(name=f"area-{n}", title=f"Research area {n}") for n in range(6)]
    made = Project.objects.bulk_create(
        Project(
            name=f"{LONG if n % 50 == 7 else SUBJECTS[n % len(SUBJECTS)]} {n}",
            goal="Find out whether it works",
            stage=chance.choice(Stage.values),
            area=chance.choice(areas),
            breakthrough=chance.randint(0, 10),
            state=chance.choice([*[ProjectState.ACTIVE] * 8, ProjectState.SUSPENDED, ProjectState.SUBMITTED]),
            created_by=chance.choice(leads),
            created_at=now,
            updated_at=now - timedelta(hours=n),
        )
        for n in range(projects)
    )
    _describe(made, chance)
    _hold(made, _devices(leads[0], projects), chance)
    with connection.cursor() as cursor:
        # What was empty when it was last analysed is planned as if it still were.
        written = (Project, Membership, Claim, Device, Job, Attempt, AttemptMember, DeviceAllocation, Charge)
        cursor.execute(f"ANALYZE {', '.join(model._meta.db_table for model in written)}")
    return made


def _person(index: int, name: str) -> Person:
    return Person.objects.create(username=f"crowd-{index}", display_name=name)


def _describe(made: list[Project], chance: random.Random) -> None:
    now, today = clock.now(), local_day(clock.now())
    team = {"joined_at": now, "role": ProjectRole.LEAD}
    Membership.objects.bulk_create(Membership(project=row, person=row.created_by, **team) for row in made)
    Milestone.objects.bulk_create(
        Milestone(project=row, name="First result", due_on=today + timedelta(days=chance.randint(-12, 80)))
        for row in made
    )
    since = to_range(Interval(now - timedelta(days=60)))
    TierFact.objects.bulk_create(
        TierFact(project=row, tier=chance.choice(Tier.values), during=since, set_by=row.created_by) for row in made
    )


def _devices(admin: Person, projects: int) -> list[Device]:
    """One device for every project, on priced nodes of four models; every third node has no price."""
    now, since = clock.now(), to_range(Interval(clock.now() - timedelta(days=60)))
    pool = Pool.objects.create(name="crowd", title="Crowd")
    models = [GpuModel.objects.get_or_create(name=name, defaults={"title": name.upper()})[0] for name in MODELS]
    nodes = Node.objects.bulk_create(
        Node(
            name=f"crowd-{n}",
            pool=pool,
            source="owned",
            is_simulated=False,
            gpu_model=models[n % len(models)],
            cpus=64,
            memory_bytes=2**40,
            disk_bytes=2**40,
            token_digest=f"crowd-{n}",
            registered_at=now,
            accepted_by=admin,
        )
        for n in range(max(-(-projects // GPUS_A_NODE), len(MODELS)))
    )
    CapacityFact.objects.bulk_create(
        CapacityFact(node=node, gpu_model=node.gpu_model, pool=pool, gpus=100_000, during=since, accepted_by=admin)
        for node in nodes
    )
    NodePrice.objects.bulk_create(
        NodePrice(node=node, per_gpu_hour=Decimal("2.40"), currency="EUR", during=since, minutes=(0, MINUTES_OF_DAY))
        for node in nodes[::3]
    )
    return _devices_of(nodes, projects)


def _devices_of(nodes: list[Node], count: int) -> list[Device]:
    now = clock.now()
    return Device.objects.bulk_create(
        Device(
            node=nodes[n // GPUS_A_NODE],
            uuid=f"GPU-crowd-{n}",
            index=n % GPUS_A_NODE,
            gpu_model=nodes[n // GPUS_A_NODE].gpu_model,
            memory_bytes=80 * 2**30,
            is_simulated=False,
            first_seen_at=now,
            last_seen_at=now,
        )
        for n in range(count)
    )


def _hold(made: list[Project], devices: list[Device], chance: random.Random) -> None:
    """Every active project has a quota on two models, ten jobs behind it and one running."""
    now = clock.now()
    since, models = to_range(Interval(now - timedelta(days=60))), list(GpuModel.objects.filter(name__in=MODELS))
    active = [(row, device) for row, device in zip(made, devices, strict=True) if row.state == ProjectState.ACTIVE]
    Claim.objects.bulk_create(
        Claim(
            project=row,
            gpu_model=model,
            resource="gpu",
            guaranteed=guaranteed,
            limit=guaranteed + 32,
            during=since,
            granted_at=now,
        )
        for row, _device in active
        for model in chance.sample(models, 2)
        for guaranteed in [chance.choice([0, 8, 16, 40, 72])]
    )
    held = [_allocation(row, device, back, chance) for row, device in active for back in range(JOBS_BEHIND, -1, -1)]
    Job.objects.bulk_create(part.member.attempt.job for part in held)
    Attempt.objects.bulk_create(part.member.attempt for part in held)
    AttemptMember.objects.bulk_create(part.member for part in held)
    DeviceAllocation.objects.bulk_create(held)
    Charge.objects.bulk_create(charge for part in held if part.released_at for charge in _charges(part))
    GpuLatest.objects.bulk_create(
        GpuLatest(device=device, at=now, utilisation_pct=chance.randint(20, 98), is_simulated=False)
        for _row, device in active
    )


def _allocation(row: Project, device: Device, back: int, chance: random.Random) -> DeviceAllocation:
    """A job of some days ago on this device, unsaved with all that is above it; the last one still runs."""
    start = clock.now() - timedelta(days=3 * back, hours=10)
    end = start + timedelta(hours=chance.randint(1, 60)) if back else None
    job = Job(
        project=row,
        owner=row.created_by,
        name=f"job {back}",
        command=["true"],
        milli_gpus=chance.choice([8, 24, 64, 120]) * 1000,
        state=JobState.SUCCEEDED if back else JobState.RUNNING,
        submitted_at=start,
        queued_at=start,
        ended_at=end,
    )
    state = AttemptState.ENDED if back else AttemptState.RUNNING
    course = {"state": state, "started_at": start, "ended_at": end}
    attempt = Attempt(
        job=job,
        number=1,
        launcher="agent",
        gpu_model=device.gpu_model,
        cause="finished" if back else "",
        assigned_at=start,
        **course,
    )
    key = UUID(int=row.pk * 1000 + back)
    member = AttemptMember(attempt=attempt, node=device.node, rank=0, launch_key=key, **course)
    return DeviceAllocation(member=member, device=device, milli=1000, allocated_at=start, released_at=end)


def _charges(part: DeviceAllocation) -> Iterator[Charge]:
    """As its release would have written them, without a price."""
    for day, start, end in by_day(part.allocated_at, part.released_at or part.allocated_at):
        yield Charge(
            allocation=part,
            project=part.member.attempt.job.project,
            gpu_model=part.device.gpu_model,
            day=day,
            during=DateTimeTZRange(start, end),
            milli_gpu_seconds=milli_gpu_seconds(part.milli, part.allocated_at, start, end),
            is_simulated=False,
        )
