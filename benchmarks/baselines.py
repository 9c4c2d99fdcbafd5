"""What the placement is compared with: best fit and fragmentation gradient descent (FGD), as published (Weng et al.,
USENIX ATC 2023), on the engine's own rooms.

As in the experiment scores are whole numbers from 0 to 100, and of equal scores the node wins that comes first after
all were renamed at random.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from scheduling.engine.model import MILLI, Ask
from scheduling.engine.preference.scarcity import Floats
from scheduling.engine.room import Ints, Room, Spot

_CPU_MILLI, _GPU_MILLI = 128_000, 8_000
"""The largest node: what best fit divides by."""
_POPULAR = 0.95
"""FGD measures fragmentation for the most frequent shapes, up to this part of the jobs."""
Shape = tuple[str, tuple[int, ...], int]
"""GPU model, free milli-GPU in ascending order, free CPU as the number of usual demands for CPU that it meets."""


def _renamed(room: Room, seed: int) -> Ints:
    order = list(range(len(room.nodes)))
    random.Random(seed).shuffle(order)
    return np.array(order, dtype=np.int64)


class BestFit:
    """Least CPU and GPU left over, each as a part of the largest node's, at equal weights."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._rank: Ints | None = None

    def __call__(self, room: Room, ask: Ask, project: int) -> Spot | None:
        if self._rank is None:
            self._rank = _renamed(room, self._seed)
        rows = np.flatnonzero(room.fits(ask, project))
        if not len(rows):
            return None
        cpu = (room.cpus[room.host[rows]] - ask.cpus) / _CPU_MILLI
        gpu = (np.maximum(room.free[rows], 0).sum(axis=1) - ask.milli) / _GPU_MILLI
        score = ((1 - (cpu + gpu) / 2) * 100).astype(np.int64)
        return room.spot(int(rows[np.lexsort((self._rank[rows], -score))[0]]), ask, project)


@dataclass(frozen=True, slots=True)
class _Usual:
    """The frequent shapes as arrays; ``cpu`` counts the steps of CPU that a shape needs."""

    weight: Floats
    milli: Ints
    devices: Ints
    cpu: Ints
    models: list[frozenset[str]]


class FragmentationGradient:
    """The node, and of a part the device, where the GPU that usual jobs could not use grows least."""

    def __init__(self, asks: Iterable[Ask], seed: int) -> None:
        counts = Counter((ask.cpus, ask.milli, ask.gpu_models) for ask in asks).most_common()
        total, seen, kept = sum(count for _shape, count in counts), 0, 0
        while seen < _POPULAR * total:
            seen += counts[kept][1]
            kept += 1
        self._steps = sorted({cpus for (cpus, _milli, _models), _count in counts[:kept]})
        self._usual = _Usual(
            np.array([count / seen for _shape, count in counts[:kept]]),
            np.array([min(milli, MILLI) for (_c, milli, _models), _count in counts[:kept]], dtype=np.int64),
            np.array([-(-milli // MILLI) for (_c, milli, _models), _count in counts[:kept]], dtype=np.int64),
            np.array([self._steps.index(cpus) + 1 for (cpus, _m, _s), _count in counts[:kept]], dtype=np.int64),
            [models for (_c, _milli, models), _count in counts[:kept]],
        )
        self._seed = seed
        self._rank: Ints | None = None
        self._fragments: dict[Shape, float] = {}
        self._scores: dict[tuple[int, int], dict[int, int]] = {}

    def __call__(self, room: Room, ask: Ask, project: int) -> Spot | None:
        if self._rank is None:
            self._rank = _renamed(room, self._seed)
        rows = np.flatnonzero(room.fits(ask, project))
        if not len(rows):
            return None
        scores = self._node_scores(room, ask, room.states()[rows])
        row = int(rows[np.lexsort((self._rank[rows], -scores))[0]])
        if not 0 < ask.milli < MILLI:
            return room.spot(row, ask, project)
        options = [
            (-self._gain(room, row, ask, free), column)
            for column, free in enumerate(room.free[row].tolist())
            if free >= ask.milli
        ]
        return Spot(row, (min(options)[1],), ask.milli)

    def _node_scores(self, room: Room, ask: Ask, states: Ints) -> Ints:
        known = self._scores.setdefault((ask.cpus, ask.milli), {})
        fresh = [state for state in np.unique(states).tolist() if state not in known]
        wanted: list[tuple[Shape, list[Shape]]] = []
        for state in fresh:
            card, frees, cpus, _memory = room.known_states()[state]
            model = room.cards[card].gpu_model
            taken = sorted({free for free in frees if free >= ask.milli}) if 0 < ask.milli < MILLI else [0]
            wanted.append(
                (self._shape(model, frees, cpus), [self._after(model, frees, cpus, ask, free) for free in taken])
            )
        self._measure(shape for before, after in wanted for shape in (before, *after))
        for state, (before, after) in zip(fresh, wanted, strict=True):
            known[state] = max(self._score(before, shape) for shape in after)
        return np.array([known[state] for state in states.tolist()], dtype=np.int64)

    def _gain(self, room: Room, row: int, ask: Ask, free: int) -> int:
        card, frees, cpus, _memory = room.known_states()[int(room.states()[row])]
        model = room.cards[card].gpu_model
        before, after = self._shape(model, frees, cpus), self._after(model, frees, cpus, ask, free)
        self._measure((before, after))
        return self._score(before, after)

    def _score(self, before: Shape, after: Shape) -> int:
        gain = (self._fragments[before] - self._fragments[after]) / 1000
        return int(100 / (1 + np.exp(-gain)))

    def _shape(self, model: str, frees: Sequence[int], cpus: int) -> Shape:
        return model, tuple(frees), int(np.searchsorted(self._steps, cpus, side="right"))

    def _after(self, model: str, frees: Sequence[int], cpus: int, ask: Ask, free: int) -> Shape:
        left = list(frees)
        for _ in range(ask.devices):
            left.remove(MILLI if ask.milli >= MILLI else free)
            left.append(0 if ask.milli >= MILLI else free - ask.milli)
        return self._shape(model, sorted(left), cpus - ask.cpus)

    def _measure(self, shapes: Iterable[Shape]) -> None:
        fresh: list[Shape] = sorted({shape for shape in shapes if shape not in self._fragments})
        for width in sorted({len(frees) for _model, frees, _cpu in fresh}):
            same = [shape for shape in fresh if len(shape[1]) == width]
            self._fragments.update(zip(same, self._fragmented(same).tolist(), strict=True))

    def _fragmented(self, shapes: Sequence[Shape]) -> Floats:
        """Milli-GPU that a usual job could not use, on average over the usual jobs: all of them where it does not fit,
        else those on devices with too little."""
        usual = self._usual
        frees = np.array([frees for _model, frees, _cpu in shapes], dtype=np.int64)
        cpu = np.array([cpu for _model, _frees, cpu in shapes], dtype=np.int64)
        open_to = np.array([[not allowed or model in allowed for allowed in usual.models] for model, _f, _c in shapes])
        enough = frees[:, None, :] >= usual.milli[None, :, None]
        fits = open_to & (cpu[:, None] >= usual.cpu) & (enough.sum(axis=2) >= usual.devices) & (usual.devices > 0)
        too_small = np.where(enough, 0, frees[:, None, :]).sum(axis=2)
        return cast(Floats, np.where(fits, too_small, frees.sum(axis=1)[:, None]) @ usual.weight)
