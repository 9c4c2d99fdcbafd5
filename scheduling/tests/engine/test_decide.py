"""What a scenario cannot say: live fields, the reasons of those that wait with their numbers, and instants by hand."""

from dataclasses import replace

import pytest

from scheduling.engine import (
    Ask,
    Earmark,
    JobState,
    NodeState,
    Policy,
    Snapshot,
    Window,
    decide,
)
from scheduling.tests.engine.by_hand import a_job, decided, gate_of, runs, started, wait_of
from scheduling.tests.engine.world import node, project


def test_a_project_that_is_not_active_starts_nothing() -> None:
    decision = decided([node(1, 4)], [a_job(1)], [project(1, is_active=False)])
    assert wait_of(decision, 1).reason == "project_state"
    assert "q1" in wait_of(decision, 1).text


def test_back_off_holds_a_job_until_its_time() -> None:
    jobs = [a_job(1, not_before=60), a_job(2, not_before=50)]
    decision = decided([node(1, 4)], jobs, now=50)
    assert started(decision) == {2: [1]}
    assert (wait_of(decision, 1).reason, wait_of(decision, 1).until) == ("backoff", 60)


def test_models_that_the_project_may_not_use_are_no_quota() -> None:
    jobs = [a_job(1, Ask(1000, gpu_models=frozenset("ab"))), a_job(2)]
    decision = decided([node(1, 4)], jobs, [project(1, gpu_models=frozenset())])
    assert {wait.reason for wait in decision.wait} == {"no_quota"}
    assert wait_of(decision, 1).text == "Project q1 has no GPU quota on a or b."
    assert wait_of(decision, 2).text == "Project q1 has no GPU quota."


def test_what_no_node_could_hold_is_said_so() -> None:
    decision = decided([node(1, 4)], [a_job(1, Ask(8000)), a_job(2, Ask(4000, nodes=2))])
    assert {wait.reason for wait in decision.wait} == {"no_such_node"}
    assert "2 nodes with 4 GPUs each" in wait_of(decision, 2).text


@pytest.mark.parametrize("state", [NodeState.DRAINING, NodeState.SUSPECT])
def test_nodes_that_take_nothing_are_the_reason(state: NodeState) -> None:
    decision = decided([node(1, 4, state=state)], [a_job(1)])
    assert wait_of(decision, 1).reason == "node_state"
    assert gate_of(decision, 1)["nodes_open"] == 0


def test_data_class_pool_and_bound_of_runtime_filter_nodes() -> None:
    nodes = [
        node(1, 1, source="spot"),
        node(2, 1, holders=frozenset({2})),
        node(3, 1, max_runtime_bound_s=100),
        node(4, 1),
    ]
    owned = project(1, sources=frozenset({"owned"}))
    decision = decided(nodes, [a_job(n, max_runtime_s=200) for n in (1, 2, 3)], [owned, project(2)])
    assert started(decision) == {1: [4]}
    decision = decided(nodes, [a_job(1, owner=2, max_runtime_s=50)], [owned, project(2)])
    assert len(started(decision)) == 1
    decision = decided(nodes[:3], [a_job(1, max_runtime_s=50)], [owned, project(2)])
    assert started(decision) == {1: [3]}


def test_a_node_that_failed_the_job_is_used_only_if_nothing_else_fits() -> None:
    jobs = [a_job(1, avoid=frozenset({1}))]
    assert started(decided([node(1, 2), node(2, 2)], jobs)) == {1: [2]}
    assert started(decided([node(1, 2), node(2, 2, state=NodeState.DOWN)], jobs)) == {1: [1]}


def test_the_guarantee_is_said_with_its_numbers() -> None:
    jobs = [runs(7, 1, 3, is_preemptible=False), a_job(1, Ask(2000), is_preemptible=False)]
    decision = decided([node(1, 8)], jobs, [project(1, 4)])
    gate = gate_of(decision, 1)
    assert (gate["kind"], gate["level"], gate["name"]) == ("guarantee", "project", "q1")
    assert (gate["bound"], gate["used"], gate["missing"]) == (4, 3, 1)
    assert "guaranteed 4 GPUs" in wait_of(decision, 1).text


def test_the_limit_is_said_with_its_numbers() -> None:
    decision = decided([node(1, 8)], [runs(7, 1, 3), a_job(1, Ask(2000))], [project(1, 0, 4)])
    gate = gate_of(decision, 1)
    assert (gate["kind"], gate["bound"], gate["used"], gate["missing"]) == ("limit", 4, 3, 1)


