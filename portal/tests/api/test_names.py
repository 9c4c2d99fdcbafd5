"""The names that programs outside of the project rely on. They may gain fields; none is renamed or taken away.

A line that fails here is a broken promise to somebody: the code is wrong, not this list.
"""

from typing import Any

import pytest

from inventory.states import NodeState
from portal.tests.api.document import document, resolved
from projects.models import Stage
from projects.states import ProjectState
from scheduling.states import AttemptState, Cause, JobState

CALLS = {
    "projects/": "get post",
    "projects/{id}/": "get patch",
    "projects/{id}/submit/": "post",
    "projects/{id}/approve/": "post",
    "projects/{id}/reject/": "post",
    "projects/{id}/return/": "post",
    "projects/{id}/suspend/": "post",
    "projects/{id}/resume/": "post",
    "projects/{id}/close/": "post",
    "projects/{project_id}/members/": "get post",
    "projects/{id}/history/": "get",
    "gpu-models/": "get",
    "nodes/": "get",
    "nodes/{id}/": "get",
    "nodes/{id}/drain/": "post",
    "nodes/{id}/undrain/": "post",
    "pools/": "get",
    "pools/{id}/": "get",
    "quotas/": "get post",
    "jobs/": "get post",
    "jobs/{id}/": "get",
    "jobs/{id}/cancel/": "post",
    "jobs/{id}/pause/": "post",
    "jobs/{id}/resume/": "post",
    "jobs/{id}/requeue/": "post",
    "jobs/{id}/clone/": "post",
    "jobs/{id}/log/": "get",
    "jobs/{id}/events/": "get",
    "telemetry/gpus/": "get",
    "telemetry/jobs/{id}/": "get",
    "telemetry/projects/{id}/": "get",
    "audit/": "get",
    "audit/{id}/": "get",
    "tokens/": "get",
    "tokens/{id}/": "get",
}
TAKEN = {
    "projects/": "name goal kind stage expected_compute milestones breakthrough datasets",
    "quotas/": "project resource gpu_model guaranteed limit effective_from effective_to reason",
    "jobs/": (
        "project name command gpu_model gpu_models gpus nodes_exact preemptible priority max_runtime_s grace_s "
        "max_retries environment env datasets checkpoint_dir checkpoint_interval_s signal"
    ),
}
GIVEN = {
    "projects/{id}/": "id name goal kind stage expected_compute milestones breakthrough datasets state tier",
    "gpu-models/": "id name capacity reserve usable promised",
    "nodes/": "id name state gpu_model gpus is_simulated pool",
    "nodes/{id}/": "id name state gpu_model gpus is_simulated pool",
    "quotas/": "id project resource gpu_model guaranteed limit used effective_from effective_to source",
    "jobs/{id}/": "id name state reason attempts",
}
PARTS = {
    ("projects/{id}/", "expected_compute"): "gpu_model min target max",
    ("projects/{id}/", "milestones"): "name due_on",
    ("jobs/{id}/", "attempts"): "number state node placement launcher started_at ended_at exit_code cause",
}
QUERIES = {
    "quotas/": "at",
    "jobs/{id}/log/": "offset",
    "telemetry/gpus/": "from to step",
    "telemetry/jobs/{id}/": "from to step",
    "telemetry/projects/{id}/": "from to step",
}
CHOICES = {
    ProjectState: "draft submitted active rejected suspended closed",
    Stage: "exploration feasibility training evaluation launch_preparation production",
    JobState: "draft queued starting running pausing paused stopping succeeded failed cancelled timed_out",
    AttemptState: "assigned starting running stopping ended unknown",
    Cause: "finished user timeout preempted node_lost hardware launch_failed",
    NodeState: "up draining down suspect maintenance",
}


def call(path: str, method: str) -> dict[str, Any]:
    found: dict[str, Any] = document()["paths"][f"/api/v1/{path}"][method]
    return found


def answered(path: str) -> dict[str, Any]:
    """The fields of what a reading call answers; of a list, those of its rows."""
    schema = resolved(call(path, "get")["responses"]["200"]["content"]["application/json"]["schema"])
    if "results" in schema["properties"]:
        assert {"count", "results"} <= schema["properties"].keys()
        schema = resolved(schema["properties"]["results"]["items"])
    fields: dict[str, Any] = schema["properties"]
    return fields


@pytest.mark.parametrize("path", CALLS)
def test_the_calls_are_there(path: str) -> None:
    assert set(CALLS[path].split()) <= document()["paths"][f"/api/v1/{path}"].keys()


@pytest.mark.parametrize("path", TAKEN)
def test_what_is_sent_is_taken(path: str) -> None:
    schema = call(path, "post")["requestBody"]["content"]["application/json"]["schema"]
    assert set(TAKEN[path].split()) <= resolved(schema)["properties"].keys()


@pytest.mark.parametrize("path", GIVEN)
def test_what_is_read_is_given(path: str) -> None:
    assert set(GIVEN[path].split()) <= answered(path).keys()


@pytest.mark.parametrize(("path", "field"), PARTS)
def test_the_parts_of_what_is_read_are_given(path: str, field: str) -> None:
    rows = resolved(answered(path)[field]["items"])
    assert set(PARTS[path, field].split()) <= rows["properties"].keys()


@pytest.mark.parametrize("path", QUERIES)
def test_the_parameters_are_there(path: str) -> None:
    names = {parameter["name"] for parameter in call(path, "get")["parameters"]}
    assert set(QUERIES[path].split()) <= names


def test_a_log_is_text() -> None:
    assert list(call("jobs/{id}/log/", "get")["responses"]["200"]["content"]) == ["text/plain"]


@pytest.mark.parametrize("choices", CHOICES, ids=lambda choices: choices.__name__)
def test_the_choices_are_these(choices: Any) -> None:
    expected = set(CHOICES[choices].split())
    assert expected <= set(choices.values)
    assert set(choices.values) - expected <= {"removed"}
