"""Series over equal steps, in which a step without a sample is a gap (None), never zero. Pure.

What comes from the database are sums and counts by step, so that means of any width can be made of them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""Origin of all grids: the same instant always falls into the same step, whoever asks."""


@dataclass(frozen=True, slots=True)
class Window:
    """``[start, end)`` cut into steps of ``step_s`` seconds; ``start`` lies on the grid of that step."""

    start: datetime
    end: datetime
    step_s: int

    @classmethod
    def covering(cls, start: datetime, end: datetime, step_s: int) -> "Window":
        """The smallest window on the grid that covers ``[start, end)``. ``end`` comes after ``start``."""
        step = timedelta(seconds=step_s)
        first = EPOCH + step * ((start - EPOCH) // step)
        count = max(1, math.ceil((end - first) / step))
        return cls(first, first + step * count, step_s)

    @property
    def count(self) -> int:
        return round((self.end - self.start).total_seconds()) // self.step_s

    @property
    def instants(self) -> list[datetime]:
        """The start of each step."""
        return [self.start + timedelta(seconds=self.step_s * index) for index in range(self.count)]


@dataclass(frozen=True, slots=True)
class Cell:
    """The samples of one step. ``n`` counts those with a utilisation; sums and bounds are None without one.

    ``low_pct`` and ``high_pct`` are the lowest and highest mean of one GPU; ``memory_bytes`` the highest value of one
    GPU; ``power_mw`` the sum over the GPUs of their means; ``gpus`` those that sent anything.
    """

    n: int
    utilisation_sum: float | None
    low_pct: float | None
    high_pct: float | None
    memory_bytes: int | None
    power_mw: float | None
    gpus: int


@dataclass(frozen=True, slots=True)
class Series:
    """Columns, one entry per step. None is a gap."""

    window: Window
    utilisation_pct: list[float | None]
    low_pct: list[float | None]
    high_pct: list[float | None]
    memory_used_bytes: list[int | None]
    power_w: list[float | None]
    gpus: list[int]
    n: list[int]

    @property
    def mean_pct(self) -> float | None:
        """Mean over all samples of the window, not over its steps: a step with one sample weighs one."""
        pairs = [(mean, n) for mean, n in zip(self.utilisation_pct, self.n, strict=True) if mean is not None]
        total = sum(n for _, n in pairs)
        return sum(mean * n for mean, n in pairs) / total if total else None


def without_running_gap(whole: Series, at: datetime) -> Series:
    """Without its last step if that is not over at ``at`` and nothing of it has arrived: not yet is no gap."""
    if whole.window.end <= at or whole.window.count == 1 or whole.gpus[-1]:
        return whole
    end = whole.window.end - timedelta(seconds=whole.window.step_s)
    return Series(
        window=Window(whole.window.start, end, whole.window.step_s),
        utilisation_pct=whole.utilisation_pct[:-1],
        low_pct=whole.low_pct[:-1],
        high_pct=whole.high_pct[:-1],
        memory_used_bytes=whole.memory_used_bytes[:-1],
        power_w=whole.power_w[:-1],
        gpus=whole.gpus[:-1],
        n=whole.n[:-1],
    )


EMPTY = Cell(0, None, None, None, None, None, 0)


def series(window: Window, cells: Mapping[int, Cell]) -> Series:
    """``cells`` by index of their step; an absent step is a gap. Indices outside of the window are ignored."""
    row = [cells.get(index, EMPTY) for index in range(window.count)]
    return Series(
        window=window,
        utilisation_pct=[_mean(cell) for cell in row],
        low_pct=[cell.low_pct for cell in row],
        high_pct=[cell.high_pct for cell in row],
        memory_used_bytes=[cell.memory_bytes for cell in row],
        power_w=[None if cell.power_mw is None else cell.power_mw / 1000 for cell in row],
        gpus=[cell.gpus for cell in row],
        n=[cell.n for cell in row],
    )


def _mean(cell: Cell) -> float | None:
    return None if cell.utilisation_sum is None or cell.n == 0 else cell.utilisation_sum / cell.n


def held_counts(window: Window, intervals: Iterable[tuple[int, datetime, datetime | None]]) -> list[int]:
    """How many devices were held at some time during each step; ``intervals`` are (device, start, end or None)."""
    held: list[set[int]] = [set() for _ in range(window.count)]
    step = timedelta(seconds=window.step_s)
    for device, start, end in intervals:
        first = max(0, (start - window.start) // step)
        last = window.count if end is None else min(window.count, -((window.start - end) // step))
        for index in range(first, last):
            held[index].add(device)
    return [len(devices) for devices in held]


def default_step(seconds: float, points: int = 240, least_s: int = 30) -> int:
    """A round step that gives at most ``points`` steps; never under ``least_s``, where jitter looks like gaps."""
    wanted = seconds / points
    for step in (10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600):
        if step >= max(wanted, least_s):
            return step
    return 86400


def mean_of(values: Iterable[float | None]) -> float | None:
    """Mean of what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