def test_a_limit_opens_when_enough_of_what_fills_it_ends() -> None:
    jobs = [
        runs(7, 1, 2, started_at=0, max_runtime_s=500),
        runs(8, 2, 2, started_at=0, max_runtime_s=900),
        a_job(1, Ask(3000)),
    ]
    decision = decided([node(1, 4), node(2, 4)], jobs, [project(1, 0, 5)], now=100)
    assert wait_of(decision, 1).reason == "limit"
    assert wait_of(decision, 1).until == 500


def test_room_is_expected_when_max_runtimes_end() -> None:
    jobs = [runs(7, 1, 4, started_at=0, max_runtime_s=500), a_job(1, Ask(2000))]
    decision = decided([node(1, 4)], jobs, now=100)
    wait = wait_of(decision, 1)
    assert (wait.reason, wait.until) == ("no_room", 500)
    assert gate_of(decision, 1)["nodes_lacking"][0]["missing_gpus"] == 2


@pytest.mark.parametrize(("now", "until"), [(499, 500), (500, 530), (700, 730)])
def test_who_has_outrun_its_max_runtime_is_expected_to_stop_now(now: float, until: float) -> None:
    """It is still there, so that nobody starts at once; being stopped takes the grace time at most."""
    jobs = [runs(7, 1, 4, started_at=0, max_runtime_s=500), a_job(1, Ask(2000))]
    decision = decided([node(1, 4)], jobs, now=now, policy=Policy(grace_s=30))
    assert (wait_of(decision, 1).reason, wait_of(decision, 1).until) == ("no_room", until)


def test_a_plan_is_made_for_when_an_overrun_job_is_gone() -> None:
    """Beside the reserve, too; and who ends until then does not move it."""
    jobs = [
        runs(7, 1, 3, started_at=0, max_runtime_s=500),
        a_job(1, Ask(4000)),
        a_job(2, queued_at=3900, max_runtime_s=40),
        a_job(3, queued_at=3900, max_runtime_s=20),
    ]
    for reserve in ({}, {"a": 1000}):
        nodes = [node(1, 4), node(2, 1)] if reserve else [node(1, 4)]
        decision = decided(nodes, jobs, now=4000, reserve=reserve, policy=Policy(grace_s=30))
        assert sorted(started(decision)) == [3]
        assert (wait_of(decision, 1).until, wait_of(decision, 1).needs["planned_start"]) == (4030, 4030)


def test_without_a_max_runtime_nobody_can_say_when() -> None:
    assert wait_of(decided([node(1, 4)], [runs(7, 1, 4), a_job(1)]), 1).until is None


def test_the_reserve_is_the_reason_while_gpus_are_free() -> None:
    decision = decided([node(1, 4)], [runs(7, 1, 2), a_job(1)], reserve={"a": 2000})
    gate = gate_of(decision, 1)
    assert (gate["kind"], gate["bound"], gate["used"], gate["missing"]) == ("reserve", 2, 2, 1)


def test_a_window_is_waited_for_to_its_end() -> None:
    window = Window("w", 2, "a", 4000, 100, 200)
    decision = decided([node(1, 4)], [a_job(1, max_runtime_s=150)], [project(1), project(2)], windows=(window,))
    assert (wait_of(decision, 1).reason, wait_of(decision, 1).until) == ("window", 200)


def test_cores_and_memory_count_only_where_there_is_a_quota() -> None:
    limited = project(1, cpu_limit=10, memory_limit_bytes=100)
    jobs = [a_job(1, Ask(1000, cpus=6)), a_job(2, Ask(1000, cpus=6)), a_job(3, Ask(1000, memory_bytes=101)), a_job(4)]
    decision = decided([node(1, 4)], jobs, [limited])
    assert sorted(started(decision)) == [1, 4]
    assert (gate_of(decision, 2)["resource"], gate_of(decision, 2)["missing"]) == ("cpus", 2)
    assert (gate_of(decision, 3)["resource"], gate_of(decision, 3)["missing"]) == ("memory_bytes", 1)
    assert sorted(started(decided([node(1, 4)], jobs))) == [1, 2, 3, 4]


def test_cores_of_a_gang_count_on_each_node() -> None:
    decision = decided([node(1, 2), node(2, 2)], [a_job(1, Ask(1000, nodes=2, cpus=6))], [project(1, cpu_limit=10)])
    assert gate_of(decision, 1)["missing"] == 2


def test_a_later_job_is_told_whose_plan_it_would_move() -> None:
    jobs = [
        runs(7, 1, 3, started_at=3500, max_runtime_s=1000),
        a_job(1, Ask(4000), queued_at=0),
        a_job(2, queued_at=10, max_runtime_s=2000),
    ]
    decision = decided([node(1, 4)], jobs, now=4000)
    wait = wait_of(decision, 2)
    assert wait.reason == "behind_plan"
    assert wait.until == 4500
    assert wait_of(decision, 1).until == 4500


