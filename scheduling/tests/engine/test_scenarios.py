"""Every scenario of the data folder ends as it says it must."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scheduling.engine import decide
from scheduling.engine.scenario import Scenario, document_of, read
from scheduling.tests.engine import scenario_files

FILES = scenario_files.files()


def test_there_are_scenarios() -> None:
    assert len(FILES) >= 24 + 45


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_decision_is_the_expected_one(path: Path) -> None:
    document = scenario_files.document_of(path)
    scenario = read(document)
    said = document_of(decide(scenario.snapshot, scenario.now, scenario.policy), scenario)
    assert document["expect"].keys() <= CHECKS.keys()
    for key, wanted in document["expect"].items():
        CHECKS[key](wanted, said, scenario, document["expect"])


Expect = dict[str, Any]


def _shares(wanted: Any, said: Expect, _scenario: Scenario, _expect: Expect) -> None:
    for project, models in wanted.items():
        found = {model: said["share"][project].get(model, 0) for model in models}
        assert found == {model: float(gpus) for model, gpus in models.items()}, project


def _unassigned(wanted: Any, said: Expect, _scenario: Scenario, _expect: Expect) -> None:
    assert {model: said["unassigned"].get(model, 0) for model in wanted} == {m: float(n) for m, n in wanted.items()}


def _starts(wanted: Any, said: Expect, _scenario: Scenario, _expect: Expect) -> None:
    assert sorted(start["job"] for start in said["start"]) == sorted(wanted), said


def _waits(wanted: Any, said: Expect, _scenario: Scenario, _expect: Expect) -> None:
    waiting = {wait["job"] for wait in said["wait"]}
    assert waiting >= set(wanted)
    assert waiting.isdisjoint(start["job"] for start in said["start"])


def _stops(wanted: Any, said: Expect, _scenario: Scenario, expect: Expect) -> None:
    stopped = [preempt["job"] for preempt in said["preempt"]]
    assert set(stopped) >= set(wanted), said
    assert len(stopped) == len(wanted) + sum(expect.get("preempt_any_of", {}).values())


def _stops_any_of(wanted: Any, said: Expect, scenario: Scenario, expect: Expect) -> None:
    projects = {job.name: scenario.names.owner_of[job.project] for job in scenario.snapshot.jobs}
    beyond = [preempt["job"] for preempt in said["preempt"] if preempt["job"] not in expect.get("preempt", [])]
    assert Counter(projects[job] for job in beyond) == Counter(wanted)


def _placements(wanted: Any, said: Expect, _scenario: Scenario, _expect: Expect) -> None:
    assert {start["job"]: start["placement"] for start in said["start"]} == {
        job: {node: float(gpus) for node, gpus in nodes.items()} for job, nodes in wanted.items()
    }


CHECKS = {
    "start": _starts,
    "preempt": _stops,
    "preempt_any_of": _stops_any_of,
    "wait": _waits,
    "share": _shares,
    "unassigned": _unassigned,
    "placement": _placements,
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_queued_job_starts_or_waits(path: Path) -> None:
    scenario = read(scenario_files.document_of(path))
    decision = decide(scenario.snapshot, scenario.now, scenario.policy)
    said = [start.job for start in decision.start] + [wait.job for wait in decision.wait]
    queued = [job.id for job in scenario.snapshot.jobs if job.state == "queued"]
    assert sorted(said) == sorted(queued)
