"""What a waiting job is told is true and enough: when exactly that is done, it starts; at the moment that is expected,
it starts. Other jobs of the queue are left out, since they may come first."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from kernel.tests.examples import examples
from scheduling.engine import (
    Ask,
    Earmark,
    Entitlement,
    Group,
    Job,
    JobState,
    NodeState,
    Policy,
    Project,
    Snapshot,
    Wait,
    Window,
    decide,
)
from scheduling.tests.engine.by_hand import a_job, runs
from scheduling.tests.engine.opening import KINDS, Opening, done, untrue
from scheduling.tests.engine.world import GPUS, World, node, project

FIRM = {"is_preemptible": False}


def _grouped(guaranteed: int, limit: int | None = None) -> dict[str, Any]:
    """One project inside two areas; what is guaranteed to or limits the inner one."""
    entitlement = project(1, guaranteed, limit).entitlement
    wide = Entitlement(guaranteed={"a": 9 * GPUS})
    return {
        "groups": (Group(10, "area", None, wide), Group(11, "part", 10, entitlement)),
        "projects": (replace(project(1, 9), group=11),),
    }


def _snapshot(jobs: list[Job], **fields: Any) -> Snapshot:
    values = {"nodes": (node(1, 4), node(2, 4)), "projects": (project(1, 8), project(2, 8)), **fields}
    return Snapshot(jobs=tuple(jobs), **values)


LATER = Window("later", 2, "a", 7 * GPUS, 100, 200)
LATEST = Window("latest", 2, "a", 8 * GPUS, 300, 400)
CASES: dict[str, tuple[str, Snapshot]] = {
    "limit of the project": (
        "limit",
        _snapshot([runs(7, 1, 3), a_job(1, Ask(2000))], projects=(project(1, 0, 4),)),
    ),
    "limit of a group": ("limit", _snapshot([runs(7, 1, 3), a_job(1, Ask(2000))], **_grouped(0, 4))),
    "limits of both": (
        "limit",
        _snapshot(
            [runs(7, 1, 3), a_job(1, Ask(2000))],
            projects=(replace(project(1, 0, 4), group=10),),
            groups=(Group(10, "area", None, project(1, 0, 3).entitlement),),
        ),
    ),
    "guarantee of the project": (
        "guarantee",
        _snapshot([runs(7, 1, 3, **FIRM), a_job(1, Ask(2000), **FIRM)], projects=(project(1, 4),)),
    ),
    "guarantee of a group": (
        "guarantee",
        _snapshot([runs(7, 1, 3, **FIRM), a_job(1, Ask(2000), **FIRM)], **_grouped(4)),
    ),
    "guarantee that was cut": (
        "guarantee",
        _snapshot(
            [
                runs(7, 1, 2, started_at=0, max_runtime_s=50, **FIRM),
                runs(8, 2, 2, started_at=1, order=9, max_runtime_s=70, **FIRM),
                a_job(1, Ask(2000), **FIRM),
            ],
            projects=(project(1, 2),),
        ),
    ),
    "guarantees of both": ("guarantee", _snapshot([a_job(1, Ask(2000), **FIRM)], projects=(project(1),))),
    "reserve": ("reserve", _snapshot([runs(7, 1, 4, max_runtime_s=70), a_job(1, Ask(3000))], reserve={"a": 2000})),
    "reserve that is more than all": ("reserve", _snapshot([a_job(1)], reserve={"a": 20_000})),
    "reserve that emergencies use": (
        "no_room",
        _snapshot(
            [
                runs(7, 1, 3, is_emergency=True, started_at=0, max_runtime_s=50),
                runs(8, 2, 3, is_emergency=True, started_at=0, max_runtime_s=90),
                a_job(1, Ask(4000)),
            ],
            reserve={"a": 5000},
        ),
    ),
    "a window now": ("window", _snapshot([a_job(1, Ask(2000))], windows=(replace(LATER, start=0),))),
    "two windows ahead": ("window", _snapshot([a_job(1, Ask(2000))], windows=(LATER, LATEST))),
    "a short job between windows": (
        "window",
        _snapshot([a_job(1, Ask(2000), max_runtime_s=150)], windows=(LATER, LATEST)),
    ),
    "cores of the project": (
        "resource",
        _snapshot(
            [replace(runs(7, 1, 1), ask=Ask(1000, cpus=6)), a_job(1, Ask(1000, cpus=6))],
            projects=(replace(project(1, 8), cpu_limit=10),),
        ),
    ),
    "memory of the project": (
        "resource",
        _snapshot([a_job(1, Ask(1000, memory_bytes=20))], projects=(replace(project(1, 8), memory_limit_bytes=10),)),
    ),
    "a node that drains": ("node_state", _snapshot([a_job(1)], nodes=(node(1, 4, state=NodeState.DRAINING),))),
    "a silent node without room": (
        "node_state",
        _snapshot(
            [runs(7, 1, 3), runs(8, 2, 4), a_job(1, Ask(2000, nodes=2))],
            nodes=(node(1, 4), node(2, 4, state=NodeState.SUSPECT)),
        ),
    ),
    "GPUs of a node": ("no_room", _snapshot([runs(7, 1, 3), runs(8, 2, 4), a_job(1, Ask(2000))])),
    "cores of a node": (
        "no_room",
        _snapshot(
            [a_job(7, Ask(0, cpus=6), placement={1: {}}, state=JobState.RUNNING), a_job(1, Ask(1000, cpus=4))],
            nodes=(node(1, 4, cpus=8),),
        ),
    ),
    "memory of a node": (
        "no_room",
        _snapshot(
            [replace(runs(7, 1, 1), ask=Ask(1000, memory_bytes=6)), a_job(1, Ask(1000, memory_bytes=4))],
            nodes=(node(1, 4, memory_bytes=8),),
        ),
    ),
    "one node of two": ("no_room", _snapshot([runs(7, 1, 3), a_job(1, Ask(2000, nodes=2))])),
    "a node of its own": (
        "no_room",
        _snapshot([runs(7, 1, 1), runs(8, 2, 2), a_job(1, Ask(2000, is_exclusive=True))]),
    ),
    "a node that another has alone": (
        "no_room",
        _snapshot(
            [replace(runs(7, 1, 1, started_at=0, max_runtime_s=60), ask=Ask(1000, is_exclusive=True)), a_job(1)],
            nodes=(node(1, 4),),
        ),
    ),
    "cores beside a part of a GPU": (
        "no_room",
        _snapshot(
            [
                a_job(
                    7, Ask(500, cpus=6), placement={1: {100: 500}}, state=JobState.RUNNING, gpu_model="a", started_at=0
                ),
                a_job(1, Ask(500, cpus=4)),
            ],
            nodes=(node(1, 1, cpus=8),),
        ),
    ),
    "several at once": (
        "resource",
        _snapshot(
            [runs(7, 1, 4, **FIRM), runs(8, 2, 3, owner=2), a_job(1, Ask(3000, cpus=4), **FIRM)],
            projects=(replace(project(1, 4, 5), cpu_limit=2), project(2, 8)),
            reserve={"a": 1000},
        ),
    ),
    "a plan": (
        "behind_plan",
        _snapshot(
            [
                runs(7, 1, 3, started_at=-4000, max_runtime_s=5000),
                a_job(2, Ask(4000), queued_at=-4000),
                a_job(1, queued_at=0),
            ],
            nodes=(node(1, 4),),
        ),
    ),
    "no quota": ("no_quota", _snapshot([a_job(1)], projects=(replace(project(1, 8), gpu_models=frozenset("b")),))),
    "no such GPU": ("no_such_node", _snapshot([a_job(1, Ask(1000, gpu_models=frozenset("h")))])),
    "no such cores, and a limit": (
        "no_such_node",
        _snapshot([a_job(1, Ask(1000, cpus=9))], nodes=(node(1, 4, cpus=8),), projects=(project(1, 0, 0),)),
    ),
    "no node at all": ("no_such_node", _snapshot([a_job(1, Ask(500))], nodes=())),
    "no node that runs so long": (
        "no_such_node",
        _snapshot([a_job(1, max_runtime_s=900)], nodes=(node(1, 4, max_runtime_bound_s=800),)),
    ),
    "no such card": (
        "no_such_node",
        _snapshot([a_job(1, Ask(1000, nodes=2, memory_bytes=4, gpu_memory_bytes=80, interconnect="nvlink"))]),
    ),
    "a project that is not active": (
        "project_state",
        _snapshot([a_job(1)], projects=(project(1, 8, is_active=False),)),
    ),
    "an inactive project at its limit": (
        "project_state",
        _snapshot([a_job(1)], projects=(project(1, 8, 0, is_active=False),)),
    ),
    "back-off": ("backoff", _snapshot([a_job(1, not_before=60)])),
    "back-off into a window": (
        "backoff",
        _snapshot([a_job(1, not_before=150, max_runtime_s=20)], windows=(replace(LATER, milli=8000),)),
    ),
    "back-off of one at its limit": (
        "backoff",
        _snapshot([a_job(1, not_before=60), runs(7, 1, 2)], projects=(project(1, 8, 2),)),
    ),
    "what stops for it": (
        "releasing",
        _snapshot(
            [runs(7, 1, 4, owner=2, state=JobState.STOPPING), a_job(1, Ask(4000))],
            earmarks=(Earmark(1, 1, 4000),),
            nodes=(node(1, 4),),
        ),
    ),
}
"""The reason, and a snapshot in which job 1 waits for it."""


def _waits(snapshot: Snapshot) -> Wait:
    decision = decide(snapshot, 0, Policy())
    return next(wait for wait in decision.wait if wait.job == 1)


@pytest.mark.parametrize("name", CASES)
def test_it_starts_when_what_it_is_told_comes_true(name: str) -> None:
    reason, snapshot = CASES[name]
    wait = _waits(snapshot)
    assert wait.reason == reason, wait
    assert untrue(snapshot, 0, Policy(), decide(snapshot, 0, Policy())) is None


@pytest.mark.parametrize("name", [name for name, (reason, _snapshot) in CASES.items() if reason != "behind_plan"])
def test_it_does_not_start_while_anything_of_it_is_left(name: str) -> None:
    """Each closed gate is closed by itself."""
    _reason, snapshot = CASES[name]
    after, wait = done(snapshot, 0, decide(snapshot, 0, Policy())), _waits(snapshot)
    gates = list(wait.needs.get("gates", ()))
    for left in gates:
        opening = Opening(after, 0, Policy(), wait)
        for gate in gates:
            if gate is not left:
                opening.do(gate)
        assert not opening.starts(), left


@pytest.mark.parametrize(
    "name", [name for name, (reason, _snapshot) in CASES.items() if reason in ("limit", "guarantee")]
)
def test_one_less_than_what_is_missing_does_not_do(name: str) -> None:
    _reason, snapshot = CASES[name]
    wait = _waits(snapshot)
    for gate in wait.needs["gates"]:
        if gate["kind"] in ("limit", "guarantee"):
            opening = Opening(snapshot, 0, Policy(), wait)
            for other in wait.needs["gates"]:
                opening.do({**other, "missing": other["missing"] - 1} if other is gate else other)
            assert not opening.starts()


def test_every_reason_has_a_case() -> None:
    assert {reason for reason, _snapshot in CASES.values()} == KINDS - {"next_decision"}


def test_it_is_told_whose_plan_it_would_delay() -> None:
    """The first plan is on the other node; the job is short enough for that one, and too long for the second."""
    jobs = [
        runs(7, 1, 3, started_at=0, max_runtime_s=3000),
        runs(8, 2, 3, started_at=0, max_runtime_s=4000),
        a_job(2, Ask(4000), queued_at=0, order=2),
        a_job(3, Ask(4000), queued_at=1, order=3),
        a_job(1, Ask(1000), queued_at=2, order=4, max_runtime_s=3000),
    ]
    decision = decide(_snapshot(jobs), 2000, Policy())
    gate = next(wait for wait in decision.wait if wait.job == 1).needs["gates"][0]
    assert gate["kind"] == "behind_plan"
    assert (gate["job"], gate["planned_start"]) == (3, 4000)


@pytest.mark.parametrize("seed", range(examples(12)))
def test_whatever_happens_what_is_told_is_true(seed: int) -> None:
    """A cluster in which anything may happen, from a number, so that a failure can be had again."""
    drawn = random.Random(seed)
    world = _world(drawn)
    for _step in range(25):
        _happens(world, drawn)
        snapshot = world.snapshot()
        assert untrue(snapshot, world.now, world.policy, decide(snapshot, world.now, world.policy)) is None
        world.step()


def _entitlement(drawn: random.Random) -> Entitlement:
    def amounts() -> dict[str, int]:
        return {model: drawn.randint(0, 6) * GPUS for model in "ab" if drawn.random() < 0.6}

    limit = amounts() if drawn.random() < 0.4 else {}
    return Entitlement(amounts(), limit, Fraction(drawn.choice([0, 1, 1, 3])), drawn.randint(0, 2))


def _ask(drawn: random.Random) -> Ask:
    kind = drawn.random()
    if kind < 0.1:
        return Ask(0, cpus=drawn.choice([1, 8]))
    if kind < 0.25:
        return Ask(drawn.choice([1000, 2000]), nodes=drawn.choice([2, 3]), gpu_models=frozenset("a"))
    return Ask(
        drawn.choice([250, 500, 1000, 1000, 2000, 4000]),
        gpu_models=drawn.choice([frozenset(), frozenset("a"), frozenset("ab")]),
        cpus=drawn.choice([0, 0, 3, 8]),
        memory_bytes=drawn.choice([0, 0, 40]),
        is_exclusive=drawn.random() < 0.1,
        shares_device=drawn.random() < 0.5,
    )


def _world(drawn: random.Random) -> World:
    cpus = drawn.choice([None, 10])
    groups = {1: 11, 2: 11, 3: 10}
    windows = tuple(
        Window(f"w{at}", drawn.randint(1, 4), "a", drawn.choice([1000, 3000]), at * 400, at * 400 + 300)
        for at in range(drawn.choice([0, 5]))
    )
    return World.of(
        [node(1, 4, cpus=cpus), node(2, 4, memory_bytes=64), node(3, 2), node(4, 4, "b", cpus=cpus)],
        [
            Project(
                number,
                f"q{number}",
                group=groups.get(number),
                entitlement=_entitlement(drawn),
                cpu_limit=drawn.choice([None, 12]),
            )
            for number in (1, 2, 3, 4)
        ],
        [Group(10, "area", None, _entitlement(drawn)), Group(11, "part", 10, _entitlement(drawn))],
        reserve=drawn.choice([{}, {}, {"a": 2000}]),
        windows=windows,
        policy=Policy(starvation_after_s=60, grace_s=30),
    )


def _happens(world: World, drawn: random.Random) -> None:
    kind, running = drawn.random(), world.numbers(JobState.RUNNING)
    if kind < 0.5:
        fields = {
            "priority": drawn.randint(0, 2),
            "is_preemptible": drawn.random() < 0.66,
            "max_runtime_s": drawn.choice([None, 50, 500]),
            "is_emergency": drawn.random() < 0.2,
        }
        world.submit(drawn.randint(1, 4), _ask(drawn), **fields)
    elif kind < 0.6 and running:
        world.queue_again(drawn.choice(running), not_before=world.now + 30)
    elif kind < 0.65:
        world.release_all()
    elif kind < 0.75:
        world.set_state(drawn.randint(1, 4), drawn.choice([*NodeState, NodeState.UP, NodeState.UP]))
    elif kind < 0.85:
        world.grant(drawn.randint(1, 4), _entitlement(drawn))
    else:
        world.now += drawn.choice([1, 31, 130, 1000])
