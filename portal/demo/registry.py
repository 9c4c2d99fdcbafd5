"""Projects of the demo organisation, in every state."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial

from accounts.models import Person
from inventory.catalogue import entry_of
from inventory.models import GpuModel, Pool
from inventory.services import PoolSpec, pool_create
from kernel import clock
from kernel.calendar import local_day
from portal.demo.fleet import MODELS
from portal.demo.names import AREAS
from projects import services
from projects.facts import ComputeAsked, Facts, MilestoneAsked
from projects.models import DataClass, Kind, Project, ProjectRole, ResearchArea, Stage, Tier
from projects.states import ProjectState

GIB = 1024**3
People = dict[str, Person]

GPU_MODELS = {"h100": 80 * GIB, "a100": 80 * GIB, **{name: facts.memory_bytes for name, facts in MODELS.items()}}
"""What the demo's nodes carry, so that projects can ask for it before the first node has enrolled."""
SHARED = PoolSpec("shared", "Shared", purpose="Any project's jobs")


@dataclass(frozen=True, slots=True)
class Recipe:
    """``days``: when its milestones are due, counted from today."""

    name: str
    lead: str
    state: ProjectState
    area: str
    goal: str = ""
    kind: Kind = Kind.RESEARCH
    stage: Stage = Stage.EXPLORATION
    data_class: DataClass = DataClass.INTERNAL
    breakthrough: int | None = None
    compute: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    days: dict[str, int] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()
    researchers: tuple[str, ...] = ()
    tier: Tier | None = None
    measured: dict[str, str] = field(default_factory=dict)
    """Tokens per second of one GPU by model; an admin confirms all but the last."""
    question: str = ""
    answer: str = ""


S = ProjectState
RECIPES = (
    Recipe(
        "Long-context pretraining",
        "lead",
        S.ACTIVE,
        "language",
        "A model that keeps its accuracy over a million tokens, and a recipe that others can repeat.",
        stage=Stage.TRAINING,
        breakthrough=8,
        compute={"h100": (1, 2, 4), "a100": (0, 1, 2)},
        days={"Ablations on 1 B parameters": 20, "First full run": 75},
        datasets=("corpora/web-2026", "corpora/books-v3"),
        researchers=("researcher",),
        tier=Tier.HIGH,
        measured={"h100": "11200", "a100": "5900", "h800": "10400", "h20": "3100"},
    ),
    Recipe(
        "蛋白质结构生成模型",
        "chen",
        S.ACTIVE,
        "science",
        "用扩散模型生成可折叠的蛋白质骨架,并与实验结构比较。",
        breakthrough=9,
        data_class=DataClass.RESTRICTED,
        compute={"a100": (1, 1, 2)},
        days={"基线复现": 30},
        datasets=("structures/pdb-2026",),
        tier=Tier.MID,
        measured={"a100": "410"},
    ),
    Recipe(
        "Retrieval-augmented speech translation between low-resource languages,"
        " with terminology that a domain expert keeps",
        "okafor",
        S.ACTIVE,
        "language",
        "Translate spoken lectures between six low-resource languages with the terms of the field right.",
        kind=Kind.PRODUCT,
        stage=Stage.EVALUATION,
        breakthrough=4,
        compute={"h100": (0, 1, 2), "a100": (1, 1, 2)},
        days={"Listening test": 12, "Pilot in two departments": 60},
        tier=Tier.LOW,
    ),
    Recipe(
        "Diffusion video compression",
        "lead",
        S.SUBMITTED,
        "vision",
        "A codec that beats the standard at half the bit rate on the studio's own material.",
        stage=Stage.FEASIBILITY,
        breakthrough=6,
        compute={"h100": (1, 1, 2)},
        days={"Rate-distortion curve": 45},
        datasets=("video/studio-4k",),
        measured={"h100": "960"},
        question="Does the studio's licence allow training on its material outside of its own rooms?",
        answer="Yes: clause 4 of the contract of March allows any node of the own machine room.",
    ),
    Recipe("Sparse attention kernels", "researcher", S.DRAFT, "language", "Find out what 2:4 sparsity saves."),
    Recipe(
        "Weather ensemble emulator",
        "okafor",
        S.SUSPENDED,
        "science",
        "Fifty members for the price of one.",
        stage=Stage.TRAINING,
        breakthrough=7,
        compute={"a100": (1, 2, 2)},
        days={"Skill of the ten-day mean": 40},
        tier=Tier.MID,
    ),
    Recipe(
        "Code review assistant",
        "chen",
        S.CLOSED,
        "language",
        "Comments that reviewers keep.",
        kind=Kind.PRODUCT,
        stage=Stage.PRODUCTION,
        breakthrough=2,
        compute={"a100": (1, 1, 1)},
        days={"In use by three teams": 5},
    ),
    Recipe(
        "Brain-scale simulation",
        "okafor",
        S.REJECTED,
        "science",
        "Simulate a whole cortex.",
        breakthrough=10,
        compute={"h100": (400, 800, 1600)},
        days={"One column": 90},
    ),
)
REASONS = {
    S.REJECTED: "The smallest useful run is a hundred times what there is. Come back with one column as the goal.",
    S.SUSPENDED: "The licence of the reanalysis data has lapsed; resumes when it is renewed.",
    S.CLOSED: "Handed over to the tools team.",
}


