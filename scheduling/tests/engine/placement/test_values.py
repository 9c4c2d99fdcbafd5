"""The two measures behind the preference, on cases that can be counted by hand."""

import math

import numpy as np
import pytest

from scheduling.engine.model import Ask, NodeState
from scheduling.engine.preference import Mix
from scheduling.engine.preference.lookahead import Lookahead
from scheduling.engine.preference.scarcity import NodeType, Scarcity, types_of
from scheduling.engine.room import UNCOUNTED, Card, Room
from scheduling.tests.engine.placement.test_room import A100, T4, node

CARD = Card(T4, 0, "")
MUCH = UNCOUNTED


def loss(mix: Mix, frees: tuple[int, ...], ask: Ask, cpus: int = MUCH, memory: int = MUCH) -> float:
    return Lookahead(mix).losses([(CARD, frees, cpus, memory)], ask)[0]


def test_one_kind_of_job_fills_what_it_divides() -> None:
    halves = Mix.of([Ask(400)])
    assert loss(halves, (1000,), Ask(400)) == 400
    assert loss(halves, (600,), Ask(400)) == 400
    assert loss(halves, (1000,), Ask(300)) == 400
    assert loss(halves, (700,), Ask(300)) == 0
    assert loss(halves, (300, 1000), Ask(300)) == 0


def test_whole_jobs_need_whole_devices_together() -> None:
    pairs = Mix.of([Ask(2000)])
    assert loss(pairs, (1000, 1000, 1000), Ask(1000)) == 0
    assert loss(pairs, (1000, 1000, 1000), Ask(2000)) == 2000
    assert loss(pairs, (0, 1000, 1000), Ask(500)) == 2000
    assert loss(pairs, (500, 1000, 1000), Ask(500)) == 0


def test_cpu_and_memory_bound_what_gpus_are_good_for() -> None:
    mix = Mix.of([Ask(1000, cpus=4, memory_bytes=10)])
    assert loss(mix, (1000, 1000), Ask(0, cpus=1), cpus=8) == 1000
    assert loss(mix, (1000, 1000), Ask(0, cpus=4), cpus=12) == 0
    assert loss(mix, (1000, 1000), Ask(0, memory_bytes=1), memory=20) == 1000


def test_jobs_without_gpus_take_cpu_from_the_others() -> None:
    """Of a node with one core and a GPU, the first job of the stream takes all: half of the streams fill nothing."""
    mix = Mix.of([Ask(0, cpus=1), Ask(1000, cpus=1)])
    assert 300 < loss(mix, (1000,), Ask(1000, cpus=1), cpus=1) < 700


def test_an_exclusive_job_leaves_nothing() -> None:
    assert loss(Mix.of([Ask(500)]), (500, 1000), Ask(0, is_exclusive=True)) == 1500


def test_what_suits_nothing_has_no_value() -> None:
    assert loss(Mix.of([Ask(1000, gpu_models=frozenset({A100}))]), (1000,), Ask(1000)) == 0
    assert loss(Mix(), (), Ask(0)) == 0


def test_where_it_does_not_fit_yet_it_takes_what_there_is() -> None:
    mix = Mix.of([Ask(250)])
    assert loss(mix, (500, 750), Ask(1000)) == 750
    assert loss(mix, (500, 750), Ask(3000)) == 1250
    assert loss(mix, (), Ask(1000)) == 0


def test_what_is_forgotten_is_found_again() -> None:
    mix, states = Mix.of([Ask(470), Ask(810)]), [(CARD, (530, 1000), MUCH, MUCH), (CARD, (190,), MUCH, MUCH)]
    forgetful, keen = Lookahead(mix, most_kept=0), Lookahead(mix)
    for _ in range(2):
        assert forgetful.losses(states, Ask(190)) == keen.losses(states, Ask(190)) != [0, 0]


def chances(room: Room, mix: Mix) -> tuple[Scarcity, np.ndarray]:
    types, rows = types_of(room)
    scarcity = Scarcity(types, mix)
    return scarcity, scarcity.chances(room, rows)


def chance(demand: float, variance: float, left: float) -> float:
    return 1 / (1 + math.exp(-1.702 * (demand - left) / math.sqrt(variance + (0.1 * demand) ** 2)))


def test_a_price_is_the_chance_that_captive_demand_exceeds_the_room() -> None:
    """Six GPUs are left, so six jobs are expected, three of them on a T4 only, of which there are two."""
    room = Room([node(1, T4, T4), node(2, *[A100] * 4)])
    scarcity, found = chances(room, Mix.of([Ask(1000, gpu_models=frozenset({T4})), Ask(1000)]))
    assert scarcity.sizes == (0, 1)
    short = chance(3000, 3 * 1000**2, 2000)
    everywhere = chance(6000, 6 * 1000**2, 6000)
    assert found[0].tolist() == pytest.approx([short, 0, 0], abs=1e-9)
    assert found[1].tolist() == pytest.approx([short, everywhere, 0], abs=1e-9)


def test_more_demand_makes_room_scarcer() -> None:
    types, rows = types_of(room := Room([node(1, T4, T4), node(2, *[A100] * 4)]))
    mix = Mix.of([Ask(1000, gpu_models=frozenset({T4})), Ask(1000)])
    found = Scarcity(types, mix, demand=1.5).chances(room, rows)
    assert found[0].tolist() == pytest.approx([chance(4500, 4.5 * 1000**2, 2000), 0, 0], abs=1e-9)


def test_room_for_large_jobs_is_counted_in_such_jobs() -> None:
    """Two nodes of four, one device of which is taken: room for one job of four, and two jobs are expected."""
    room = Room([node(1, *[T4] * 4), node(2, *[T4] * 4)])
    ask = Ask(1000)
    room.take(room.spot(0, ask, 0), ask, 0)
    scarcity, found = chances(room, Mix.of([Ask(4000)]))
    assert scarcity.sizes == (0, 4)
    assert found[1].tolist() == pytest.approx([chance(7000, 7000 * 4000, 4000), 0], abs=1e-9)
    numbers = np.array([0, 0])
    cost = scarcity.cost(found, numbers, np.array([3, 4]), np.array([1, 1]), np.array([1000, 1000]))
    assert cost.tolist() == pytest.approx([0, 4000 * found[1][0]])


def test_nodes_that_take_nothing_are_no_room() -> None:
    room = Room([node(1, T4, state=NodeState.DRAINING), node(2, A100), node(3, T4, state=NodeState.DOWN)])
    types, rows = types_of(room)
    assert types == (NodeType(Card(A100, 0, ""), 1, UNCOUNTED, UNCOUNTED),)
    assert rows.tolist() == [1, 0, 1]
    found = Scarcity(types, Mix.of([Ask(1000, gpu_models=frozenset({T4}))])).chances(room, rows)
    assert found.tolist() == [[0, 0]]


def test_a_full_cluster_has_prices_still() -> None:
    room = Room([node(1, T4)])
    room.take(room.spot(0, Ask(1000), 0), Ask(1000), 0)
    assert np.isfinite(chances(room, Mix.of([Ask(1000)]))[1]).all()
