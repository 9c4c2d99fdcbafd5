"""Where jobs go: whole or not at all, best fit, filters, fractions."""

from dataclasses import replace

from scheduling.engine import Policy, decide
from scheduling.engine.reasons import RoomCount, no_room
from scheduling.tests.engine.build import (
    GIB,
    NOW,
    decided,
    job,
    node,
    project,
    quota,
    snapshot,
    start_of,
    started,
    wait_of,
)


def test_best_fit_takes_the_node_where_least_is_left() -> None:
    nodes = [node(1), node(2, free={0: 0, 1: 0, 2: 0, 3: 0, 4: 0}), node(3)]
    decision = decided(nodes, [job(1, 3)])
    assert start_of(decision, 1).placement == {2: {205: 1000, 206: 1000, 207: 1000}}


def test_equal_nodes_are_taken_by_name() -> None:
    decision = decided([node(2), node(1)], [job(1, 8)])
    assert list(start_of(decision, 1).placement) == [1]


def test_a_job_is_on_one_node_unless_it_asks_for_more() -> None:
    decision = decided([node(1, 4), node(2, 4)], [job(1, 8)])
    assert wait_of(decision, 1).reason == "no_such_node"
    assert wait_of(decision, 1).text == (
        "It needs one node with 8 GPUs of h100; no such nodes exist where this project may run."
    )


def test_a_gang_takes_its_nodes_evenly_or_not_at_all() -> None:
    nodes = [node(1, 4), node(2, 4), node(3, 4, free={0: 0})]
    placed = start_of(decided(nodes, [job(1, 8, nodes=2)]), 1).placement
    assert {pk: sum(devices.values()) for pk, devices in placed.items()} == {1: 4000, 2: 4000}
    decision = decided(nodes[1:], [job(1, 8, nodes=2), job(2, 1, project=2)])
    assert started(decision) == [2]
    assert wait_of(decision, 1).needs["most_free_on_a_node"] == 4


def test_lack_of_room_holds_back_the_same_project_and_model_alone() -> None:
    nodes = [node(1, 2, free={0: 0}), node(2, model="a100")]
    quotas = {(1, "h100"): quota(8), (1, "a100"): quota(8), (2, "h100"): quota(8)}
    queue = [
        job(1, 2, gpu_models=frozenset({"h100"})),
        job(2, 1, gpu_models=frozenset({"h100"})),
        job(3, 1, gpu_models=frozenset({"a100"})),
        job(4, 1, project=2),
    ]
    decision = decided(nodes, queue, quotas=quotas)
    assert started(decision) == [3, 4]
    assert wait_of(decision, 2).reason == "behind"
    assert wait_of(decision, 2).needs == {"job": 1}


def test_without_strict_order_a_smaller_job_passes() -> None:
    seen = snapshot([node(1, 2, free={0: 0})], [job(1, 2), job(2, 1)])
    assert started(decide(seen, NOW, Policy(has_strict_order=False))) == [2]


def test_nodes_that_take_nothing_new_are_named_as_such() -> None:
    decision = decided([node(1, can_start=False)], [job(1), job(2)])
    assert wait_of(decision, 1).reason == "node_state"
    assert wait_of(decision, 1).text == "It needs one node with 1 GPU of h100; of 1 such node none takes new jobs now."
    assert wait_of(decision, 2).reason == "node_state"  # and nobody waits behind it


def test_data_class_pool_and_bound_of_runtime_filter_nodes() -> None:
    for excluded in (
        node(1, source="spot"),
        node(1, holders=frozenset({2})),
        node(1, max_runtime_bound_s=60),
    ):
        decision = decided([excluded], [job(1, max_runtime_s=61)])
        assert wait_of(decision, 1).reason == "no_such_node"
    for fine in (node(1, holders=frozenset({1})), node(1, max_runtime_bound_s=61)):
        assert started(decided([fine], [job(1, max_runtime_s=61)])) == [1]
    assert started(decided([node(1, max_runtime_bound_s=60)], [job(1)])) == [1]


