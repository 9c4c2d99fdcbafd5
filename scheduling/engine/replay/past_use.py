"""The decayed part of each model's capacity-hours that a project used (docs/scheduling.md: past use)."""

import math
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from scheduling.engine.model import MILLI, Amounts

_STEPS = 10**6
"""Parts are rounded to millionths: shares need no more, and fractions stay small."""


class PastUse:
    """The capacity, in milli-GPU, was always there, unused before the first moment: a cluster that is new to the replay
    is not new, and shares do not jump with the first hours."""

    def __init__(self, half_life_s: float, capacity: Amounts) -> None:
        self._half_life_s = half_life_s
        self._used: dict[tuple[int, str], float] = defaultdict(float)
        self._capacity = {model: milli / MILLI * half_life_s / math.log(2) for model, milli in capacity.items()}

    def pass_time(self, seconds: float, use: Mapping[tuple[int, str], int]) -> None:
        """``use`` in milli-GPU by project and model, constant during these seconds."""
        kept = 0.5 ** (seconds / self._half_life_s)
        worth = (1 - kept) * self._half_life_s / math.log(2)
        for key in self._used:
            self._used[key] *= kept
        for key, milli in use.items():
            self._used[key] += milli / MILLI * worth

    def credit(self, project: int, model: str, gpu_seconds: float) -> None:
        """Work lost to an interruption does not count as used."""
        self._used[(project, model)] = max(0.0, self._used[(project, model)] - gpu_seconds)

    def parts(self) -> dict[int, dict[str, Fraction]]:
        found: dict[int, dict[str, Fraction]] = defaultdict(dict)
        for (project, model), used in sorted(self._used.items()):
            capacity = self._capacity.get(model, 0)
            found[project][model] = Fraction(round(used / capacity * _STEPS), _STEPS) if capacity else Fraction(0)
        return found
