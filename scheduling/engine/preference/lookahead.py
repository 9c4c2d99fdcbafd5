"""What a node is still good for: the GPUs that streams of usual jobs would fill on it, on average."""

import random
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from scheduling.engine.model import MILLI, Ask
from scheduling.engine.preference.mix import Mix
from scheduling.engine.room import Card, Ints

NodeState = tuple[Card, tuple[int, ...], int, int]
"""Free milli-GPU of each device in ascending order, free CPU, free memory."""

STREAMS = 64
LENGTH = 30
_SEED = 20230711
_BITS = 256
"""A device taken in part is coded as free · 256 + its column, so that the least code names its column, too."""
_NONE = 1 << 40


class Lookahead:
    """Values by state. They are kept, up to ``most_kept``; a value depends on the mix and the state alone."""

    def __init__(self, mix: Mix, most_kept: int = 200_000) -> None:
        self._mix = mix
        self._most_kept = most_kept
        self._most_cpus = LENGTH * max((ask.cpus for ask, _weight in mix.parts), default=0)
        self._most_memory = LENGTH * max((ask.memory_bytes for ask, _weight in mix.parts), default=0)
        self._streams: dict[Card, Ints] = {}
        self._values: dict[NodeState, float] = {}

    def losses(self, states: Sequence[NodeState], ask: Ask) -> list[float]:
        """How much each state's value falls when it takes a member of this ask."""
        if len(self._values) > self._most_kept:
            self._values.clear()
        before = [self._canonical(state) for state in states]
        after = [self._canonical(_after(state, ask)) for state in states]
        self._learn((*before, *after))
        return [self._values[old] - self._values[new] for old, new in zip(before, after, strict=True)]

    def _canonical(self, state: NodeState) -> NodeState:
        """More CPU or memory than the longest demand could take is as good as that."""
        card, frees, cpus, memory = state
        return card, frees, min(cpus, self._most_cpus), min(memory, self._most_memory)

    def _learn(self, states: Iterable[NodeState]) -> None:
        fresh = [state for state in dict.fromkeys(states) if state not in self._values]
        if fresh:
            for card in {state[0] for state in fresh} - self._streams.keys():
                self._streams[card] = _streams(self._mix, card)
            draws = np.stack([self._streams[card] for card, _frees, _cpus, _memory in fresh], axis=2)
            self._values.update(zip(fresh, _filled(fresh, draws).tolist(), strict=True))


def _after(state: NodeState, ask: Ask) -> NodeState:
    """Where the member does not fit yet, the emptiest device gives all that it has."""
    card, frees, cpus, memory = state
    if ask.is_exclusive:
        return card, (0,) * len(frees), 0, 0
    left, each = list(frees), min(ask.milli, MILLI)
    for _ in range(min(ask.devices, len(left))):
        giving = next((free for free in left if free >= each), max(left))
        left.remove(giving)
        left.append(max(0, giving - each))
    return card, tuple(sorted(left)), cpus - ask.cpus, memory - ask.memory_bytes


def _streams(mix: Mix, card: Card) -> Ints:
    """Part of a GPU, whole GPUs, CPU and memory [4, step, stream] of jobs drawn from what suits the card; zeros if
    nothing does. All cards see the same quantiles."""
    parts = [(ask, weight) for ask, weight in mix.parts if card.suits(ask)]
    if not parts:
        return np.zeros((4, LENGTH, STREAMS), dtype=np.int64)
    bounds = list(accumulate(weight for _ask, weight in parts))
    source = random.Random(_SEED)  # noqa: S311 - fixed streams, not secrets
    draws = [
        [min(bisect(bounds, source.random() * bounds[-1]), len(parts) - 1) for _ in range(STREAMS)]
        for _ in range(LENGTH)
    ]
    needs = [_needs(ask) for ask, _weight in parts]
    return np.ascontiguousarray(np.array(needs, dtype=np.int64)[np.array(draws)].transpose(2, 0, 1))


def _needs(ask: Ask) -> tuple[int, int, int, int]:
    is_part = ask.milli < MILLI
    return ask.milli if is_part else 0, 0 if is_part else ask.devices, ask.cpus, ask.memory_bytes


def _filled(states: Sequence[NodeState], draws: Ints) -> NDArray[np.float64]:
    """Mean milli-GPU that the streams [4, step, state, stream] fill from each state. A part goes to the fullest device
    with enough left, else opens a free one; what does not fit is left out."""
    nodes = _Nodes.of(states)
    flat = draws.reshape(4, LENGTH, -1)
    filled = np.zeros(flat.shape[2], dtype=np.int64)
    for step in range(LENGTH):
        filled += nodes.take(flat[:, step])
    return np.asarray(filled.reshape(len(states), STREAMS).mean(axis=1))


@dataclass(slots=True)
class _Nodes:
    """One node per state and stream. ``parts`` [device, node] are codes; ``opened`` columns of it are in use."""

    parts: Ints
    whole: Ints
    opened: Ints
    cpus: Ints
    memory: Ints

    @classmethod
    def of(cls, states: Sequence[NodeState]) -> "_Nodes":
        width = max(1, *(len(frees) for _kind, frees, _cpus, _memory in states))
        codes = np.tile(np.arange(width, dtype=np.int64)[:, None], (1, len(states)))
        rest = np.zeros((4, len(states)), dtype=np.int64)
        for at, (_kind, frees, cpus, memory) in enumerate(states):
            parts = [free for free in frees if 0 < free < MILLI]
            codes[: len(parts), at] += np.array(parts, dtype=np.int64) * _BITS
            rest[:, at] = frees.count(MILLI), len(parts), cpus, memory
        whole, opened, free_cpus, free_memory = np.repeat(rest, STREAMS, axis=1)
        return cls(np.repeat(codes, STREAMS, axis=1), whole, opened, free_cpus, free_memory)

    def take(self, needs: Ints) -> Ints:
        """Place one job on each node where it fits; the milli-GPU it fills there."""
        part, devices, cpus, memory = needs
        found = np.where(self.parts >= part * _BITS, self.parts, _NONE).min(axis=0)
        is_part, joins = part > 0, found < _NONE
        takes = np.where(is_part, ~joins, devices)
        fits = (self.cpus >= cpus) & (self.memory >= memory) & (self.whole >= takes)
        self.cpus -= cpus * fits
        self.memory -= memory * fits
        self.whole -= takes * fits
        is_part &= fits
        joined = np.flatnonzero(is_part & joins)
        self.parts[found[joined] % _BITS, joined] -= part[joined] * _BITS
        opens = np.flatnonzero(is_part & ~joins)
        self.parts[self.opened[opens], opens] += (MILLI - part[opens]) * _BITS
        self.opened[opens] += 1
        filled: Ints = (part + devices * MILLI) * fits
        return filled
