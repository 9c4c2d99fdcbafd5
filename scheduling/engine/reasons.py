"""Why a job waits: a code, data for screens, and one true English sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scheduling.engine.model import MILLI, Project, QueuedJob

_NEARNESS = ("behind", "no_room", "node_state", "reserve", "guarantee", "limit", "no_such_node")
"""Of several refusals, by model, the one that is nearest to a start is the reason."""


@dataclass(frozen=True, slots=True)
class Refusal:
    reason: str
    text: str
    needs: Mapping[str, Any]
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class RoomCount:
    """Nodes that could hold the job at all, those of them that take new jobs, and what is wholly free there."""

    nodes_able: int
    nodes_open: int
    free_gpus: int
    most_free_on_a_node: int


def nearest(refusals: Sequence[Refusal]) -> Refusal:
    return min(refusals, key=lambda refusal: _NEARNESS.index(refusal.reason))


def project_state(project: Project) -> Refusal:
    text = f"Project {project.name} is not active; only an active project runs jobs."
    return Refusal("project_state", text, {"project": project.id})


def backoff(until: datetime) -> Refusal:
    text = f"Its last try failed; it may start again from {until:%Y-%m-%d %H:%M:%S} UTC."
    return Refusal("backoff", text, {}, until)


def no_quota(job: QueuedJob, project: Project) -> Refusal:
    models = sorted(job.gpu_models)
    named = f" on {' or '.join(models)}" if models else ""
    text = f"Project {project.name} has no GPU quota{named}."
    return Refusal("no_quota", text, {"gpu_models": models, "gpus": job.milli_gpus / MILLI})


def over_limit(project: Project, model: str, asked: int, limit: int, used: int) -> Refusal:
    text = (
        f"Project {project.name} may use at most {gpus(limit)} of {model} and uses {gpus(used)}; "
        f"this job needs {gpus(asked)}, {gpus(used + asked - limit)} too many."
    )
    return Refusal("limit", text, _needs(model, asked, limit=limit, used=used, missing=used + asked - limit))


def over_guarantee(project: Project, model: str, asked: int, guaranteed: int, used: int) -> Refusal:
    missing = used + asked - guaranteed
    text = (
        f"A job that is not preemptible runs inside the guarantee: project {project.name} is guaranteed "
        f"{gpus(guaranteed)} of {model} and its such jobs use {gpus(used)}; this job needs {gpus(asked)}, "
        f"{gpus(missing)} too many."
    )
    return Refusal("guarantee", text, _needs(model, asked, guaranteed=guaranteed, used=used, missing=missing))


def over_resource(project: Project, resource: str, asked: int, limit: int, used: int) -> Refusal:
    unit = "cores" if resource == "cpu" else "bytes of memory"
    text = (
        f"Project {project.name} may use at most {limit} {unit} and uses {used}; this job needs {asked}, "
        f"{used + asked - limit} too many."
    )
    needs = {"resource": resource, "asked": asked, "limit": limit, "used": used, "missing": used + asked - limit}
    return Refusal("limit", text, needs)


def over_reserve(model: str, asked: int, reserve: int, free: int) -> Refusal:
    text = (
        f"Of {model}, {gpus(free)} would be free, but {gpus(reserve)} must stay so as the emergency reserve; "
        f"this job needs {gpus(asked)}."
    )
    return Refusal("reserve", text, _needs(model, asked, reserve=reserve, free=free, missing=asked + reserve - free))


def behind(first: QueuedJob) -> Refusal:
    text = f"It waits its turn: job {first.id} ({first.name}) of the same project came first and waits for room."
    return Refusal("behind", text, {"job": first.id})


def no_room(job: QueuedJob, model: str, count: RoomCount) -> Refusal:
    """Lack of room; or that too few such nodes take new jobs, or that too few exist at all."""
    asked, per_node = job.milli_gpus, job.milli_per_node
    each = f"{job.nodes} nodes with {gpus(per_node)} each" if job.nodes > 1 else f"one node with {gpus(per_node)}"
    needs = {"gpu_model": model, "gpus": asked / MILLI, "nodes": job.nodes, "gpus_per_node": per_node / MILLI}
    if count.nodes_able < job.nodes:
        there_are = "1 such node exists" if count.nodes_able == 1 else f"{count.nodes_able or 'no'} such nodes exist"
        text = f"It needs {each} of {model}; {there_are} where this project may run."
        return Refusal("no_such_node", text, {**needs, "nodes_able": count.nodes_able})
    if count.nodes_open < job.nodes:
        nodes = "such node" if count.nodes_able == 1 else "such nodes"
        takes = "takes" if count.nodes_open <= 1 else "take"
        open_now = f"{count.nodes_open or 'none'} {takes} new jobs now"
        text = f"It needs {each} of {model}; of {count.nodes_able} {nodes} {open_now}."
        return Refusal("node_state", text, {**needs, "nodes_able": count.nodes_able, "nodes_open": count.nodes_open})
    text = (
        f"It needs {each} of {model}, with CPU and memory; wholly free: {gpus(count.free_gpus * MILLI)}, "
        f"at most {count.most_free_on_a_node} on one node."
    )
    free = {"free_gpus": count.free_gpus, "most_free_on_a_node": count.most_free_on_a_node}
    return Refusal("no_room", text, {**needs, **free})


def gpus(milli: int) -> str:
    """“1 GPU”, “0.5 GPUs”, “8 GPUs”."""
    return f"{milli / MILLI:g} GPU" if milli == MILLI else f"{milli / MILLI:g} GPUs"


def _needs(model: str, asked: int, **amounts: int) -> dict[str, Any]:
    return {"gpu_model": model, "gpus": asked / MILLI, **{name: milli / MILLI for name, milli in amounts.items()}}
