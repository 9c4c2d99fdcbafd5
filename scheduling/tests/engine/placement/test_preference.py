"""Where a job goes: least fragmented, whole nodes for whole-node jobs, scarce models last, then topology, names."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.engine.model import Ask, Node, NodeState
from scheduling.engine.preference import Mix, Preference
from scheduling.engine.preference.choosing import CLOSEST
from scheduling.engine.room import Room, Spot
from scheduling.tests.engine.placement.test_room import A100, T4, arrivals, asks, fill, node, nodes

USUAL = Mix.of([Ask(470, cpus=2)] * 3 + [Ask(810, cpus=2)] * 3 + [Ask(1000, cpus=4)] * 3 + [Ask(8000)])


def names(room: Room, preference: Preference, ask: Ask, count: int = 1, project: int = 0) -> list[str]:
    rows = np.flatnonzero(room.fits(ask, project))
    return [room.nodes[row].name for row in preference.best(room, ask, rows, count)]


def occupy(room: Room, name: str, *millis: int) -> None:
    """Fill a node from its first device on."""
    row = next(at for at, machine in enumerate(room.nodes) if machine.name == name)
    for column, milli in enumerate(millis):
        room.take(Spot(row, (column,), milli), Ask(milli), 0)


# Without a mix: best fit


def test_without_a_mix_least_is_left_over() -> None:
    room = Room([node(1, *[T4] * 4), node(2, *[T4] * 2), node(3, *[T4] * 4)])
    occupy(room, "n3", 1000)
    assert names(room, Preference(), Ask(1000)) == ["n2"]
    assert names(room, Preference(), Ask(3000)) == ["n3"]
    occupy(room, "n1", 1000, 1000, 1000, 300)
    assert names(room, Preference(), Ask(500)) == ["n1"]
    assert names(room, Preference(), Ask(700)) == ["n1"]


def test_without_a_mix_equal_nodes_go_by_name() -> None:
    room = Room([node(3, T4), node(2, T4), node(1, T4)])
    assert names(room, Preference(), Ask(1000), count=3) == ["n1", "n2", "n3"]


def test_a_job_without_gpus_leaves_gpus_alone() -> None:
    for preference in (Preference(), Preference(USUAL)):
        assert names(Room([node(1, T4, cpus=8), node(2, cpus=8)]), preference, Ask(0, cpus=4)) == ["n2"]


# With a mix


def test_a_part_goes_where_its_rest_is_of_use() -> None:
    """470 beside 470 wastes 60; beside a free device, which 810 could take, it would waste more."""
    room = Room([node(1, T4, cpus=64), node(2, T4, cpus=64)])
    occupy(room, "n2", 470)
    assert names(room, Preference(USUAL), Ask(470, cpus=2)) == ["n2"]


def test_looks_past_the_fullest_node_that_fits() -> None:
    """Best fit joins the device with 650 left, where 350 would be of no use; two of 470 fit well into a free one."""
    mix = Mix.of([Ask(300), Ask(650), Ask(470), Ask(470)])
    room = Room([node(1, T4), node(2, T4)])
    occupy(room, "n1", 350)
    rows = np.flatnonzero(room.fits(Ask(470), 0))
    assert names(room, Preference(), Ask(470)) == ["n1"]
    assert [room.nodes[row].name for row in Preference(mix).order(room, Ask(470), rows)] == ["n2", "n1"]


def test_small_jobs_leave_whole_nodes_to_whole_node_jobs() -> None:
    room = Room([node(1, *[T4] * 8, cpus=64), node(2, *[T4] * 8, cpus=64)])
    occupy(room, "n2", 1000)
    for ask in (Ask(1000, cpus=4), Ask(470, cpus=2), Ask(2000)):
        assert names(room, Preference(USUAL), ask) == ["n2"]
    assert names(room, Preference(USUAL), Ask(8000)) == ["n1"]


def test_scarce_models_come_last() -> None:
    """Half of the jobs run on a T4 only, which are a third of the GPUs."""
    mix = Mix.of([Ask(1000, gpu_models=frozenset({T4})), Ask(1000)])
    room = Room([node(1, *[T4] * 4), node(2, *[A100] * 4), node(3, *[A100] * 4)])
    occupy(room, "n1", 1000, 1000)
    assert names(room, Preference(), Ask(1000)) == ["n1"]
    assert names(room, Preference(mix), Ask(1000)) == ["n2"]
    assert names(room, Preference(mix), Ask(1000, gpu_models=frozenset({T4}))) == ["n1"]


def test_scarce_is_what_nothing_else_could_hold_whatever_the_labels_say() -> None:
    """Jobs of 32 cores fit one model only, though they name none."""
    mix = Mix.of([Ask(1000, cpus=32), Ask(1000, cpus=1)])
    room = Room([node(1, *[T4] * 2, cpus=64), node(2, *[A100] * 4, cpus=16), node(3, *[A100] * 4, cpus=16)])
    assert names(room, Preference(mix), Ask(1000, cpus=1)) == ["n2"]


def test_nodes_in_one_state_may_be_of_two_types() -> None:
    """Sixteen cores are free on both; the larger node is the only one for jobs of 32."""
    mix = Mix.of([Ask(1000, cpus=32)] * 3 + [Ask(1000, cpus=1)])
    room = Room([node(1, T4, cpus=64), node(2, T4, cpus=16)])
    room.take(Spot(0, (), 0), Ask(0, cpus=48), 0)
    assert len(set(room.states().tolist())) == 1
    assert names(room, Preference(mix), Ask(1000, cpus=1)) == ["n2"]
    assert names(room, Preference(mix), Ask(1000, cpus=1), count=2) == ["n2", "n1"]


def test_an_exclusive_job_goes_where_it_keeps_least_from_others() -> None:
    room = Room([node(1, *[T4] * 8), node(2, *[T4] * 2)])
    for preference in (Preference(), Preference(USUAL)):
        assert names(room, preference, Ask(1000, is_exclusive=True)) == ["n2"]


def test_a_mix_that_suits_no_node_is_as_none() -> None:
    mix = Mix.of([Ask(1000, gpu_models=frozenset({"other"})), Ask(0, cpus=1)])
    room = Room([node(1, *[T4] * 4), node(2, *[T4] * 2), node(3, T4, state=NodeState.DRAINING)])
    assert names(room, Preference(mix), Ask(1000)) == ["n2"]


def test_nothing_fits() -> None:
    room = Room([node(1, T4)])
    for preference in (Preference(), Preference(USUAL)):
        assert names(room, preference, Ask(2000)) == []
        assert names(Room([]), preference, Ask(0)) == []


# Gangs


def fabric(number: int, interconnect: str, pool: str = "") -> Node:
    return node(number, *[T4] * 8, interconnect=interconnect, pool=pool)


def test_a_gang_stays_on_one_interconnect_and_pool() -> None:
    room = Room([fabric(1, "a"), fabric(2, "b"), fabric(3, "b", "x"), fabric(4, "b")])
    for preference in (Preference(), Preference(USUAL)):
        assert names(room, preference, Ask(8000, nodes=2), count=2) == ["n2", "n4"]
        assert names(room, preference, Ask(8000, nodes=3), count=3) == ["n1", "n2", "n3"]
        assert names(room, preference, Ask(8000, nodes=5), count=5) == ["n1", "n2", "n3", "n4"]


def test_a_gang_spreads_over_groups_rather_than_take_what_is_scarce() -> None:
    mix = Mix.of([Ask(8000, gpu_models=frozenset({T4})), Ask(8000)])
    scarce = [node(number, *[T4] * 8, interconnect="a") for number in (1, 2)]
    other = [node(number, *[A100] * 8, interconnect=f"b{number}") for number in (3, 4, 5)]
    assert names(Room(scarce + other), Preference(mix), Ask(8000, nodes=2), count=2) == ["n3", "n4"]


def test_the_members_of_a_gang_are_on_distinct_nodes() -> None:
    """A node with mixed cards has two rows."""
    room = Room([node(1, T4, A100), node(2, T4)])
    assert names(room, Preference(), Ask(1000, nodes=2), count=2) == ["n1", "n2"]


# Laws


def a_room(machines: list[Node], coming: list[tuple[Ask, int]], source: random.Random) -> Room:
    room = Room(machines)
    fill(room, coming, source)
    return room


mixes = st.lists(asks, max_size=5).map(Mix.of)


@settings(max_examples=60, deadline=None)
@given(nodes, arrivals, mixes, asks, st.integers(0, 2**30))
def test_neither_memory_nor_the_order_of_nodes_changes_an_answer(
    machines: list[Node], coming: list[tuple[Ask, int]], mix: Mix, ask: Ask, seed: int
) -> None:
    used = Preference(mix)
    first = a_room(machines, coming[:3], random.Random(seed))
    used.order(first, Ask(300), np.flatnonzero(first.fits(Ask(300), 0)))
    room = a_room(machines, coming, random.Random(seed))
    rows = np.flatnonzero(room.fits(ask, 0))
    fresh = Preference(mix).order(room, ask, rows)
    assert used.order(room, ask, rows).tolist() == fresh.tolist()
    again = a_room(machines[::-1], coming, random.Random(seed))
    assert used.order(again, ask, rows).tolist() == fresh.tolist()
    assert sorted(fresh.tolist()) == rows.tolist()
    every = np.arange(len(room.nodes))
    assert sorted(used.order(room, ask, every).tolist()) == every.tolist()


@settings(max_examples=60, deadline=None)
@given(nodes, arrivals, mixes, asks, st.integers(1, 4), st.integers(0, 2**30))
def test_the_best_are_distinct_nodes_that_fit(
    machines: list[Node], coming: list[tuple[Ask, int]], mix: Mix, ask: Ask, count: int, seed: int
) -> None:
    room, preference = a_room(machines, coming, random.Random(seed)), Preference(mix)
    rows = np.flatnonzero(room.fits(ask, 0))
    best = preference.best(room, ask, rows, count)
    hosts = room.host[best].tolist()
    assert len(hosts) == len(set(hosts)) == min(count, len(set(room.host[rows].tolist())))
    assert set(best.tolist()) <= set(rows.tolist())
    if count == 1:
        assert best.tolist() == preference.order(room, ask, rows)[:1].tolist()


def test_more_states_than_are_looked_at_closely() -> None:
    """The others come after, by what is left over."""
    room = Room([node(number, T4, T4, cpus=200 - number) for number in range(CLOSEST + 5)])
    rows = np.flatnonzero(room.fits(Ask(1000), 0))
    order = Preference(USUAL).order(room, Ask(1000), rows)
    assert sorted(order.tolist()) == rows.tolist()
    assert order[-5:].tolist() == rows[-5:].tolist()


def test_a_mix_forgets_the_order_and_how_members_share() -> None:
    wide = Ask(1000, nodes=3, is_exclusive=True, shares_device=True)
    mix = Mix.of([wide, Ask(500)])
    assert mix == Mix.of([Ask(500), wide])
    assert mix.parts == ((Ask(500), 0.25), (Ask(1000), 0.75))
    assert Mix.of([]) == Mix()


@pytest.mark.parametrize("mix", [Mix(), Mix.of([Ask(1000)])])
def test_a_preference_serves_one_room_after_another(mix: Mix) -> None:
    preference = Preference(mix)
    small, large = Room([node(1, T4)]), Room([node(number, *[T4] * number) for number in (3, 2)])
    assert names(small, preference, Ask(1000)) == ["n1"]
    assert names(large, preference, Ask(1000), 2) == ["n2", "n3"]
    assert names(small.copy(), preference, Ask(1000)) == ["n1"]
