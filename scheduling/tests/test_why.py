"""Why a job waits, in words made from data: each reason of the engine, its way out, and the expected time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import override_settings
from django.utils.translation import override

from scheduling.engine import reasons
from scheduling.models import Job
from scheduling.why import _GATES, _SIMPLE, quota_lacked, why

NOW = datetime(2030, 3, 1, 12, 0, tzinfo=UTC)
ASKED = {"gpu_model": "h100", "gpus": 8, "nodes": 2, "gpus_per_node": 4}
GATE = {"gpu_model": "h100", "level": "project", "name": "Vision", "missing": 1, "bound": 6, "used": 3}


def waiting(code: str, needs: dict[str, Any], *, until: datetime | None = None) -> Job:
    data = {"needs": needs, "until": until.isoformat() if until else None}
    return Job(reason="The engine's own sentence.", reason_code=code, reason_data=data)


def gates(kind: str, **gate: Any) -> dict[str, Any]:
    return {**ASKED, "gates": [{"kind": kind, **gate}]}


@pytest.mark.parametrize(
    ("code", "needs", "text", "opens"),
    [
        ("project_state", {"project": "Vision"}, "Project Vision is not active", "active again"),
        ("backoff", {}, "Its last try failed", ""),
        ("releasing", {"after": [7, 9]}, "the jobs 7, 9, which are on them, are stopping", ""),
        ("releasing", {}, "the jobs on them are stopping", ""),
        ("next_decision", {"gates": []}, "has just become free", ""),
        ("no_quota", {"gpu_models": ["a", "b"]}, "no GPU quota on a or b", "its lead can ask"),
        ("no_quota", {"gpu_models": []}, "The project has no GPU quota.", ""),
        ("no_such_node", {**ASKED, "gpu_models": ["h100"]}, "2 nodes with 4 GPUs each of h100", "asks for less"),
        (
            "no_such_node",
            {**ASKED, "gpu_models": ["h100"], "cpus_per_node": 64, "interconnect": "nvlink", "max_runtime_s": 7200},
            "Each must have: 64 cores, interconnect nvlink, leave to run for 2 h",
            "asks for less",
        ),
        ("backoff", gates("limit", **GATE), "The project may use at most 6 GPUs of h100", "1 GPU fewer"),
        (
            "limit",
            gates("limit", **GATE),
            "at most 6 GPUs of h100 and uses 3 GPUs; this job needs 8 GPUs",
            "1 GPU fewer",
        ),
        ("limit", gates("limit", **{**GATE, "level": "group"}), "The area Vision may use at most 6 GPUs", "1 GPU less"),
        ("guarantee", gates("guarantee", **GATE), "the project is guaranteed 6 GPUs", "As a preemptible job"),
        ("guarantee", gates("guarantee", **{**GATE, "level": "group"}), "the area Vision is guaranteed", "1 GPU less"),
        ("reserve", gates("reserve", **GATE), "6 GPUs must stay so as the emergency reserve", "1 GPU more of h100"),
        ("window", gates("window", **GATE), "6 GPUs of h100 are reserved for others", "max runtime that ends before"),
        ("resource", gates("resource", resource="cpus", limit=9, used=8, missing=3), "at most 9 cores", "uses less"),
        (
            "resource",
            gates("resource", resource="memory", limit=2**30, used=0, missing=1),
            "1\u202fGiB of memory",
            "uses",
        ),
        (
            "node_state",
            gates("node_state", nodes_open=1, missing_nodes=1),
            "of such nodes 1 take",
            "1 more such node takes",
        ),
        (
            "behind_plan",
            gates("behind_plan", job=5, planned_start=NOW.timestamp() + 3600),
            "delay job 5",
            "before 13:00",
        ),
        ("behind_plan", gates("behind_plan", job=5), "delay job 5", "ends before"),
        (
            "no_room",
            gates("no_room", nodes_lacking=[{"node": f"n{i}", "missing_gpus": i, "missing_cpus": 2} for i in range(5)]),
            "2 nodes with 4 GPUs each of h100, and there is no room",
            "2 cores on n0, 1 GPU, 2 cores on n1, 2 GPUs, 2 cores on n2 and 2 more",
        ),
        (
            "no_room",
            gates("no_room", nodes_lacking=[{"node": "n", "missing_gpus": 0}]),
            "no room",
            "the whole node on n",
        ),
    ],
)
def test_each_reason_has_its_sentence_and_its_way_out(code: str, needs: dict[str, Any], text: str, opens: str) -> None:
    said = why(waiting(code, needs), NOW)
    assert text in said.text
    assert opens in said.opens
    more = why(waiting(code, {**needs, "new": 1, "gates": [{**g, "new": {}} for g in needs.get("gates", ())]}), NOW)
    assert more == said, "what this page does not know yet does no harm"


def test_every_reason_of_the_engine_is_known() -> None:
    assert set(reasons._SENTENCES) == set(_GATES)
    assert set(_SIMPLE) == {"project_state", "backoff", "releasing", "next_decision", "no_quota", "no_such_node"}


def test_what_can_never_open_by_itself_is_not_promised() -> None:
    """A guarantee of 2 of which nothing is used, and a job of 3: no other job's end helps it."""
    for code, opens in (
        ("guarantee", "when the guarantee is raised by 1 GPU"),
        ("limit", "when the limit is raised by"),
    ):
        said = why(waiting(code, gates(code, **{**GATE, "bound": 2, "used": 0, "missing": 1})), NOW)
        assert opens in said.opens
        assert "less, or" not in said.opens


