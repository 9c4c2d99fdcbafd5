"""Failures of other schedulers that became public, each played for a hundred rounds.

Nobody is stopped twice for the same newcomer, the stops end, and what was freed for a job is what it gets.
"""

from collections.abc import Callable, Iterable

import pytest

from scheduling.engine import Ask, Group, Job, JobState, NodeState, Policy
from scheduling.tests.engine.world import GPUS, World, node, project

ROUNDS = 100
GRACE = Policy(grace_s=30)
Between = Callable[[int], None]


def _play(world: World, between: Between | None = None, rounds: int = ROUNDS) -> World:
    """Each round: a decision; ten seconds; every third round the stops that are due end, one a round."""
    for turn in range(rounds):
        world.step()
        world.now += 10
        stopping = world.numbers(JobState.STOPPING)
        if stopping and turn % 3 == 2:
            world.queue_again(stopping[0])
        if between is not None:
            between(turn)
    return world


def _no_loop(world: World, most: int) -> None:
    assert max(world.stops.values(), default=0) <= 1, world.stops
    assert sum(world.stops.values()) <= most, world.stops


def _states(world: World, numbers: Iterable[int]) -> set[str]:
    return {world.jobs[number].state for number in numbers}


def test_the_preempted_do_not_preempt_back() -> None:
    """kueue#3779, #7101: two projects take turns. Each wants all; shares are even; one exchange settles it."""
    world = World.of([node(1, 4)], [project(1), project(2)], policy=GRACE)
    for _job in range(4):
        world.submit(1, Ask(1000), is_preemptible=True)
    world.step()
    for _job in range(4):
        world.submit(2, Ask(1000), is_preemptible=True)
    _play(world)
    _no_loop(world, 2)
    owners = [world.jobs[number].project for number in world.numbers(JobState.RUNNING)]
    assert sorted(owners) == [1, 1, 2, 2]


def test_whole_jobs_above_the_share_do_not_swap_for_ever() -> None:
    """volcano#3729: a job of three in a share of two goes, and may not come back for the one that replaced it."""
    world = World.of([node(1, 4)], [project(1), project(2)], policy=GRACE)
    world.submit(1, Ask(3000), is_preemptible=True)
    world.step()
    world.submit(2, Ask(2000), is_preemptible=True)
    world.submit(2, Ask(2000), is_preemptible=True)
    _play(world)
    _no_loop(world, 1)


def test_what_is_freed_goes_to_whom_it_was_freed_for() -> None:
    """kueue PR#13797: victims end one after the other while small jobs of others keep coming."""
    world = World.of([node(1, 4)], [project(1, weight=0), project(2, 4), project(3, weight=0)], policy=GRACE)
    for _job in range(4):
        world.submit(1, Ask(1000), is_preemptible=True)
    world.step()
    large = world.submit(2, Ask(4000), is_preemptible=True)
    _play(world, lambda _turn: _submitted(world, 3), rounds=20)
    assert world.jobs[large].state is JobState.RUNNING
    _no_loop(world, 4)


def _submitted(world: World, owner: int) -> None:
    world.submit(owner, Ask(1000), is_preemptible=True)


def test_a_preemptor_at_its_limit_gets_what_was_freed() -> None:
    """kueue#6774: the stopping victim still counts against the limit that the newcomer must keep."""
    world = World.of([node(1, 2)], [project(1, 0, 2), project(2, weight=0)], policy=GRACE)
    world.submit(1, Ask(2000), is_preemptible=True, priority=0)
    world.step()
    newcomer = world.submit(1, Ask(2000), is_preemptible=True, priority=1)
    world.submit(2, Ask(1000), is_preemptible=True)
    _play(world)
    assert world.jobs[newcomer].state is JobState.RUNNING
    _no_loop(world, 1)


def test_a_preemptor_at_its_groups_limit_gets_what_was_freed() -> None:
    world = World.of(
        [node(1, 4)],
        [project(1, group=9), project(2, group=9), project(3, weight=0)],
        [Group(9, "area", entitlement=project(9, 0, 2).entitlement)],
        policy=GRACE,
    )
    for _job in range(2):
        world.submit(1, Ask(1000), is_preemptible=True)
    world.step()
    newcomer = world.submit(2, Ask(1000), is_preemptible=True)
    world.submit(3, Ask(2000), is_preemptible=True)
    _play(world)
    assert world.jobs[newcomer].state is JobState.RUNNING
    _no_loop(world, 1)


