"""What the solver is asked: GPU models, projects, and the rules of the organisation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

SCHEMA = "instance/1"


class TierOrder(StrEnum):
    """Whether a tier's weight is a share (``weighted``) or a turn of its own (``strict``)."""

    WEIGHTED = "weighted"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class GpuModel:
    """``capacity`` and ``reserve`` in whole GPUs."""

    name: str
    capacity: int
    reserve: int

    @property
    def usable(self) -> int:
        return max(0, self.capacity - self.reserve)


@dataclass(frozen=True, slots=True)
class Ask:
    """What a project wants of one model, in whole GPUs; ``suitability`` is the relative worth of one, 0 for none."""

    min: int
    max: int
    suitability: float
    previous: int = 0


@dataclass(frozen=True, slots=True)
class Project:
    """``max_total`` bounds the sum over all models. A pin replaces min and max of its model."""

    id: str
    tier: str
    score: float
    stage: str
    granularity: int
    max_total: int
    models: Mapping[str, Ask]
    pinned: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoreWeight:
    """A project's weight within its tier is ``base + slope × score``."""

    base: float
    slope: float


@dataclass(frozen=True, slots=True)
class Rules:
    """``churn_tolerance`` is the part of its exact share that a project may miss so that fewer GPUs move."""

    tier_weight: Mapping[str, float]
    tier_order: TierOrder
    score_weight: ScoreWeight
    guarantee: Mapping[str, bool]
    churn_tolerance: float

    def weight(self, project: Project) -> float:
        """The project's weight before all are divided by the largest."""
        part = self.score_weight.base + self.score_weight.slope * project.score
        return self.tier_weight[project.tier] * part


@dataclass(frozen=True, slots=True)
class Instance:
    gpu_models: tuple[GpuModel, ...]
    projects: tuple[Project, ...]
    rules: Rules

    def best_first(self, project: Project) -> list[str]:
        """The models that a project asks for, by falling suitability; equals in the order of ``gpu_models``."""
        place = {model.name: place for place, model in enumerate(self.gpu_models)}
        return sorted(project.models, key=lambda name: (-project.models[name].suitability, place[name]))

    def document(self) -> dict[str, Any]:
        """The instance as ``instance/1``."""
        rows = [{**asdict(project), "pinned": dict(project.pinned)} for project in self.projects]
        return {
            "schema": SCHEMA,
            "gpu_models": [asdict(model) for model in self.gpu_models],
            "projects": rows,
            "rules": {**asdict(self.rules), "tier_order": str(self.rules.tier_order)},
        }
