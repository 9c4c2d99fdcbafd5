"""Every fault of a scenario is named by its JSON path, with the value and what is allowed."""

import json
from typing import Any

import pytest

from kernel.documents import BadInput, parse
from kernel.tests.changes import Change, drop, put
from scheduling.engine.scenario import read
from scheduling.tests.engine.scenario_files import read_again, small


def _job(**fields: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        document["jobs"].append({"id": "x", "project": "q0", "gpus": 1, **fields})

    return change


_GPUS = "is not a number of GPUs from 0 to 10000000 with at most 3 decimals"

FAULTS: list[tuple[Change, str, str]] = [
    (put("schema", to="scenario/2"), "$.schema", '"scenario/2" is not "scenario/1"'),
    (drop("schema"), "$.schema", 'null is not "scenario/1"'),
    (put("nodes", to={}), "$.nodes", "{} is not a list"),
    (put("nodes", 0, to=7), "$.nodes[0]", "7 is not an object"),
    (put("nodes", to=None), "$.nodes", "missing; give nodes, or only a capacity"),
    (put("capacity", to={"gpu-a": 8}), "$.capacity", "besides nodes; give only one"),
    (put("nodes", 0, "name", to=""), "$.nodes[0].name", '"" is not a text'),
    (put("nodes", 1, "name", to="n0"), "$.nodes[1].name", '"n0" is there twice'),
    (drop("nodes", 0, "name"), "$.nodes[0].name", "missing"),
    (drop("nodes", 0, "gpus"), "$.nodes[0].gpus", "missing"),
    (put("nodes", 0, "gpus", to=1.5), "$.nodes[0].gpus", "1.5 is not a whole number"),
    (put("nodes", 0, "gpus", to=-1), "$.nodes[0].gpus", "-1 is not a whole number"),
    (put("nodes", 0, "gpus", to=4096), "$.nodes[0].gpus", "4096 is more than 1024 on one node"),
    (drop("nodes", 0, "gpu_model"), "$.nodes[0].gpu_model", "missing"),
    (
        put("nodes", 0, "state", to="broken"),
        "$.nodes[0].state",
        '"broken" is not one of up, draining, suspect, down',
    ),
    (put("nodes", 0, "state", to=["up"]), "$.nodes[0].state", '["up"] is not one of'),
    (put("nodes", 0, "cpus", to="64"), "$.nodes[0].cpus", '"64" is not a whole number'),
    (put("nodes", 0, "memory_mb", to=-5), "$.nodes[0].memory_mb", "-5 is not a whole number"),
    (put("nodes", 0, "gpu_memory_mb", to=True), "$.nodes[0].gpu_memory_mb", "true is not a whole number"),
    (put("nodes", 1, "interconnect", to=4), "$.nodes[1].interconnect", "4 is not a text"),
    (put("nodes", 1, "pool", to=[]), "$.nodes[1].pool", "[] is not a text"),
    (put("reserve", to=3), "$.reserve", "3 is not an object"),
    (put("reserve", "gpu-a", to="1"), "$.reserve.gpu-a", f'"1" {_GPUS}'),
    (put("groups", 1, "parent", to="nobody"), "$.groups[1].parent", '"nobody" is no group; there is "area", "part"'),
    (put("groups", 0, "parent", to="part"), "$.groups[0].parent", '"area" is above itself'),
    (put("groups", 0, "parent", to="area"), "$.groups[0].parent", '"area" is above itself'),
    (put("groups", 0, "guaranteed", to=[3]), "$.groups[0].guaranteed", "[3] is not an object"),
    (put("groups", 0, "weight", to=-1), "$.groups[0].weight", "-1 is not a number from 0"),
    (put("projects", 0, "group", to="q1"), "$.projects[0].group", '"q1" is no group'),
    (put("projects", 0, "group", to=5), "$.projects[0].group", "5 is not a text"),
    (put("projects", 1, "name", to="q0"), "$.projects[1].name", '"q0" is there twice'),
    (put("projects", 0, "guaranteed", "gpu-a", to=-1), "$.projects[0].guaranteed.gpu-a", f"-1 {_GPUS}"),
    (put("projects", 0, "limit", "gpu-b", to=0.0005), "$.projects[0].limit.gpu-b", "0.0005 is not a number of GPUs"),
    (put("projects", 0, "limit", "gpu-b", to=10**400), "$.projects[0].limit.gpu-b", _GPUS),
    (put("projects", 0, "requested", to={"gpu-a": False}), "$.projects[0].requested.gpu-a", f"false {_GPUS}"),
    (put("projects", 1, "weight", to="2"), "$.projects[1].weight", '"2" is not a number from 0'),
    (put("projects", 1, "weight", to=1e-13), "$.projects[1].weight", "1E-13 is not a number from 0 with at most 12"),
    (put("projects", 1, "rank", to=0.5), "$.projects[1].rank", "0.5 is not a whole number"),
    (put("projects", 1, "created_order", to="1"), "$.projects[1].created_order", '"1" is not a whole number'),
    (
        put("projects", 1, "past_use", to="much"),
        "$.projects[1].past_use",
        '"much" is not a number from 0, or an obj',
    ),
    (put("projects", 1, "past_use", to=-0.1), "$.projects[1].past_use", "-0.1 is not a number from 0"),
    (put("projects", 1, "past_use", "gpu-a", to=[]), "$.projects[1].past_use.gpu-a", "[] is not a number from 0"),
    (put("jobs", 0, "id", to="p0"), "$.jobs[2].id", '"p0" is there twice'),
    (drop("jobs", 0, "id"), "$.jobs[0].id", "missing"),
    (put("jobs", 0, "project", to="q9"), "$.jobs[0].project", '"q9" is not among "q0", "q1"'),
    (put("jobs", 0, "project", to="area"), "$.jobs[0].project", '"area" is not among "q0", "q1"'),
    (drop("jobs", 2, "gpus"), "$.jobs[2].gpus", "missing"),
    (_job(gpus=1.5), "$.jobs[3].gpus", "1.5 on 1 node(s) is not part of a GPU, or a number of whole GPUs"),
    (_job(gpus=3, nodes_exact=2), "$.jobs[3].gpus", "3 on 2 node(s) is not part of a GPU"),
    (_job(gpus=0.001, nodes_exact=2), "$.jobs[3].gpus", "0.001 on 2 node(s) is not part"),
    (_job(nodes_exact=0), "$.jobs[3].nodes_exact", "0 is not a number of nodes from 1"),
    (_job(nodes_exact=1.5), "$.jobs[3].nodes_exact", "1.5 is not a whole number"),
    (_job(gpu_models="gpu-a"), "$.jobs[3].gpu_models", '"gpu-a" is not a list'),
    (_job(gpu_models=["gpu-a", 3]), "$.jobs[3].gpu_models[1]", "3 is not a text"),
    (_job(gpu_model="gpu-a", gpu_models=["gpu-b"]), "$.jobs[3].gpu_models", 'besides the gpu_model "gpu-a"'),
    (_job(priority="high"), "$.jobs[3].priority", '"high" is not a whole number'),
    (_job(preemptible=1), "$.jobs[3].preemptible", "1 is not true or false"),
    (_job(state="paused"), "$.jobs[3].state", '"paused" is not one of queued, running, stopping'),
    (_job(order=0.5), "$.jobs[3].order", "0.5 is not a whole number"),
    (_job(submitted_at="now"), "$.jobs[3].submitted_at", '"now" is not a number of seconds'),
    (_job(started_at=True), "$.jobs[3].started_at", "true is not a number of seconds"),
    (_job(last_checkpoint_at={}), "$.jobs[3].last_checkpoint_at", "{} is not a number of seconds"),
    (_job(max_runtime_s=-1), "$.jobs[3].max_runtime_s", "-1 is less than 0 seconds"),
    (_job(min_runtime_s="1h"), "$.jobs[3].min_runtime_s", '"1h" is not a number of seconds'),
    (_job(interruptions_today=-1), "$.jobs[3].interruptions_today", "-1 is not a whole number"),
    (_job(cpus=0.5), "$.jobs[3].cpus", "0.5 is not a whole number"),
    (_job(memory_mb="1G"), "$.jobs[3].memory_mb", '"1G" is not a whole number'),
    (_job(exclusive="yes"), "$.jobs[3].exclusive", '"yes" is not true or false'),
    (_job(share_device=0), "$.jobs[3].share_device", "0 is not true or false"),
    (_job(placement={"n0": 1}), "$.jobs[3].placement", '{"n0": 1}, though it is queued'),
    (_job(placement="n0"), "$.jobs[3].placement", '"n0" is not an object'),
    (_job(state="running"), "$.jobs[3].placement", "missing, though it is running"),
    (_job(state="running", placement={"n9": 1}), "$.jobs[3].placement.n9", '"n9" is not a node; there is "n0", "n1"'),
    (_job(state="running", placement={"n0": "1"}), "$.jobs[3].placement.n0", f'"1" {_GPUS}'),
    (_job(state="running", placement={"n0": 2}), "$.jobs[3].placement", '{"n0": 2} is not 1 GPU(s)'),
    (_job(state="running", gpus=4, placement={"n0": 4}), "$.jobs[3].placement.n0", "the node has 4, of which 3 are"),
    (
        _job(state="running", gpu_model="gpu-a", placement={"n1": 1}),
        "$.jobs[3].placement",
        '{"n1": 1} is on gpu-b; allowed is gpu-a',
    ),
    (
        _job(state="running", gpus=2, nodes_exact=2, placement={"n0": 1, "n1": 1}),
        "$.jobs[3].placement",
        "is on gpu-a, gpu-b; one model is allowed",
    ),
    (
        _job(state="running", gpus=2, nodes_exact=2, placement={"n0": 2}),
        "$.jobs[3].placement",
        '{"n0": 2} is not 1 GPU(s) on each of 2 nodes',
    ),
    (put("windows", 0, "end", to=100), "$.windows[0].end", "100 is before the start, 200"),
    (drop("windows", 0, "start"), "$.windows[0].start", "missing"),
    (put("windows", 0, "project", to="area"), "$.windows[0].project", '"area" is not among'),
    (drop("windows", 0, "gpu_model"), "$.windows[0].gpu_model", "missing"),
    (put("earmarks", 0, "job", to="p9"), "$.earmarks[0].job", '"p9" is not among "p0", "r0", "s0"'),
    (put("earmarks", 0, "node", to="n9"), "$.earmarks[0].node", '"n9" is not among "n0", "n1"'),
    (drop("earmarks", 0, "gpus"), "$.earmarks[0].gpus", "missing"),
    (put("policy", to=[]), "$.policy", "[] is not an object"),
    (put("policy", "starvation_after_s", to=-1), "$.policy.starvation_after_s", "-1 is less than 0 seconds"),
    (put("policy", "interruptions_per_day", to=2.5), "$.policy.interruptions_per_day", "2.5 is not a whole number"),
    (put("usage_sensitivity", to="k"), "$.usage_sensitivity", '"k" is not a number from 0'),
    (put("now", to="today"), "$.now", '"today" is not a number of seconds'),
]


def test_the_small_scenario_has_no_fault() -> None:
    assert len(read_again(small()).snapshot.jobs) == 3


@pytest.mark.parametrize(("change", "path", "text"), FAULTS, ids=[f"{n}{row[1]}" for n, row in enumerate(FAULTS)])
def test_a_fault_is_named_by_its_path(change: Change, path: str, text: str) -> None:
    document = small()
    change(document)
    with pytest.raises(BadInput) as refusal:
        read_again(document)
    told = {fault.path: fault.text for fault in refusal.value.faults}
    assert text in told[path]
    assert len(told) == len(refusal.value.faults)


def test_every_fault_is_told_at_once() -> None:
    document = small()
    for change, _path, _text in FAULTS:
        if change is not FAULTS[0][0]:
            try:
                change(document)
            except (KeyError, TypeError, IndexError, AttributeError):
                continue
    with pytest.raises(BadInput) as refusal:
        read_again(document)
    assert len(refusal.value.faults) >= 8


@pytest.mark.parametrize(
    ("text", "path"),
    [("", "$"), ("{", "$"), ("[1,]", "$"), ('{"a": NaN}', "$.a"), ('{"a": 1, "a": 2}', "$.a"), ("[" * 100_000, "$")],
)
def test_what_is_no_json_is_one_fault(text: str, path: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse(text, is_exact=True)
    assert [fault.path for fault in refusal.value.faults] == [path]


@pytest.mark.parametrize("document", [None, [], 3, "scenario/1", json.loads("{}")])
def test_another_document_is_refused(document: Any) -> None:
    with pytest.raises(BadInput):
        read(document)
