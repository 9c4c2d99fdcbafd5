"""From the registry to an instance: the directors' table of stage × tier says what part of a request counts (REV8)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, floor

from quotas.engine.instance import Ask, GpuModel, Instance, Project, Rules, ScoreWeight, TierOrder

NODE = 8
"""GPUs of a whole node: the granularity of who gets whole nodes."""


@dataclass(frozen=True, slots=True)
class Requested:
    """Expected compute on one model as registered, in whole GPUs, and what is known of it.

    ``used`` is the mean of the GPUs that the project really kept busy since the last round; None without a measurement.
    """

    min: int
    target: int
    max: int
    suitability: float
    previous: int = 0
    used: float | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered project with its tier and its score (0–100)."""

    id: str
    tier: str
    score: float
    stage: str
    requests: Mapping[str, Requested]
    pinned: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Share:
    """One cell of the table.

    ``floor_share`` of the requested min is kept as a floor, ``cap_share`` of the requested max is the most that counts.
    """

    floor_share: float
    cap_share: float
    granularity: int


@dataclass(frozen=True, slots=True)
class Table:
    """Stage × tier, and what follows from measured use.

    Who kept less than ``idle_below`` of a model's previous GPUs busy asks for at most ``headroom`` × what was busy.
    """

    shares: Mapping[tuple[str, str], Share]
    idle_below: float = 0.5
    headroom: float = 1.5


def build(projects: tuple[Registered, ...], models: tuple[GpuModel, ...], table: Table, rules: Rules) -> Instance:
    """The instance of these projects. A stage × tier that the table lacks gets nothing."""
    names = {model.name for model in models}
    return Instance(models, tuple(_project(project, table, rules, names) for project in projects), rules)


def _project(project: Registered, table: Table, rules: Rules, names: set[str]) -> Project:
    share = table.shares.get((project.stage, project.tier), _NOTHING)
    has_floor = rules.guarantee[project.tier]
    models = {
        name: _ask(request, share, table, has_floor=has_floor)
        for name, request in project.requests.items()
        if name in names
    }
    return Project(
        id=project.id,
        tier=project.tier,
        score=project.score,
        stage=project.stage,
        granularity=share.granularity,
        max_total=sum(ask.max for ask in models.values()),
        models=models,
        pinned={
            name: gpus // share.granularity * share.granularity
            for name, gpus in project.pinned.items()
            if name in models
        },
    )


def _ask(request: Requested, share: Share, table: Table, *, has_floor: bool) -> Ask:
    """Caps are rounded up to granules, so that a small request still gets one; floors down."""
    size = share.granularity
    most = ceil(_counted(request, table) * share.cap_share / size) * size
    least = floor(request.min * share.floor_share / size) * size if has_floor and request.suitability > 0 else 0
    return Ask(min(least, most), most, request.suitability, request.previous)


def _counted(request: Requested, table: Table) -> float:
    if request.used is None or not request.previous or request.used >= table.idle_below * request.previous:
        return request.max
    return min(request.max, request.used * table.headroom)


_NOTHING = Share(0.0, 0.0, 1)
_EXPLORING = ("exploration", "feasibility", "evaluation")
_TRAINING = ("training",)
_SERVING = ("launch_preparation", "production")


def _row(stages: tuple[str, ...], *cells: Share) -> dict[tuple[str, str], Share]:
    tiers = ("high", "mid", "low")
    return {(stage, tier): cell for stage in stages for tier, cell in zip(tiers, cells, strict=True)}


DEFAULT_TABLE = Table(
    {
        **_row(_EXPLORING, Share(1.0, 0.5, 1), Share(0.5, 0.5, 1), Share(0.0, 0.5, 1)),
        **_row(_TRAINING, Share(1.0, 1.0, NODE), Share(0.5, 0.5, NODE), Share(0.0, 0.25, NODE)),
        **_row(_SERVING, Share(1.0, 1.0, 1), Share(1.0, 0.75, 1), Share(0.0, 0.5, 1)),
    }
)
"""High-tier training gets whole nodes, its floor and its full request; mid tier a part of both; low tier queues.
"""

DEFAULT_RULES = Rules(
    tier_weight={"high": 4.0, "mid": 2.0, "low": 1.0},
    tier_order=TierOrder.WEIGHTED,
    score_weight=ScoreWeight(base=0.5, slope=0.01),
    guarantee={"high": True, "mid": True, "low": False},
    churn_tolerance=0.05,
)
