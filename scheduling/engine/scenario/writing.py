"""``decision/1``: a decision as the document that is printed, with the names of its scenario."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from scheduling.engine.model import MILLI, Amounts, Decision, Placement, Start, Wait
from scheduling.engine.scenario.names import Names
from scheduling.engine.scenario.reading import Scenario

SCHEMA = "decision/1"


def document_of(decision: Decision, scenario: Scenario) -> dict[str, Any]:
    """Shares alone where the scenario has no nodes."""
    names = scenario.names
    shares = {
        "schema": SCHEMA,
        "share": {name: _amounts(decision.share.get(number, {})) for name, number in _projects(scenario).items()},
        "unassigned": _amounts(decision.unassigned),
    }
    if not scenario.has_nodes:
        return shares
    jobs = names.job_of
    return {
        **shares,
        "start": [_start(start, names) for start in decision.start],
        "preempt": [
            {
                "job": jobs[preempt.job],
                "for": None if preempt.by is None else jobs[preempt.by],
                "lost_gpu_seconds": _number(preempt.lost_gpu_seconds),
            }
            for preempt in decision.preempt
        ],
        "earmarks": [
            {"job": jobs[mark.job], "node": names.node_of[mark.node], "gpus": gpus(mark.milli)}
            for mark in decision.earmarks
        ],
        "wait": [_wait(wait, names) for wait in decision.wait],
    }


def explanation(decision: Decision, scenario: Scenario, job: str) -> list[str]:
    """What happens to a job and why, in sentences; empty where nothing changes for it."""
    names = scenario.names
    number, jobs = names.jobs[job], names.job_of
    lines = [f"{job}: {_started(start, names)}" for start in decision.start if start.job == number]
    lines += [f"{job} waits ({wait.reason}): {wait.text}" for wait in decision.wait if wait.job == number]
    for preempt in decision.preempt:
        if preempt.job == number:
            why = "because it has lost members" if preempt.by is None else f"for {jobs[preempt.by]}"
            lost = f"{preempt.lost_gpu_seconds:g} GPU-seconds since its last checkpoint are lost"
            lines.append(f"{job} stops {why}; {lost}.")
    return lines


def gpus(milli: int) -> int | float:
    """Whole where it is whole."""
    return milli // MILLI if milli % MILLI == 0 else milli / MILLI


def _started(start: Start, names: Names) -> str:
    where = ", ".join(f"{milli:g} on {node}" for node, milli in _placed(start.placement, names).items())
    after = f" once {', '.join(names.job_of[job] for job in start.after)} have stopped" if start.after else " now"
    return f"starts{after}: {where}."


def _start(start: Start, names: Names) -> dict[str, Any]:
    jobs = names.job_of
    return {
        "job": jobs[start.job],
        "placement": _placed(start.placement, names),
        "after": sorted(jobs[job] for job in start.after),
    }


def _placed(placement: Placement, names: Names) -> dict[str, int | float]:
    nodes = names.node_of
    return {nodes[node]: gpus(sum(devices.values())) for node, devices in sorted(placement.items())}


def _wait(wait: Wait, names: Names) -> dict[str, Any]:
    return {
        "job": names.job_of[wait.job],
        "reason": wait.reason,
        "text": wait.text,
        "needs": {key: _plain(value, names) for key, value in wait.needs.items()},
        "until": None if wait.until is None else _number(wait.until),
    }


def _projects(scenario: Scenario) -> dict[str, int]:
    return {project.name: project.id for project in sorted(scenario.snapshot.projects, key=lambda found: found.id)}


def _amounts(amounts: Amounts) -> dict[str, int | float]:
    return {model: gpus(milli) for model, milli in sorted(amounts.items())}


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _plain(value: Any, names: Names) -> Any:
    """As JSON holds it."""
    if isinstance(value, Mapping):
        return {str(key): _named(str(key), _plain(part, names), names) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, names) for part in value]
    return float(value) if isinstance(value, Fraction) else value


def _named(key: str, value: Any, names: Names) -> Any:
    """A job's or a project's number is its name here."""
    known = {"job": names.job_of, "project": names.owner_of}.get(key, {})
    return known.get(value, value) if isinstance(value, int) else value
