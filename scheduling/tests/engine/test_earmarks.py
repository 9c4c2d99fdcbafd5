"""GPUs that earlier decisions set aside: what is kept for their owners while victims stop, and when it ends."""

from dataclasses import replace

import pytest

from scheduling.engine import Ask, Device, Earmark, Entitlement, Job, JobState, Project
from scheduling.tests.engine.by_hand import a_job, decided, started, wait_of
from scheduling.tests.engine.world import node, project

OWNERS = [project(number, guaranteed=8) for number in (1, 3, 4)]
AT_ITS_LIMIT = Project(2, "q2", entitlement=Entitlement(limit={"a": 500}))


def _stops(number: int, owner: int, device: int, milli: int) -> Job:
    held = {device // 100: {device: milli}}
    return a_job(number, Ask(milli), owner, state=JobState.STOPPING, gpu_model="a", placement=held)


@pytest.mark.parametrize("first", [1, 2])
def test_what_stops_on_a_gpu_set_aside_whole_is_no_part_for_another(first: int) -> None:
    """The half that stops belongs to the GPU of a gang, whoever is first; the other owner's half is kept elsewhere,
    although it cannot start before that half has stopped."""
    gang, part = a_job(1, Ask(1000, nodes=2), priority=1), a_job(2, Ask(500), 2, priority=3 - first)
    jobs = [_stops(8, 4, 200, 1000), _stops(9, 2, 100, 500), gang, part, a_job(3, Ask(1000), 3)]
    marks, owners = (Earmark(1, 1, 1000), Earmark(1, 2, 1000), Earmark(2, 1, 500)), [*OWNERS, AT_ITS_LIMIT]
    assert started(decided([node(1, 2), node(2, 1)], jobs, owners, earmarks=marks)) == {}
    assert started(decided([node(1, 3), node(2, 1)], jobs, owners, earmarks=marks)) == {3: [1]}


def _half(number: int, owner: int) -> Job:
    held = {1: {100: 500}}
    return a_job(number, Ask(500), owner, state=JobState.RUNNING, gpu_model="a", placement=held)


def test_half_a_gpu_is_kept_beside_who_does_not_share_it() -> None:
    """The owner may not join it there yet; until it may, nobody else takes the half, not even who holds the other."""
    jobs, marks = [_half(7, 3), a_job(1, Ask(500), 1), a_job(2, Ask(500), 3, queued_at=1)], (Earmark(1, 1, 500),)
    assert started(decided([node(1, 1)], jobs, OWNERS)) == {2: [1]}
    decision = decided([node(1, 1)], jobs, OWNERS, earmarks=marks)
    assert started(decision) == {}
    assert decision.earmarks == marks


def test_half_a_gpu_is_kept_on_whichever_card_has_as_much_left() -> None:
    """The first card of the node is full, so that it is the other's rest that is kept."""
    mixed = replace(node(1, 0), devices=(Device(100, "a"), Device(101, "b")))
    full = a_job(8, Ask(1000), 4, state=JobState.RUNNING, gpu_model="a", placement={1: {100: 1000}})
    half = a_job(7, Ask(500), 3, state=JobState.RUNNING, gpu_model="b", placement={1: {101: 500}})
    jobs, marks = [full, half, a_job(1, Ask(500), 1), a_job(2, Ask(500), 3, queued_at=1)], (Earmark(1, 1, 500),)
    assert started(decided([mixed], jobs, OWNERS)) == {2: [1]}
    assert started(decided([mixed], jobs, OWNERS, earmarks=marks)) == {}


def test_of_a_full_node_nothing_can_be_kept() -> None:
    """What was set aside there is used all the same, as by a job that was found running: its owner waits for room."""
    jobs, marks = [_half(7, 3), _half(8, 3), a_job(1, Ask(500), 1)], (Earmark(1, 1, 500),)
    decision = decided([node(1, 1)], jobs, OWNERS, earmarks=marks)
    assert started(decision) == {}
    assert wait_of(decision, 1).reason == "no_room"


def test_a_gang_that_stops_on_two_nodes_frees_each_once() -> None:
    """Both nodes are set aside, and there the owner only has to wait for its end."""
    held = {1: {100: 1000}, 2: {200: 1000}}
    stops = a_job(7, Ask(1000, nodes=2), 3, state=JobState.STOPPING, gpu_model="a", placement=held)
    jobs, marks = [stops, a_job(1, Ask(1000, nodes=2), 1)], (Earmark(1, 1, 1000), Earmark(1, 2, 1000))
    decision = decided([node(1, 1), node(2, 1)], jobs, OWNERS, earmarks=marks)
    assert started(decision) == {}
    assert wait_of(decision, 1).reason == "releasing"


def test_an_owner_that_waits_for_its_gpu_counts_in_the_order_of_victims() -> None:
    """Its project is above its share by what is set aside, and so gives way before one that is not."""
    runs = [a_job(number, Ask(1000), number - 9, state=JobState.RUNNING, order=number) for number in (10, 11)]
    runs = [replace(job, gpu_model="a", placement={job.project: {job.project * 100: 1000}}) for job in runs]
    jobs = [*(replace(job, is_preemptible=True) for job in runs), _stops(12, 3, 300, 1000)]
    owner, newcomer = a_job(13, Ask(1000), 1, is_preemptible=True), a_job(14, Ask(1000), 4)
    projects = [*(project(number) for number in (1, 2, 3)), project(4, guaranteed=1)]
    decision = decided(
        [node(1, 1), node(2, 1), node(3, 1)], [*jobs, owner, newcomer], projects, earmarks=(Earmark(13, 3, 1000),)
    )
    assert [(stop.job, stop.by) for stop in decision.preempt] == [(10, 14)]


def test_what_is_not_being_freed_of_half_a_gpu_is_kept_beside_what_is() -> None:
    """A quarter stops and a quarter is free on the owner's device; nobody else takes the free one meanwhile."""
    beside = replace(_half(7, 3), ask=Ask(500, shares_device=True))
    stopping = replace(_stops(8, 3, 100, 250), ask=Ask(250, shares_device=True))
    owner, other = a_job(1, Ask(500, shares_device=True), 1), a_job(2, Ask(250, shares_device=True), 4)
    jobs, marks = [beside, stopping, owner, other], (Earmark(1, 1, 500),)
    assert started(decided([node(1, 1)], jobs, OWNERS)) == {2: [1]}
    assert started(decided([node(1, 1)], jobs, OWNERS, earmarks=marks)) == {}
