"""What the solver answers, and its file ``plan/1``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from quotas.engine.floors import Relaxed

SCHEMA = "plan/1"

_DIGITS = 12
_NOTHING = 1e-12
"""Less than any level or amount of a plan can be: the error of a zero."""


def written(value: float) -> float:
    """A number as the plan states it: with as many digits as the arithmetic has, whatever its size."""
    return float(f"{float(value):.{_DIGITS}g}") if abs(value) > _NOTHING else 0.0


class Status(StrEnum):
    OPTIMAL = "optimal"
    INFEASIBLE_FLOORS = "infeasible_floors"
    FEASIBLE = "feasible"


class Why(StrEnum):
    """The kinds of reason. ``own_cap``, ``total_cap`` and ``capacity`` would give more if raised; the others name a
    rule.
    """

    PINNED = "pinned"
    FLOOR = "floor"
    OWN_CAP = "own_cap"
    TOTAL_CAP = "total_cap"
    CAPACITY = "capacity"
    GRANULARITY = "granularity"
    NO_SUITABLE_MODEL = "no_suitable_model"
    TIER_WITHOUT_GUARANTEE = "tier_without_guarantee"
    MOVEMENT = "movement"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason as data, with one English sentence; ``values`` are the numbers the sentence speaks of."""

    kind: Why
    text: str
    model: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        model = {} if self.model is None else {"model": self.model}
        return {"kind": str(self.kind), **model, **self.values, "text": self.text}


@dataclass(frozen=True, slots=True)
class Quota:
    """Whole GPUs of one pair. Without guarantee, ``gpus`` is what can be expected of idle machines."""

    project: str
    model: str
    gpus: int
    guaranteed: int
    limit: int


@dataclass(frozen=True, slots=True)
class ProjectShare:
    """``level`` of the whole GPUs, ``exact_level`` of the fair share; ``entitlement`` and ``effective`` in effective
    GPUs.

    ``summary`` is one English sentence; a project that gets all it asks for may have no other reason.
    """

    project: str
    level: float
    exact_level: float
    entitlement: float
    effective: float
    summary: str
    reasons: tuple[Reason, ...]

    def document(self) -> dict[str, Any]:
        values = {
            "project": self.project,
            "level": self.level,
            "exact_level": self.exact_level,
            "entitlement": self.entitlement,
            "effective": self.effective,
            "summary": self.summary,
        }
        return {**values, "reasons": [reason.document() for reason in self.reasons]}


@dataclass(frozen=True, slots=True)
class ModelUse:
    """``price`` is what one more GPU would raise the level of the first bottleneck of this model by; 0 if none is held
    back.
    """

    model: str
    usable: int
    given: int
    price: float


@dataclass(frozen=True, slots=True)
class Churn:
    """GPUs given or taken against the previous quotas, those taken, and the largest part of a fair share foregone for
    it.
    """

    moved_gpus: int
    taken_gpus: int
    tolerance_used: float


@dataclass(frozen=True, slots=True)
class Fairness:
    """Over the projects that can use anything; null when there are none."""

    min_exact_level: float | None
    min_level: float | None
    p10_level: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """``gap`` is set for a ``feasible`` plan: how far its lowest level may be below what is possible, from 0 to 1."""

    status: Status
    instance_sha256: str
    quotas: tuple[Quota, ...]
    projects: tuple[ProjectShare, ...]
    models: tuple[ModelUse, ...]
    relaxed_floors: tuple[Relaxed, ...]
    churn: Churn
    fairness: Fairness
    exceptions: tuple[str, ...]
    gap: float | None = None

    def document(self, *, seconds: float) -> dict[str, Any]:
        """The plan as ``plan/1``; ``seconds`` is the caller's measurement of the solve."""
        gap = {} if self.gap is None else {"gap": self.gap}
        return {
            "schema": SCHEMA,
            "status": str(self.status),
            **gap,
            "seconds": seconds,
            "instance_sha256": self.instance_sha256,
            "quotas": [asdict(quota) for quota in self.quotas],
            "projects": [share.document() for share in self.projects],
            "models": [asdict(model) for model in self.models],
            "relaxed_floors": [{**asdict(cut), "shortfall": cut.shortfall} for cut in self.relaxed_floors],
            "churn": asdict(self.churn),
            "fairness": asdict(self.fairness),
            "exceptions": [{"project": name, "reason": str(Why.GRANULARITY)} for name in self.exceptions],
        }
