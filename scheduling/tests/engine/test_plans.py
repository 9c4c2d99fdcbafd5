"""Planned starts: what others must leave to them of devices, and of the model where a reserve is kept besides."""

import pytest

from scheduling.engine import Ask, Decision, Job, JobState, Node
from scheduling.tests.engine.by_hand import a_job, decided, runs, started, wait_of
from scheduling.tests.engine.world import node, project

NODES = [node(1, 4), node(2, 5), node(3, 2)]
NOW = 4000
YOUNG = {"min_runtime_s": 100_000, "started_at": 0}
OTHERS = [project(1), project(2, 2)]


def _two_plans(first: int = 2, runtime: float = 3000) -> list[Job]:
    """Job 2 is to start on the first node at 5000 and runs for ``runtime``, job 3 on the second at 6000. Beside a
    reserve of one there are two to spare when job 2 starts, and one when job 3 does if job 2 is still there then."""
    return [
        runs(7, 1, 3, max_runtime_s=5000, **YOUNG),
        runs(8, 2, 4, max_runtime_s=6000, **YOUNG),
        a_job(2, Ask(4000), max_runtime_s=runtime, order=2 if first == 2 else 4),
        a_job(3, Ask(5000), max_runtime_s=9000, order=3),
    ]


def _beside_reserve(jobs: list[Job], more: tuple[Node, ...] = ()) -> Decision:
    return decided([*NODES, *more], jobs, OTHERS, now=NOW, reserve={"a": 1000})


@pytest.mark.parametrize("first", [2, 3])
def test_a_plan_needs_what_an_earlier_one_still_holds(first: int) -> None:
    """Whichever of the two was made first."""
    newcomer = a_job(1, Ask(2000), queued_at=3900, max_runtime_s=3000)
    decision = _beside_reserve([*_two_plans(first), newcomer])
    assert started(decision) == {}
    gate = wait_of(decision, 1).needs["gates"][0]
    assert (gate["kind"], gate["job"]) == ("behind_plan", 3)
    assert [wait_of(decision, plan).until for plan in (2, 3)] == [5000, 6000]


@pytest.mark.parametrize("first", [2, 3])
def test_a_plan_needs_nothing_of_one_that_has_ended(first: int) -> None:
    newcomer = a_job(1, Ask(2000), queued_at=3900, max_runtime_s=3000)
    assert started(_beside_reserve([*_two_plans(first, runtime=900), newcomer])) == {1: [3]}


def test_who_ends_before_a_plan_takes_nothing_from_it() -> None:
    newcomer = a_job(1, Ask(2000), queued_at=3900, max_runtime_s=1500)
    assert started(_beside_reserve([*_two_plans(), newcomer])) == {1: [3]}


def test_what_starts_now_is_taken_off_what_a_plan_can_spare() -> None:
    """Each of the two could start alone."""
    one, two = (a_job(number, queued_at=3900, order=number, max_runtime_s=3000) for number in (10, 11))
    assert list(started(_beside_reserve([*_two_plans(), one]))) == [10]
    decision = _beside_reserve([*_two_plans(), one, two])
    assert list(started(decision)) == [10]
    assert wait_of(decision, 11).reason == "behind_plan"


@pytest.mark.parametrize(("asked", "reason"), [(1000, "next_decision"), (2000, "behind_plan")])
def test_what_victims_leave_is_to_spare_then(asked: int, reason: str) -> None:
    """The victim holds two until after both plans begin. Its newcomer, which alone may use that node, leaves the plans
    at least as much as before; what it leaves over may be another's."""
    victim = runs(9, 4, 2, started_at=0, max_runtime_s=9000)
    newcomer = a_job(1, Ask(asked, interconnect="ib"), owner=2, queued_at=3900)
    later = a_job(5, Ask(2000), queued_at=3950, order=9, max_runtime_s=3000)
    decision = _beside_reserve([*_two_plans(), victim, newcomer, later], (node(4, 2, interconnect="ib"),))
    assert [(preempt.job, preempt.by) for preempt in decision.preempt] == [(9, 1)]
    assert wait_of(decision, 5).reason == reason


@pytest.mark.parametrize(("runtime", "starts"), [(2000, {}), (400, {3: [1]})])
def test_the_rest_of_a_gpu_planned_whole_is_not_given_away(runtime: float, starts: dict[int, list[int]]) -> None:
    half = a_job(
        7, Ask(500), state=JobState.RUNNING, gpu_model="a", placement={1: {100: 500}}, started_at=0, max_runtime_s=4500
    )
    jobs = [half, a_job(2), a_job(3, Ask(500), queued_at=3900, max_runtime_s=runtime)]
    assert started(decided([node(1, 1)], jobs, now=NOW)) == starts


def test_it_is_told_of_the_first_plan_it_would_delay() -> None:
    """Of two plans before its end, only the first is where it would start."""
    jobs = [
        runs(7, 1, 3, started_at=0, max_runtime_s=5000),
        runs(8, 2, 4, started_at=0, max_runtime_s=6000),
        a_job(2, Ask(4000)),
        a_job(3, Ask(4000)),
        a_job(1, queued_at=3900, order=9, max_runtime_s=3000),
    ]
    decision = decided([node(1, 4), node(2, 4)], jobs, now=NOW)
    gate = wait_of(decision, 1).needs["gates"][0]
    assert (gate["kind"], gate["job"], gate["planned_start"]) == ("behind_plan", 2, 5000)