def test_an_earmark_waits_for_what_stops_and_says_so() -> None:
    jobs = [runs(7, 1, 2, owner=2, state=JobState.STOPPING), a_job(1, Ask(2000))]
    marks = (Earmark(1, 1, 2000, since=90),)
    decision = decided([node(1, 2)], jobs, [project(1), project(2)], now=100, earmarks=marks)
    assert wait_of(decision, 1).reason == "releasing"
    assert decision.earmarks == marks


def test_an_earmark_ends_after_twice_the_grace_time_and_a_margin() -> None:
    jobs = [
        runs(7, 1, 2, owner=2, state=JobState.STOPPING),
        a_job(1, Ask(2000)),
        a_job(2, Ask(1000), owner=3),
    ]
    marks, policy = (Earmark(1, 1, 2000, since=0),), Policy(grace_s=30, earmark_margin_s=20)
    three = [project(1), project(2), project(3)]
    kept = decided([node(1, 3)], jobs, three, now=80, earmarks=marks, policy=policy)
    ended = decided([node(1, 3)], jobs, three, now=81, earmarks=marks, policy=policy)
    assert (kept.earmarks, ended.earmarks) == (marks, ())
    assert wait_of(ended, 1).reason == "no_room"


def test_the_earmarks_of_a_gang_are_on_each_node() -> None:
    jobs = [runs(7, 1, 2, owner=2, order=0), runs(8, 2, 2, owner=2, order=1), a_job(1, Ask(2000, nodes=2))]
    decision = decided([node(1, 2), node(2, 2)], jobs, [project(1, 4), project(2, weight=0)], now=5)
    assert decision.earmarks == (Earmark(1, 1, 2000, 5), Earmark(1, 2, 2000, 5))
    [start] = decision.start
    assert start.after == (7, 8) or set(start.after) == {7, 8}


def test_lost_work_is_gpus_times_seconds_since_the_checkpoint() -> None:
    victim = runs(7, 1, 2, owner=2, started_at=0, last_checkpoint_at=60)
    decision = decided([node(1, 2)], [victim, a_job(1, Ask(2000))], [project(1, 2), project(2, weight=0)], now=100)
    [preempt] = decision.preempt
    assert (preempt.job, preempt.by, preempt.lost_gpu_seconds) == (7, 1, 80)


def test_a_stopped_member_is_given_a_minute() -> None:
    gang = a_job(
        7,
        Ask(2000, nodes=2),
        state=JobState.RUNNING,
        gpu_model="a",
        placement={1: {100: 1000, 101: 1000}, 2: {200: 1000, 201: 1000}},
        member_lost_at=40,
    )
    nodes = [node(1, 2), node(2, 2, state=NodeState.DOWN)]
    assert decided(nodes, [gang], now=100).preempt == ()
    assert [preempt.job for preempt in decided(nodes, [gang], now=101).preempt] == [7]


def test_jobs_without_gpus_start_where_there_is_a_core() -> None:
    jobs = [a_job(1, Ask(0, cpus=8)), a_job(2, Ask(0, cpus=8))]
    assert len(started(decided([node(1, 4, cpus=8)], jobs))) == 1


def test_nothing_at_all_is_decided_too() -> None:
    empty = decide(Snapshot(), 0, Policy())
    assert (empty.start, empty.preempt, empty.wait, empty.share) == ((), (), (), {})


def test_down_nodes_are_no_part_of_the_reserve() -> None:
    """What the reserve keeps free has to be on nodes that take something."""
    down = node(2, 4, state=NodeState.DOWN)
    decision = decided([node(1, 4), down], [a_job(1, Ask(2000)), a_job(2)], reserve={"a": 2000})
    assert started(decision) == {1: [1]}
    gate = gate_of(decision, 2)
    assert (gate["kind"], gate["used"], gate["missing"]) == ("reserve", 2, 1)
    assert decision.share == {1: {"a": 2000}}


def test_the_reason_is_room_and_not_the_reserve_when_nothing_is_free() -> None:
    """All is used under an emergency grant: there is no reserve left that this job would have to leave."""
    decision = decided([node(1, 4)], [runs(7, 1, 4, is_emergency=True), a_job(1)], reserve={"a": 2000})
    assert [gate["kind"] for gate in wait_of(decision, 1).needs["gates"]] == ["no_room"]


def test_running_jobs_count_their_cores_in_the_limit_of_their_project() -> None:
    running = a_job(
        7, Ask(1000, cpus=6), state=JobState.RUNNING, gpu_model="a", placement={1: {100: 1000}}, started_at=0
    )
    decision = decided([node(1, 4)], [running, a_job(1, Ask(1000, cpus=5))], [project(1, cpu_limit=10)])
    gate = gate_of(decision, 1)
    assert (gate["kind"], gate["resource"], gate["used"], gate["missing"]) == ("resource", "cpus", 6, 1)


