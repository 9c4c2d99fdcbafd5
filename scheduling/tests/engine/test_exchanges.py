"""Who stops for whom in cases that a scenario does not say well: order, legality that depends on other victims, and
rooms in which parts and mixed nodes become free."""

from dataclasses import replace
from typing import Any

import pytest

from scheduling.engine import Ask, Decision, Device, Entitlement, Group, Job, JobState, Project
from scheduling.tests.engine.by_hand import a_job, decided
from scheduling.tests.engine.world import node, project

YOUNG = {"min_runtime_s": 100_000, "started_at": 0}


def _holds(number: int, owner: int, first: int, devices: int = 1, **fields: Any) -> Job:
    """On these devices of the node that their numbers say."""
    placement = {first // 100: {first + at: 1000 for at in range(devices)}}
    values = {"started_at": 0, "state": JobState.RUNNING, "gpu_model": "a", "placement": placement, **fields}
    return a_job(number, Ask(devices * 1000), owner, **values)


def _half(number: int, owner: int, **fields: Any) -> Job:
    shares = bool(fields.pop("shares", False))
    values = {"state": JobState.RUNNING, "gpu_model": "a", "placement": {1: {100: 500}}, "started_at": 0, **fields}
    return a_job(number, Ask(500, shares_device=shares), owner, **values)


def _stops(decision: Decision) -> list[tuple[int, int | None]]:
    return [(preempt.job, preempt.by) for preempt in decision.preempt]


def test_who_has_lost_a_job_is_considered_in_its_new_place() -> None:
    """Project 4 uses a third of its share, project 2 two thirds until it gives all to project 1; then it goes first,
    and the one job of project 3 that may stop is stopped for it."""
    projects = [project(1, 2), project(2), project(3), project(4)]
    jobs = [
        _holds(20, 2, 100, 2),
        _holds(30, 3, 102, 7, **YOUNG),
        _holds(31, 3, 109),
        _holds(40, 4, 110, **YOUNG),
        a_job(1, Ask(2000), 1),
        a_job(2, Ask(1000), 2),
        a_job(4, Ask(1000), 4),
        a_job(5, Ask(1000), 4),
    ]
    assert _stops(decided([node(1, 11)], jobs, projects)) == [(20, 1), (31, 2)]


IN_AREA: dict[str, Any] = {
    "groups": (Group(10, "area", None, project(0, 4).entitlement),),
    "projects": [
        replace(project(1, 2), group=10),
        replace(project(2), group=10),
        Project(3, "q3", entitlement=Entitlement(rank=-1)),
    ],
    "capacity": {"a": 10_000},
}
"""The area uses three and may have four for sure; project 3 is within its share. So project 3 gives way to project 1
only once project 2, of the same area, has lost something."""


def test_who_may_not_be_first_may_follow_a_victim_of_our_own_area() -> None:
    jobs = [
        _holds(20, 2, 100, 2, **YOUNG),
        _holds(21, 2, 102),
        _holds(30, 3, 103, 4, **YOUNG),
        _holds(31, 3, 107),
        a_job(1, Ask(2000), 1),
    ]
    assert _stops(decided([node(1, 8)], jobs, **IN_AREA)) == [(21, 1), (31, 1)]


def test_nobody_stops_only_to_make_others_legal() -> None:
    """What project 2 could lose is on another node than the newcomer's: no use there, and without it those of
    project 3 may not be taken."""
    jobs = [
        _holds(20, 2, 100, 2, **YOUNG),
        _holds(21, 2, 102),
        _holds(30, 3, 103, 3, **YOUNG),
        _holds(31, 3, 200),
        _holds(32, 3, 201),
        a_job(1, Ask(2000), 1),
    ]
    assert _stops(decided([node(1, 6), node(2, 2)], jobs, **IN_AREA)) == []


@pytest.mark.parametrize(
    ("beside", "asks", "victims"),
    [(True, True, [8]), (True, False, [8, 7]), (False, True, [7])],
    ids=["both share", "the newcomer does not", "the other does not"],
)
def test_half_a_gpu_is_enough_only_where_both_share_it(beside: bool, asks: bool, victims: list[int]) -> None:
    """Job 8 is the first in line; where it alone does not do, job 7 stops, and job 8 with it only if it must."""
    jobs = [
        _half(8, 3, shares=True),
        _half(7, 2, shares=beside),
        a_job(1, Ask(500, shares_device=asks), 1),
    ]
    decision = decided([node(1, 1)], jobs, [project(1, 1), project(2), project(3)])
    assert [preempt.job for preempt in decision.preempt] == victims


@pytest.mark.parametrize(("cpus", "victims"), [(8, 1), (9, 2)])
def test_what_is_placed_on_two_models_of_a_node_frees_its_cores_once(cpus: int, victims: int) -> None:
    """Of twelve cores four are free; the first victim has four, and so has the second."""
    mixed = replace(node(1, 0, cpus=12), devices=(Device(100, "a"), Device(101, "b"), Device(102, "a")))
    first = replace(_holds(8, 2, 100, 2), ask=Ask(2000, cpus=4))
    second = replace(_holds(7, 2, 102), ask=Ask(1000, cpus=4))
    newcomer = a_job(1, Ask(1000, cpus=cpus, gpu_models=frozenset("a")), 1)
    decision = decided([mixed], [first, second, newcomer], [project(1, 1), project(2)])
    assert _stops(decision) == [(8, 1), (7, 1)][:victims]
