"""An answer when the time is up: floors kept, then granule by granule to the lowest level. Feasible, not exact."""

import numpy as np

from quotas.engine.claims import Claims
from quotas.engine.fairness import Bottleneck, Shares, level_of
from quotas.engine.movement import Moved
from quotas.engine.program import Flags, Floats, Program
from quotas.engine.purchase import Purchase, unit_prices
from quotas.engine.rounding import Rounded, hand_out


def greedy(program: Program) -> tuple[Shares, Moved, Rounded]:
    """The same kind of answer as the exact way's, whose shares are the whole GPUs themselves."""
    gpus = hand_out(program, program.least)
    effective = program.effective(gpus)
    nothing: tuple[Bottleneck, ...] = ()
    level = level_of(program, effective)
    shares = Shares(effective, level, nothing, Claims(), np.zeros(program.models), 0)
    return shares, Moved(gpus, effective), Rounded(gpus, ())


def gap_to_bound(program: Program, effective: Floats) -> float:
    """How far the lowest level of the first turn may be below the best possible, from 0 to 1.

    The bound comes from any prices: at level t the projects of the turn need at least the GPUs that their cheapest
    effective units take. One price for all models, and each model alone, are tried; the lowest bound counts.
    """
    first = (program.turn == 0) & (program.full > 0)
    if not first.any():
        return 0.0
    lowest = float(level_of(program, effective)[first].min())
    prices = [np.ones(program.models), *np.eye(program.models)]
    bound = min(_highest_level(program, first, price) for price in prices)
    return max(0.0, 1.0 - lowest / bound) if bound > 0 else 0.0


def _highest_level(program: Program, first: Flags, price: Floats) -> float:
    """The level at which the cheapest way to meet the demands costs as much as there is, by halving."""
    rate = unit_prices(program, program.most, price)
    purchase, cost = Purchase.of(program, program.most, rate), np.where(np.isfinite(rate), rate, 0.0)
    floor = program.effective(program.least)
    room = float(price @ (program.usable - program.by_model(program.least)))
    top = np.maximum(floor, np.minimum(program.attainable(program.most), program.full))

    def costs(level: float) -> float:
        need = np.where(first, np.clip(program.full * program.weight * level, floor, top) - floor, 0.0)
        return float(cost @ purchase.bought(need))

    low, high = 0.0, float((top / np.maximum(program.full * program.weight, 1e-300))[first].min())
    if costs(high) <= room:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if costs(middle) <= room else (low, middle)
    return high