def test_one_stuck_stop_does_not_block_the_queue() -> None:
    """kueue#6489, #510: a victim never ends; its GPUs are nobody's, the rest goes on, and the earmark runs out."""
    world = World.of([node(1, 2), node(2, 2)], [project(1, weight=0), project(2, 2), project(3, 2)], policy=GRACE)
    stuck = world.submit(1, Ask(2000), is_preemptible=True)
    world.step()
    world.submit(2, Ask(2000), is_preemptible=True)
    world.submit(2, Ask(2000), is_preemptible=True)
    world.step()
    others = [world.submit(3, Ask(1000), is_preemptible=True) for _job in range(6)]
    for _turn in range(ROUNDS):
        world.now += 10
        for number in world.numbers(JobState.RUNNING):
            if number in others:
                world.end(number)
        world.step()
    assert stuck not in world.numbers(JobState.QUEUED)
    _no_loop(world, 3)


def test_only_as_many_as_needed_stop() -> None:
    """volcano PR#5067, YUNIKORN-2699: of eight victims two suffice; the ninth job gets what it asked for, not more."""
    world = World.of([node(1, 4), node(2, 4)], [project(1, weight=0), project(2, 2)], policy=GRACE)
    for _job in range(8):
        world.submit(1, Ask(1000), is_preemptible=True)
    world.step()
    world.submit(2, Ask(2000), is_preemptible=True)
    _play(world)
    _no_loop(world, 2)
    assert sum(world.stops.values()) == 2


def test_a_large_gang_does_not_starve() -> None:
    """volcano#748, #3095: small jobs keep coming; the gang holds a planned start after half an hour."""
    world = World.of([node(1, 4), node(2, 4)], [project(1)], policy=GRACE)
    for _job in range(8):
        world.submit(1, Ask(1000), is_preemptible=True, max_runtime_s=300)
    world.step()
    gang = world.submit(1, Ask(4000, nodes=2), is_preemptible=True, max_runtime_s=300)
    for _turn in range(400):
        world.now += 30
        for number in world.numbers(JobState.RUNNING):
            if world.now - (world.jobs[number].started_at or 0) >= 270 + number % 3 * 15:
                world.end(number)
        if gang not in world.jobs or world.jobs[gang].state is JobState.RUNNING:
            break
        if len(world.numbers(JobState.QUEUED)) < 6:
            world.submit(1, Ask(1000), is_preemptible=True, max_runtime_s=300)
        world.step()
    assert world.now < 1800 + 600


def test_one_head_does_not_block_other_models() -> None:
    """kueue#8309, #4809, #12541."""
    world = World.of([node(1, 2), node(2, 2, "b")], [project(1), project(2)], policy=Policy(starvation_after_s=0))
    world.submit(1, Ask(1000, gpu_models=frozenset("a")), is_preemptible=True, max_runtime_s=10_000)
    world.step()
    head = world.submit(1, Ask(2000, gpu_models=frozenset("a")), is_preemptible=True)
    later = [world.submit(owner, Ask(1000, gpu_models=frozenset("b")), is_preemptible=True) for owner in (1, 2)]
    world.now = 4000
    _play(world)
    assert _states(world, later) == {JobState.RUNNING}
    assert world.jobs[head].state is JobState.QUEUED


def test_per_node_sums_never_go_below_zero() -> None:
    """kueue#4270, #11287: gangs come and go on nodes whose cores are just enough; the laws look at every node."""
    world = World.of([node(n, 2, cpus=8, memory_bytes=64) for n in range(1, 5)], [project(1), project(2)])
    ask = Ask(2000, nodes=2, cpus=8, memory_bytes=64)

    def goes_on(turn: int) -> None:
        world.submit(1 + turn % 2, ask if turn % 3 else Ask(1000, cpus=4, memory_bytes=32), is_preemptible=True)
        running = world.numbers(JobState.RUNNING)
        if turn % 2 and running:
            world.end(running[turn % len(running)])

    _play(world, goes_on, rounds=60)


