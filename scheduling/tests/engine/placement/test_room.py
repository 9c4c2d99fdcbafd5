"""Laws of the room: it agrees with a slow reference, nothing gets negative, giving back undoes taking."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.engine.model import Ask, Device, Job, Node, NodeState
from scheduling.engine.room import Room, Spot
from scheduling.tests.engine.placement.slow_room import Held, SlowRoom

A100, T4 = "a100", "t4"


def node(number: int, *models: str, **more: Any) -> Node:
    return Node(number, f"n{number}", tuple(Device(at, model) for at, model in enumerate(models)), **more)


nodes = st.lists(
    st.builds(
        lambda models, state, cpus, memory, fabric: (models, state, cpus, memory, fabric),
        st.lists(st.sampled_from((A100, T4)), max_size=4),
        st.sampled_from((*[NodeState.UP] * 5, *NodeState)),
        st.sampled_from((None, 4, 16)),
        st.sampled_from((None, 64)),
        st.sampled_from(("", "ib")),
    ),
    max_size=5,
).map(
    lambda drawn: [
        node(number, *models, state=state, cpus=cpus, memory_bytes=memory, interconnect=fabric, gpu_memory_bytes=number)
        for number, (models, state, cpus, memory, fabric) in enumerate(drawn)
    ]
)
asks = st.builds(
    Ask,
    milli=st.sampled_from((0, 200, 300, 500, 800, 1000, 2000, 3000)),
    gpu_models=st.sampled_from((frozenset(), frozenset({A100}), frozenset({A100, T4}))),
    cpus=st.integers(0, 5),
    memory_bytes=st.integers(0, 20),
    gpu_memory_bytes=st.sampled_from((0, 0, 0, 2)),
    interconnect=st.sampled_from(("", "", "ib")),
    is_exclusive=st.sampled_from((False, False, False, True)),
    shares_device=st.booleans(),
)
arrivals = st.lists(st.tuples(asks, st.integers(0, 2)), max_size=20)


def fill(room: Room, coming: list[tuple[Ask, int]], source: random.Random) -> list[Held]:
    """Place what fits on a row drawn at random; now and then something ends."""
    held: list[Held] = []
    for ask, project in coming:
        rows = np.flatnonzero(room.fits(ask, project)).tolist()
        if rows:
            spot = room.spot(source.choice(rows), ask, project)
            room.take(spot, ask, project)
            held.append((spot, ask, project))
        if held and source.random() < 0.2:
            room.give_back(*held.pop(source.randrange(len(held))))
    return held


def facts(room: Room) -> dict[str, Any]:
    """All that can be seen of a room."""
    kept = ("free", "whole", "largest_part", "cpus", "memory", "members")
    return {name: getattr(room, name).tolist() for name in kept} | {
        "states": [room.known_states()[state] for state in room.states().tolist()],
        "fits": [
            room.fits(Ask(milli, shares_device=shares), project).tolist()
            for milli in (0, 200, 1000)
            for shares in (False, True)
            for project in (0, 1)
        ],
    }


@settings(max_examples=150, deadline=None)
@given(nodes, arrivals, asks, st.integers(0, 2), st.randoms(use_true_random=False))
def test_agrees_with_the_slow_reference(
    machines: list[Node], coming: list[tuple[Ask, int]], ask: Ask, project: int, source: random.Random
) -> None:
    room, slow = Room(machines), SlowRoom(machines)
    slow.held = fill(room, coming, source)
    for row in range(len(slow.rows)):
        free = slow.free(row)
        assert room.free[row, : len(free)].tolist() == free
        assert (room.free[row, len(free) :] == -1).all()
        assert min(free, default=0) >= 0
        assert room.cpus[room.host[row]] >= 0
        assert room.memory[room.host[row]] >= 0
        cpus, memory = slow.left(row)
        assert cpus == float("inf") or cpus == room.cpus[room.host[row]]
        assert memory == float("inf") or memory == room.memory[room.host[row]]
    assert room.fits(ask, project).tolist() == slow.fits(ask, project)


@settings(max_examples=100, deadline=None)
@given(nodes, arrivals, st.randoms(use_true_random=False))
def test_giving_everything_back_in_any_order_leaves_no_trace(
    machines: list[Node], coming: list[tuple[Ask, int]], source: random.Random
) -> None:
    room = Room(machines)
    before = facts(room)
    held = fill(room, coming, source)
    source.shuffle(held)
    for spot, ask, project in held:
        room.give_back(spot, ask, project)
    assert facts(room) == before


@settings(max_examples=100, deadline=None)
@given(nodes, arrivals, arrivals, st.randoms(use_true_random=False))
def test_a_copy_changes_alone(
    machines: list[Node], first: list[tuple[Ask, int]], later: list[tuple[Ask, int]], source: random.Random
) -> None:
    room = Room(machines)
    empty = facts(room)
    held = fill(room, first, source)
    before, other = facts(room), room.copy()
    fill(other, later, source)
    assert facts(room) == before
    for spot, ask, project in held:
        room.give_back(spot, ask, project)
    assert facts(room) == empty


@settings(max_examples=100, deadline=None)
@given(nodes, asks)
def test_an_empty_room_holds_what_could_be_held(machines: list[Node], ask: Ask) -> None:
    room = Room(machines)
    could = room.could_hold(ask)
    is_down = np.array([machine.state is NodeState.DOWN for machine in room.nodes], dtype=bool)
    assert not (could & is_down).any()
    assert (room.fits(ask, 0) == (could & room.can_take)).all()


def test_rows_are_nodes_and_models_in_the_order_of_names() -> None:
    room = Room([node(2, T4, A100, T4), node(1)])
    assert [machine.name for machine in room.nodes] == ["n1", "n2", "n2"]
    assert [room.models[model] for model in room.row_model] == ["", A100, T4]
    assert room.host.tolist() == [0, 1, 1]
    assert room.free.tolist() == [[-1, -1], [1000, -1], [1000, 1000]]
    assert room.rows_of(2) == (1, 2)
    assert room.rows_of(7) == ()


def test_mixed_cards_share_one_hosts_cpu() -> None:
    room = Room([node(1, A100, T4, cpus=8)])
    ask = Ask(1000, cpus=5)
    assert [room.known_states()[state][2] for state in room.states()] == [8, 8]
    room.take(room.spot(0, ask, 0), ask, 0)
    assert [room.known_states()[state][2] for state in room.states()] == [3, 3]
    assert room.fits(Ask(1000, cpus=4), 0).tolist() == [False, False]
    assert room.fits(Ask(1000, cpus=3), 0).tolist() == [False, True]


def test_a_mask_leaves_rows_out() -> None:
    room = Room([node(1, T4), node(2, T4)])
    assert room.fits(Ask(1000), 0, np.array([False, True])).tolist() == [False, True]


def test_a_part_goes_to_the_fullest_shared_device_then_to_the_lowest_free_one() -> None:
    room = Room([node(1, T4, T4, T4)])
    for milli, column in ((500, 0), (700, 1), (200, 1), (400, 0), (400, 2)):
        spot = room.spot(0, Ask(milli), 0)
        assert spot.columns == (column,)
        room.take(spot, Ask(milli), 0)
    assert room.spot(0, Ask(100), 0).columns == (0,)
    with pytest.raises(LookupError, match="no room on n1"):
        room.spot(0, Ask(700), 0)


def test_projects_share_a_device_only_if_all_its_holders_and_the_newcomer_do() -> None:
    room, shy, open_ = Room([node(1, T4)]), Ask(300), Ask(300, shares_device=True)
    first = room.spot(0, open_, 1)
    room.take(first, open_, 1)
    assert room.fits(open_, 2).tolist() == [True]
    assert room.fits(shy, 2).tolist() == [False]
    assert room.fits(shy, 1).tolist() == [True]
    second = room.spot(0, shy, 1)
    room.take(second, shy, 1)
    assert room.fits(open_, 2).tolist() == [False]
    room.give_back(second, shy, 1)
    room.take(room.spot(0, open_, 2), open_, 2)
    assert room.fits(shy, 1).tolist() == [False]
    assert room.fits(open_, 3).tolist() == [True]


def test_who_joins_in_a_copy_does_not_hold_here() -> None:
    room, open_ = Room([node(1, T4)]), Ask(200, shares_device=True)
    room.take(room.spot(0, open_, 1), open_, 1)
    other = room.copy()
    other.take(other.spot(0, open_, 2), open_, 2)
    room.take(room.spot(0, open_, 1), open_, 1)
    assert room.fits(Ask(200), 1).tolist() == [True]
    assert other.fits(Ask(200), 1).tolist() == [False]


def test_an_exclusive_job_takes_an_empty_node_and_keeps_it() -> None:
    room, alone = Room([node(1, T4, T4), node(2, T4, T4)]), Ask(1000, is_exclusive=True)
    room.take(Spot(0, (), 0), Ask(0), 0)
    assert room.fits(alone, 0).tolist() == [False, True]
    spot = room.spot(1, alone, 0)
    room.take(spot, alone, 0)
    assert room.fits(Ask(0), 0).tolist() == [True, False]
    assert room.free_milli(T4) == 2000
    room.give_back(spot, alone, 0)
    assert room.fits(Ask(0), 0).tolist() == [True, True]
    assert room.free_milli(T4) == 4000
    assert room.free_milli("none such") == 0


def test_what_runs_is_taken_where_it_is() -> None:
    room = Room([node(1, T4, T4, cpus=8), node(2, T4, A100, cpus=8)])
    ask = Ask(2000, nodes=2, cpus=3)
    job = Job(1, "train", 0, ask, placement={2: {0: 1000, 1: 1000}, 1: {0: 1000, 9: 1000}, 7: {0: 1000}})
    spots = room.take_all_placed([job])[1]
    assert spots == (Spot(0, (0,), 1000), Spot(1, (1 - 1,), 1000), Spot(2, (0,), 1000, has_host=False))
    assert room.cpus.tolist() == [5, 5]
    assert room.placement(spots) == {1: {0: 1000}, 2: {0: 1000, 1: 1000}}
    for spot in spots:
        room.give_back(spot, ask, 0)
    assert facts(room) == facts(Room(room.hosts))


def test_what_runs_on_no_device_known_here_still_has_its_cpu() -> None:
    room = Room([node(1, T4, cpus=8), node(2, cpus=8)])
    unknown_device = Job(1, "j", 0, Ask(1000, cpus=3), placement={1: {4: 1000}})
    no_device = Job(2, "k", 0, Ask(0, cpus=2), placement={2: {}})
    taken = room.take_all_placed([unknown_device, no_device])
    assert room.cpus.tolist() == [5, 6]
    assert room.placement(taken[1] + taken[2]) == {1: {}, 2: {}}
