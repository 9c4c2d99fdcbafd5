"""What a replay is measured by: sums over time, kept as it goes."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduling.engine.model import MILLI, Amounts

_HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Spread:
    """Of times in seconds; None of no times at all."""

    mean: float | None
    median: float | None
    p95: float | None

    @staticmethod
    def of(times: Sequence[float]) -> "Spread":
        if not times:
            return Spread(None, None, None)
        ordered = sorted(times)
        nearest = -(-95 * len(ordered) // 100) - 1
        return Spread(statistics.fmean(ordered), statistics.median(ordered), ordered[nearest])

    def document(self) -> dict[str, float | None]:
        return {
            name: None if value is None else round(value, 3)
            for name, value in (("mean", self.mean), ("median", self.median), ("p95", self.p95))
        }


@dataclass(frozen=True, slots=True)
class Fairness:
    """A project's GPU-hours against the sum over time of its shares, of all models together no more than it wants.

    (A job that may run on several models asks for its GPUs on each of them.)
    """

    got_gpu_hours: float
    due_gpu_hours: float

    @property
    def ratio(self) -> float | None:
        return self.got_gpu_hours / self.due_gpu_hours if self.due_gpu_hours else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """``allocation_rate``: per cent of the GPU-hours between the first arrival and the last end."""

    jobs: int
    ended: int
    never_started: int
    allocation_rate: float
    waiting_s: Spread
    completion_s: Spread
    preemptions: int
    lost_gpu_hours: float
    fairness: Mapping[str, Fairness]
    decisions: int
    simulated_s: float

    @property
    def jain_index(self) -> float | None:
        """1 where every project got the same part of what it was due; 1/n where one got all."""
        ratios = [part.ratio for part in self.fairness.values() if part.ratio is not None]
        squares = sum(ratio * ratio for ratio in ratios)
        return sum(ratios) ** 2 / (len(ratios) * squares) if squares else None

    def document(self) -> dict[str, Any]:
        index = self.jain_index
        return {
            "schema": "replay/1",
            "jobs": self.jobs,
            "ended": self.ended,
            "never_started": self.never_started,
            "allocation_rate": round(self.allocation_rate, 4),
            "waiting_s": self.waiting_s.document(),
            "completion_s": self.completion_s.document(),
            "preemptions": self.preemptions,
            "lost_gpu_hours": round(self.lost_gpu_hours, 4),
            "fairness": {
                "jain_index": None if index is None else round(index, 4),
                "projects": {
                    name: {
                        "got_gpu_hours": round(part.got_gpu_hours, 4),
                        "due_gpu_hours": round(part.due_gpu_hours, 4),
                        "got_by_due": None if part.ratio is None else round(part.ratio, 4),
                    }
                    for name, part in sorted(self.fairness.items())
                },
            },
            "decisions": self.decisions,
            "simulated_s": round(self.simulated_s, 3),
        }


@dataclass(slots=True)
class Meter:
    """Sums GPU-seconds between events."""

    capacity: Amounts
    allocated_gpu_s: float = 0
    got_gpu_s: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    due_gpu_s: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    simulated_s: float = 0
    preemptions: int = 0
    lost_gpu_s: float = 0
    decisions: int = 0

    def pass_time(self, seconds: float, use: Mapping[tuple[int, str], int], due: Mapping[int, int]) -> None:
        """In milli-GPU: ``use`` by project and model, ``due`` by project."""
        self.simulated_s += seconds
        for (project, _model), milli in use.items():
            self.allocated_gpu_s += milli / MILLI * seconds
            self.got_gpu_s[project] += milli / MILLI * seconds
        for project, milli in due.items():
            self.due_gpu_s[project] += milli / MILLI * seconds

    def fairness(self, names: Mapping[int, str]) -> dict[str, Fairness]:
        return {
            name: Fairness(self.got_gpu_s[project] / _HOUR_S, self.due_gpu_s[project] / _HOUR_S)
            for project, name in names.items()
        }

    @property
    def allocation_rate(self) -> float:
        whole = sum(self.capacity.values()) / MILLI * self.simulated_s
        return 100 * self.allocated_gpu_s / whole if whole else 0.0

    @property
    def lost_gpu_hours(self) -> float:
        return self.lost_gpu_s / _HOUR_S


def capacity_of(models: Iterable[str]) -> dict[str, int]:
    """Milli-GPU by model, from the model of each device."""
    found: dict[str, int] = defaultdict(int)
    for model in models:
        found[model] += MILLI
    return dict(found)
