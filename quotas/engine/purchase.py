"""What projects buy when GPUs have prices: each the pairs that rank first, until its need is met."""

from dataclasses import dataclass

import numpy as np

from quotas.engine.program import Flags, Floats, Ints, Program


def unit_prices(program: Program, most: Floats, prices: Floats) -> Floats:
    """What one effective unit of each pair costs; infinite where there is none to be had."""
    useful = (program.suitability > 0) & (most > program.least)
    return np.where(useful, prices[program.model] / np.where(useful, program.suitability, 1.0), np.inf)


@dataclass(frozen=True, slots=True)
class Purchase:
    """The pairs of each project in the order of a rank, and how much each holds above its floor, in effective units."""

    order: Ints
    project: Ints
    held: Floats
    before: Floats

    @classmethod
    def of(cls, program: Program, most: Floats, rank: Floats) -> "Purchase":
        """Lowest rank first, none of an infinite one."""
        order = np.lexsort((rank, program.project))
        held = np.where(np.isfinite(rank), program.suitability * (most - program.least), 0.0)[order]
        return cls(order, program.project[order], held, program.before(held, order))

    def bought(self, need: Floats) -> Floats:
        """Effective units of each pair, for what each project needs above its floors."""
        bought = np.zeros(len(self.order))
        bought[self.order] = np.clip(need[self.project] - self.before, 0.0, self.held)
        return bought

    def last(self, is_bought: Flags) -> Flags:
        """Of the pairs that a project buys, the last: only this one may be bought in part."""
        is_last, buys = np.zeros(len(self.order), dtype=bool), is_bought[self.order]
        goes_on = np.append((self.project[1:] == self.project[:-1]) & buys[1:], False)
        is_last[self.order] = buys & ~goes_on[: len(buys)]
        return is_last
