"""What projects that rise together demand at a level: piecewise linear, so that its roots are exact."""

from dataclasses import dataclass

import numpy as np

from quotas.engine.overload import NOTHING, Overload
from quotas.engine.program import Flags, Floats, Ints

SAME = 1e-13
"""Two levels closer than this, relatively, are one."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What each of these projects demands at a level: a line from zero, cut at floor and ceiling."""

    projects: Ints
    rate: Floats
    floor: Floats
    ceiling: Floats

    def at(self, level: float) -> Floats:
        return np.clip(self.rate * level, self.floor, self.ceiling)

    def growth(self, level: float) -> Floats:
        """How fast each demand grows just above the level."""
        reached = self.rate * level
        return np.where((reached >= self.floor - NOTHING) & (reached < self.ceiling - NOTHING), self.rate, 0.0)

    def is_full(self, level: float) -> Flags:
        """Who has all it can attain at this level."""
        return self.rate * level >= self.ceiling - NOTHING

    def top(self) -> float:
        """The level at which everybody has all it can attain."""
        return float((self.ceiling / self.rate).max())

    def lowered(self, level: float, dual: Overload) -> float | None:
        """The largest lower level that the dual does not exclude; none if no demand has a price.

        Overload at level t' is at least ``amount + Σ marginal × (demand(t') − demand(t))``: piecewise linear, rising.
        """
        has_price = dual.marginal[self.projects] > NOTHING
        if not has_price.any():
            return None
        marginal = dual.marginal[self.projects][has_price]
        part = Demand(self.projects[has_price], self.rate[has_price], self.floor[has_price], self.ceiling[has_price])
        return part.level_of_cost(marginal, float(marginal @ part.at(level)) - dual.amount, level)

    def level_of_cost(self, marginal: Floats, cost: float, most: float) -> float:
        """The level at which the demands cost this much, found between the bends of the cost's line."""
        bends = np.concatenate([self.floor, self.ceiling]) / np.concatenate([self.rate, self.rate])
        turns = np.concatenate([marginal * self.rate, -marginal * self.rate])
        order = np.argsort(bends, kind="stable")
        bends, slopes = bends[order], np.cumsum(turns[order])
        costs = float(marginal @ self.floor) + np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(bends))])
        place = int(np.searchsorted(costs, cost))
        if place == 0:
            return float(bends[0])
        if place == len(bends):
            return most
        return min(most, float(bends[place - 1] + (cost - costs[place - 1]) / slopes[place - 1]))