def test_cpu_and_memory_of_the_node() -> None:
    assert wait_of(decided([node(1)], [job(1, cpus=65)]), 1).reason == "no_such_node"
    assert wait_of(decided([node(1)], [job(1, memory_bytes=513 * GIB)]), 1).reason == "no_such_node"
    decision = decided([node(1)], [job(1, cpus=40), job(2, cpus=40)])
    assert started(decision) == [1]
    assert wait_of(decision, 2).reason == "no_room"
    decision = decided([node(1, free_memory_bytes=GIB)], [job(1, memory_bytes=2 * GIB)])
    assert wait_of(decision, 1).reason == "no_room"


def test_a_node_that_failed_the_job_is_used_only_if_nothing_else_fits() -> None:
    nodes = [node(1), node(2, 16)]
    assert list(start_of(decided(nodes, [job(1, avoid=frozenset({1}))]), 1).placement) == [2]
    assert list(start_of(decided(nodes[:1], [job(1, avoid=frozenset({1}))]), 1).placement) == [1]


def test_fractions_share_a_device_inside_one_project() -> None:
    decision = decided([node(1, 2)], [job(1, 0.5), job(2, 0.25), job(3, 0.5, project=2), job(4, 0.75)])
    taken = {start.job: start.placement[1] for start in decision.start}
    assert taken == {1: {100: 500}, 2: {100: 250}, 3: {101: 500}}
    assert wait_of(decision, 4).reason == "no_room"


def test_the_fullest_shared_device_that_fits_is_taken() -> None:
    shared = node(1, 3, free={0: 800, 1: 300, 2: 100})
    own = replace(shared, devices=tuple(replace(d, projects=frozenset({1})) for d in shared.devices))
    assert start_of(decided([own], [job(1, 0.25)]), 1).placement == {1: {101: 250}}


def test_a_job_without_gpus_runs_where_the_project_has_a_quota() -> None:
    nodes = [node(1, model="a100"), node(2)]
    decision = decided(nodes, [job(1, 0, cpus=4)])
    assert start_of(decision, 1).placement == {2: {}}


def test_what_did_not_fit_once_is_not_tried_again_and_still_has_its_reason() -> None:
    queue = [job(1, 2, project=1), job(2, 2, project=1, is_preemptible=True)]
    seen = snapshot([node(1, 2, free={0: 0})], queue)
    decision = decide(seen, NOW, Policy(has_strict_order=False))
    assert [wait.reason for wait in decision.wait] == ["no_room", "no_room"]
    assert decision.wait[0].text == (
        "It needs one node with 2 GPUs of h100, with CPU and memory; wholly free: 1 GPU, at most 1 on one node."
    )


def test_of_several_models_the_nearest_refusal_is_the_reason() -> None:
    quotas = {(1, "a100"): quota(0, 0), (1, "h100"): quota(8)}
    decision = decided([node(1, model="a100"), node(2, free=dict.fromkeys(range(8), 0))], [job(1)], quotas=quotas)
    assert wait_of(decision, 1).reason == "no_room"


def test_a_project_without_the_right_source_says_so() -> None:
    decision = decided([node(1, source="spot")], [job(1)], projects={1: project(sources=frozenset({"owned"}))})
    assert wait_of(decision, 1).needs["nodes_able"] == 0


def test_nodes_are_counted_in_good_english() -> None:
    pair = job(1, 4, nodes=2)
    words = [no_room(pair, "h100", RoomCount(able, takes, 0, 0)).text for able, takes in ((1, 1), (3, 0), (3, 1))]
    asked = "It needs 2 nodes with 2 GPUs each of h100; "
    assert words == [
        asked + "1 such node exists where this project may run.",
        asked + "of 3 such nodes none takes new jobs now.",
        asked + "of 3 such nodes 1 takes new jobs now.",
    ]
