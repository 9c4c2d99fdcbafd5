"""Demands at a level, and the level at which they cost a given amount."""

import numpy as np
import pytest

from quotas.engine.demand import Demand
from quotas.engine.overload import Overload


def _demand(rate: list[float], floor: list[float], ceiling: list[float]) -> Demand:
    return Demand(np.arange(len(rate)), np.array(rate), np.array(floor), np.array(ceiling))


_TWO = _demand([10.0, 4.0], [2.0, 0.0], [8.0, 4.0])


@pytest.mark.parametrize(
    ("level", "amounts", "growth"),
    [
        (0.0, [2.0, 0.0], [0.0, 4.0]),
        (0.1, [2.0, 0.4], [0.0, 4.0]),
        (0.2, [2.0, 0.8], [10.0, 4.0]),
        (0.5, [5.0, 2.0], [10.0, 4.0]),
        (0.8, [8.0, 3.2], [0.0, 4.0]),
        (1.0, [8.0, 4.0], [0.0, 0.0]),
        (9.0, [8.0, 4.0], [0.0, 0.0]),
    ],
)
def test_a_demand_lies_between_floor_and_ceiling(level: float, amounts: list[float], growth: list[float]) -> None:
    assert _TWO.at(level).tolist() == pytest.approx(amounts)
    assert _TWO.growth(level).tolist() == growth


def test_the_top_is_where_the_last_has_all() -> None:
    assert _TWO.top() == 1.0
    assert _TWO.is_full(0.8).tolist() == [True, False]


@pytest.mark.parametrize("level", [0.05, 0.2, 0.5, 0.8, 0.9])
def test_the_level_of_a_cost_is_the_root(level: float) -> None:
    marginal = np.array([1.0, 0.5])
    cost = float(marginal @ _TWO.at(level))
    assert _TWO.level_of_cost(marginal, cost, 1.0) == pytest.approx(level)


def test_costs_beyond_the_line_give_its_ends() -> None:
    marginal = np.array([1.0, 0.5])
    assert _TWO.level_of_cost(marginal, -1.0, 1.0) == 0.0
    assert _TWO.level_of_cost(marginal, 99.0, 0.95) == 0.95


def test_a_dual_lowers_the_level_and_one_without_price_does_not() -> None:
    dual = Overload(1.4, np.array([1.0]), np.array([1.0, 1.0]))
    assert _TWO.lowered(0.5, dual) == pytest.approx(0.4)
    assert _TWO.lowered(0.5, Overload(1.4, np.array([1.0]), np.zeros(2))) is None