def test_a_bad_node_is_avoided_and_placements_do_not_move() -> None:
    """kueue#12735, #14917: it starts elsewhere, and what runs keeps its place whatever comes."""
    world = World.of([node(1, 2), node(2, 2)], [project(1), project(2)])
    number = world.submit(1, Ask(1000), avoid=frozenset({1}), is_preemptible=True)
    world.step()
    placed = world.jobs[number].placement
    assert list(placed) == [2]
    _play(world, lambda turn: _submitted(world, 2) if turn < 8 else None, rounds=30)
    assert world.jobs[number].placement == placed


def test_a_failing_job_does_not_hold_the_head() -> None:
    """kueue#599, KAI#848: it backs off; the next one starts meanwhile, every time."""
    world = World.of([node(1, 1)], [project(1)])
    failing = world.submit(1, Ask(1000), is_preemptible=True)
    done = 0
    for _turn in range(ROUNDS):
        other = world.submit(1, Ask(1000), is_preemptible=True)
        world.step()
        if world.jobs[failing].state is JobState.RUNNING:
            world.queue_again(failing, not_before=world.now + 40)
            world.step()
        world.now += 10
        done += world.jobs[other].state is JobState.RUNNING
        for number in world.numbers(JobState.RUNNING):
            world.end(number)
        for number in [number for number in world.numbers(JobState.QUEUED) if number != failing]:
            world.end(number)
    assert done > ROUNDS // 2


def test_interruptions_of_one_job_are_bounded() -> None:
    """marin#5975: two hundred attempts of under fifteen minutes. Newcomers never end; its minimum run time doubles."""
    world = World.of([node(1, 1)], [project(1, weight=0), project(2, 1)], policy=Policy(grace_s=0))
    number = world.submit(1, Ask(1000), is_preemptible=True, min_runtime_s=600)

    def goes_on(_turn: int) -> None:
        for newcomer in world.numbers(JobState.RUNNING):
            if newcomer != number:
                world.end(newcomer)
        if world.jobs[number].state is JobState.RUNNING and not world.numbers(JobState.QUEUED):
            _submitted(world, 2)
        world.now += 90

    _play(world, goes_on, rounds=864)
    stops = sum(count for (victim, _newcomer), count in world.stops.items() if victim == number)
    assert 3 <= stops <= 3 + 8


def test_a_drained_node_loses_nobody_and_takes_nobody() -> None:
    world = World.of([node(1, 2), node(2, 2)], [project(1), project(2)])
    for _job in range(4):
        world.submit(1, Ask(1000), is_preemptible=True)
    world.step()
    world.set_state(2, NodeState.DRAINING)
    before = {job.id for job in world.jobs.values() if 2 in job.placement}
    _submitted(world, 2)
    _play(world)
    assert {job.id for job in world.jobs.values() if 2 in job.placement} <= before
    _no_loop(world, 1)


@pytest.mark.parametrize("sizes", [(1, 2, 3), (2, 3, 4), (4, 4, 4), (1, 4, 2)])
@pytest.mark.parametrize("weights", [(1, 1, 1), (3, 2, 1)])
def test_any_mix_of_sizes_settles(sizes: tuple[int, ...], weights: tuple[int, ...]) -> None:
    """With nothing new coming and nothing ending, the stops come to an end."""
    world = World.of(
        [node(1, 4), node(2, 4)], [project(n + 1, weight=weight) for n, weight in enumerate(weights)], policy=GRACE
    )
    for turn in range(12):
        world.submit(1 + turn % 3, Ask(sizes[turn % 3] * GPUS), is_preemptible=True, priority=turn % 2)
        world.step()
        world.now += 5
    _play(world)
    _no_loop(world, 24)
    before = sum(world.stops.values())
    _play(world, rounds=20)
    assert sum(world.stops.values()) == before, "it never comes to rest"


def test_a_stale_gang_stops_once() -> None:
    world = World.of([node(1, 2), node(2, 2)], [project(1)], policy=GRACE)
    gang = world.submit(1, Ask(2000, nodes=2), is_preemptible=False)
    world.grant(1, project(1, 4).entitlement)
    world.step()
    world.set_state(2, NodeState.DOWN)
    world.step()
    assert world.jobs[gang].state is JobState.RUNNING
    world.now += 61
    world.step()
    assert world.jobs[gang].state is JobState.STOPPING
    _play(world)
    assert _of(world, gang).state is JobState.QUEUED
    assert sum(world.stops.values()) == 1


def _of(world: World, number: int) -> Job:
    return world.jobs[number]