def test_several_conditions_are_all_said() -> None:
    needs = {**ASKED, "gates": [{"kind": "limit", **GATE}, {"kind": "reserve", **GATE}]}
    said = why(waiting("limit", needs), NOW)
    assert "may use at most" in said.text
    assert "emergency reserve" in said.text
    assert said.opens.startswith("All of this has to come true: It starts when 1 GPU fewer")
    assert said.first in said.text
    assert "emergency reserve" not in said.first, "a row of a list has room for one"


@pytest.mark.parametrize("needs", [{}, {"gates": [{"kind": "moon"}]}, {"gates": [{"kind": "limit"}]}, {"gates": 3}])
def test_what_it_cannot_read_is_said_in_the_engines_words(needs: dict[str, Any]) -> None:
    assert why(waiting("limit", needs), NOW).text == "The engine's own sentence."


def test_what_opens_project_and_area_alike_is_said_once() -> None:
    lacking = {"kind": "guarantee", **GATE, "used": 0}
    needs = {**ASKED, "gates": [lacking, {**lacking, "level": "group"}]}
    said = why(waiting("guarantee", needs), NOW)
    assert "the project is guaranteed" in said.text
    assert "the area Vision is guaranteed" in said.text
    assert said.opens.count("It starts when") == 1
    assert "All of this" not in said.opens


@override_settings(ORGANISATION_TIME_ZONE="Asia/Shanghai")
def test_the_expected_time_is_the_organisations() -> None:
    needs = gates("limit", **GATE)
    assert "20:30 at the latest" in why(waiting("limit", needs, until=NOW + timedelta(minutes=30)), NOW).expected
    planned = why(waiting("limit", {**needs, "planned_start": 1}, until=NOW + timedelta(hours=6)), NOW)
    assert "planned for Sat 2 Mar, 02:00" in planned.expected
    assert "one of the next decisions" in why(waiting("limit", needs, until=NOW), NOW).expected
    assert "nobody can say" in why(waiting("limit", needs), NOW).expected
    assert "nobody can say" in why(waiting("reserve", gates("reserve", **GATE)), NOW).expected
    assert why(waiting("project_state", {"project": "x"}), NOW).expected == ""


def test_it_speaks_the_readers_language() -> None:
    with override("zh-hans"):
        said = why(waiting("limit", gates("limit", **GATE)), NOW)
    assert said.text == "项目最多可用 6 个 GPU（h100），已用 3 个 GPU；此作业需要 8 个 GPU。"


def test_between_two_decisions_the_last_end_is_the_reason() -> None:
    job = Job(reason="It gave way.", reason_code="preempted", reason_data={"message": ""})
    assert "gave way to another job" in why(job, NOW).text
    assert why(Job(), NOW).text == "It waits for the next decision of the scheduler."
    assert why(Job(reason="So.", reason_code="user", reason_data={}), NOW).text == "So."


@pytest.mark.parametrize(
    ("code", "needs", "model"),
    [
        ("no_quota", {"gpu_models": ["a", "b"]}, "a"),
        ("no_quota", {"gpu_models": []}, ""),
        ("limit", gates("limit", **GATE), "h100"),
        ("guarantee", gates("guarantee", **GATE), "h100"),
        ("limit", gates("limit", **{**GATE, "level": "group"}), None),
        ("no_room", gates("no_room", **GATE), None),
        ("backoff", {}, None),
    ],
)
def test_more_quota_is_offered_where_it_would_help(code: str, needs: dict[str, Any], model: str | None) -> None:
    assert quota_lacked(waiting(code, needs)) == model
    assert quota_lacked(Job(reason_code=code)) is None