def test_victims_give_their_own_project_cores_and_no_other() -> None:
    """The newcomer needs six of ten cores, of which six are used."""
    victim = a_job(7, Ask(2000, cpus=6), state=JobState.RUNNING, gpu_model="a", placement={1: {100: 1000, 101: 1000}})
    newcomer = a_job(1, Ask(2000, cpus=6, memory_bytes=6), priority=1)
    limited = project(1, 2, cpu_limit=10, memory_limit_bytes=6)
    decision = decided([node(1, 2)], [victim, newcomer], [limited])
    assert [preempt.job for preempt in decision.preempt] == [7]
    elsewhere = a_job(8, Ask(0, cpus=6), state=JobState.RUNNING, gpu_model="a", placement={2: {}})
    other = project(2, weight=0)
    jobs = [runs(7, 1, 2, owner=2), elsewhere, newcomer]
    decision = decided([node(1, 2), node(2, 0)], jobs, [limited, other])
    assert decision.preempt == ()
    assert gate_of(decision, 1)["resource"] == "cpus"
    assert len(decided([node(1, 2)], [jobs[0], newcomer], [limited, other]).preempt) == 1


def test_a_plan_for_a_node_alone_keeps_the_node_from_those_without_gpus() -> None:
    jobs = [
        runs(7, 1, 1, started_at=0, max_runtime_s=4500),
        a_job(1, Ask(1000, is_exclusive=True), queued_at=0),
        a_job(2, Ask(0, cpus=1), queued_at=3000),
        a_job(3, Ask(0, cpus=1), queued_at=3000, max_runtime_s=400),
    ]
    decision = decided([node(1, 4)], jobs, now=4000)
    assert started(decision) == {3: [1]}
    assert wait_of(decision, 2).reason == "behind_plan"


def test_what_is_promised_to_the_owner_of_an_earmark_includes_its_cores() -> None:
    jobs = [
        runs(7, 1, 2, owner=2, state=JobState.STOPPING),
        a_job(1, Ask(2000, cpus=6)),
        a_job(2, Ask(0, cpus=4), owner=3),
    ]
    marks, owners = (Earmark(1, 1, 2000, since=0),), [project(1), project(2), project(3)]
    assert started(decided([node(1, 2, cpus=8)], jobs, owners, earmarks=marks)) == {}
    assert started(decided([node(1, 2, cpus=10)], jobs, owners, earmarks=marks)) == {2: [1]}


def test_a_given_request_goes_before_what_the_jobs_ask_for() -> None:
    given = project(1, requested={"a": 1000, "h": 1000})
    decision = decided([node(1, 4)], [a_job(1, Ask(3000))], [given])
    assert decision.share == {1: {"a": 1000}}


def test_at_most_so_many_starts_are_planned() -> None:
    """The next in line holds none, so that a later job may delay it."""
    jobs = [runs(7, 1, 3, started_at=0, max_runtime_s=5000), a_job(1, Ask(4000)), a_job(2, queued_at=3000)]
    assert started(decided([node(1, 4)], jobs, now=4000)) == {}
    assert started(decided([node(1, 4)], jobs, now=4000, policy=Policy(planned_starts=0))) == {2: [1]}


def test_a_gang_is_on_nodes_of_one_model() -> None:
    gang = a_job(1, Ask(1000, nodes=2))
    nodes = [node(1, 1), node(2, 1, "b"), node(3, 1, "b")]
    assert started(decided(nodes, [gang])) == {1: [2, 3]}
    assert started(decided(nodes[:2], [gang])) == {}


def test_a_gang_looks_at_each_model_for_all_its_nodes() -> None:
    """Four nodes have room, two of each model, and three are wanted."""
    nodes = [node(number, 1, model) for number, model in zip(range(1, 7), "abbaba", strict=True)]
    jobs = [runs(7, 1, 1), replace(runs(8, 2, 1), gpu_model="b"), a_job(1, Ask(1000, nodes=3), priority=-1)]
    assert started(decided(nodes, jobs)) == {}
    assert started(decided(nodes, [jobs[0], jobs[2]])) == {1: [2, 3, 5]}
    assert started(decided(nodes, [jobs[1], jobs[2]])) == {1: [1, 4, 6]}


def test_who_is_refused_by_quota_refuses_only_those_that_are_alike() -> None:
    firm = [a_job(number, Ask(2000), is_preemptible=False) for number in (1, 2)]
    decision = decided([node(1, 4)], [*firm, a_job(3, Ask(2000)), a_job(4, is_preemptible=False)], [project(1, 1)])
    assert sorted(started(decision)) == [3, 4]
    assert [wait_of(decision, number).reason for number in (1, 2)] == ["guarantee", "guarantee"]