def seed_registry(people: People) -> None:
    """GPU models, pools, areas and projects; what is there by its name is left alone."""
    admin = people["admin"]
    for name, memory in GPU_MODELS.items():
        entry = entry_of(name)
        facts = {"title": entry.title, "memory_bytes": memory, "suitability": entry.suitability}
        GpuModel.objects.get_or_create(name=name, defaults=facts)
    if not Pool.objects.filter(name=SHARED.name).exists():
        pool_create(actor=admin, spec=SHARED)
    for name, title in AREAS.items():
        if not ResearchArea.objects.filter(name=name).exists():
            services.area_create(actor=admin, name=name, title=title)
    for recipe in RECIPES:
        if not Project.objects.filter(name=recipe.name).exists():
            _make(recipe, people)


def _make(recipe: Recipe, people: People) -> None:
    """Each person does their own part: the lead registers and submits, the director or an admin decides."""
    lead, admin, director = people[recipe.lead], people["admin"], people["director"]
    project = services.project_create(actor=lead, facts=_facts(recipe))
    for name in recipe.researchers:
        services.member_add(actor=lead, project_id=project.pk, person=name, role=ProjectRole.RESEARCHER)
    steps: dict[str, Callable[..., Project]] = {
        "submit": partial(services.project_submit, actor=lead),
        "approve": partial(services.project_decide, answer="approve", actor=director),
        "reject": partial(services.project_decide, answer="reject", actor=director, reason=REASONS[S.REJECTED]),
        "suspend": partial(services.project_suspend, actor=admin, reason=REASONS[S.SUSPENDED]),
        "close": partial(services.project_close, actor=lead, reason=REASONS[S.CLOSED]),
    }
    if recipe.question:
        steps["submit"](project_id=project.pk)
        services.project_decide(answer="return", actor=director, project_id=project.pk, reason=recipe.question)
        steps["submit"] = partial(services.project_submit, actor=lead, answer=recipe.answer)
    _measure(project, recipe, lead, admin)
    for event in _WAY[recipe.state]:
        steps[event](project_id=project.pk)
        if event == "approve" and recipe.tier is not None:
            services.tier_set(actor=admin, project_id=project.pk, tier=recipe.tier, reason="Review of the last quarter")


def _measure(project: Project, recipe: Recipe, lead: Person, admin: Person) -> None:
    """The lead states what was measured; an admin confirms all but the last, which still waits."""
    waiting = next(reversed(recipe.measured), "")
    for model, throughput in recipe.measured.items():
        evidence = "Our own training loop, BF16, one hour after warm-up; mean of three runs."
        stated = services.Stated(model, Decimal(throughput), "tokens/s", evidence)
        row = services.measurement_state(actor=lead, project_id=project.pk, stated=stated)
        if model != waiting:
            services.measurement_confirm(actor=admin, measurement_id=row.pk)


_WAY: dict[ProjectState, tuple[str, ...]] = {
    S.DRAFT: (),
    S.SUBMITTED: ("submit",),
    S.REJECTED: ("submit", "reject"),
    S.ACTIVE: ("submit", "approve"),
    S.SUSPENDED: ("submit", "approve", "suspend"),
    S.CLOSED: ("submit", "approve", "close"),
}


def _facts(recipe: Recipe) -> Facts:
    today = local_day(clock.now())
    return {
        "name": recipe.name,
        "goal": recipe.goal,
        "kind": recipe.kind,
        "stage": recipe.stage,
        "area": recipe.area,
        "data_class": recipe.data_class,
        "breakthrough": recipe.breakthrough,
        "datasets": list(recipe.datasets),
        "expected_compute": [ComputeAsked(model, *amounts) for model, amounts in recipe.compute.items()],
        "milestones": [MilestoneAsked(name, today + timedelta(days=days)) for name, days in recipe.days.items()],
    }
