"""Why a job waits, in words: a code, data for screens, and one true English sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.engine.gates import Gate
from scheduling.engine.model import MILLI, Job, Project


@dataclass(slots=True)
class Refusal:
    reason: str
    text: str
    needs: Mapping[str, Any]
    until: float | None = None


def project_state(project: Project) -> Refusal:
    text = f"Project {project.name} is not active; only an active project runs jobs."
    return Refusal("project_state", text, {"project": project.name})


def backoff(until: float) -> Refusal:
    return Refusal("backoff", "Its last try failed; it waits a while before the next.", {}, until)


def releasing(until: float) -> Refusal:
    return Refusal("releasing", "Its GPUs are set aside; jobs on them are stopping.", {}, until)


def no_quota(job: Job, project: Project) -> Refusal:
    models = sorted(job.ask.gpu_models)
    named = f" on {' or '.join(models)}" if models else ""
    text = f"Project {project.name} has no GPU quota{named}."
    return Refusal("no_quota", text, {"gpu_models": models, **_asked(job)})


def no_such_node(job: Job, models: Sequence[str]) -> Refusal:
    text = (
        f"It needs {_each(job)} of {' or '.join(models)}; there are not enough such nodes where this project may run."
    )
    return Refusal("no_such_node", text, {"gpu_models": list(models), **_asked(job)})


def closed(job: Job, project: Project, model: str, gates: Sequence[Gate], until: float | None) -> Refusal:
    """The farthest gate gives the reason; the sentence and ``needs`` name them all."""
    said = [_said(job, project, model, gate) for gate in gates]
    text = "; besides, ".join([sentence for sentence, _data in said])
    needs = {"gpu_model": model, **_asked(job), "gates": [data for _sentence, data in said]}
    return Refusal(gates[0].kind, f"{text[0].upper()}{text[1:]}.", needs, until)


def _said(job: Job, project: Project, model: str, gate: Gate) -> tuple[str, dict[str, Any]]:
    """Jobs for which one gate is closed need as much of one model, so that it says the same to all of them."""
    if gate.said is None:
        gate.said = _SENTENCES[gate.kind](job, project, model, gate), _data(gate, model)
    return gate.said


def next_decision(job: Job, model: str, now: float) -> Refusal:
    """All gates are open: what closed one when its turn came has gone since."""
    text = "What it waited for has just become free; the next decision looks at it again."
    return Refusal("next_decision", text, {"gpu_model": model, **_asked(job), "gates": []}, now)


def gpus(milli: int) -> str:
    """“1 GPU”, “0.5 GPUs”, “8 GPUs”."""
    return f"{milli / MILLI:g} GPU" if milli == MILLI else f"{milli / MILLI:g} GPUs"


def _each(job: Job) -> str:
    per_node = gpus(job.ask.milli)
    return f"{job.ask.nodes} nodes with {per_node} each" if job.ask.nodes > 1 else f"one node with {per_node}"


def _asked(job: Job) -> dict[str, Any]:
    return {"gpus": _whole(job.ask.total_milli), "nodes": job.ask.nodes, "gpus_per_node": _whole(job.ask.milli)}


def _whole(milli: int) -> int | float:
    return milli // MILLI if milli % MILLI == 0 else milli / MILLI


def _guarantee(job: Job, _project: Project, model: str, gate: Gate) -> str:
    return (
        f"a job that is not preemptible runs inside the guarantee: {gate.level} {gate.name} is guaranteed "
        f"{gpus(gate.bound)} of {model} and its such jobs use {gpus(gate.used)}; this job needs "
        f"{gpus(job.ask.total_milli)}, {gpus(gate.missing)} too many"
    )


def _limit(job: Job, _project: Project, model: str, gate: Gate) -> str:
    return (
        f"{gate.level} {gate.name} may use at most {gpus(gate.bound)} of {model} and uses {gpus(gate.used)}; "
        f"this job needs {gpus(job.ask.total_milli)}, {gpus(gate.missing)} too many"
    )


def _resource(_job: Job, project: Project, _model: str, gate: Gate) -> str:
    unit = "cores" if gate.name == "cpus" else "bytes of memory"
    return f"project {project.name} may use at most {gate.bound} {unit} and uses {gate.used}; {gate.missing} too many"


def _reserve(job: Job, _project: Project, model: str, gate: Gate) -> str:
    return (
        f"of {model}, {gpus(gate.used)} would be free, but {gpus(gate.bound)} must stay so as the emergency reserve; "
        f"this job needs {gpus(job.ask.total_milli)}"
    )


def _window(_job: Job, _project: Project, model: str, gate: Gate) -> str:
    return f"{gpus(gate.bound)} of {model} are reserved for others before it could end; {gpus(gate.missing)} too many"


def _node_state(job: Job, _project: Project, model: str, gate: Gate) -> str:
    return f"it needs {_each(job)} of {model}; of such nodes {gate.used} take new jobs now, {gate.missing} too few"


def _behind_plan(_job: Job, _project: Project, model: str, gate: Gate) -> str:
    return f"it would delay job {gate.party}, which has waited longer and has a planned start on {model}"


def _no_room(job: Job, _project: Project, model: str, gate: Gate) -> str:
    where = ", ".join(f"{name} lacks {_lack(gpu, cpu, memory)}" for name, gpu, cpu, memory in gate.nodes[:3])
    more = f" and {len(gate.nodes) - 3} more nodes" if len(gate.nodes) > 3 else ""
    return f"it needs {_each(job)} of {model}, and none has room: {where}{more}"


def _lack(devices: int, cpus: int, memory_bytes: int) -> str:
    lacking = [
        (devices, gpus(devices * MILLI)),
        (cpus, f"{cpus} cores"),
        (memory_bytes, f"{memory_bytes} bytes of memory"),
    ]
    return ", ".join(words for amount, words in lacking if amount) or "a node of its own"


_SENTENCES = {
    "guarantee": _guarantee,
    "limit": _limit,
    "resource": _resource,
    "reserve": _reserve,
    "window": _window,
    "node_state": _node_state,
    "behind_plan": _behind_plan,
    "no_room": _no_room,
}


def _data(gate: Gate, model: str) -> dict[str, Any]:
    """What screens translate from. Amounts in GPUs, but for cores and bytes."""
    if gate.kind == "resource":
        amounts: dict[str, Any] = {"missing": gate.missing, "limit": gate.bound, "used": gate.used}
        return {"kind": gate.kind, "resource": gate.name, **amounts}
    if gate.kind == "node_state":
        return {"kind": gate.kind, "missing_nodes": gate.missing, "nodes_open": gate.used}
    if gate.kind == "behind_plan":
        return {"kind": gate.kind, "job": gate.party, "planned_start": gate.until}
    if gate.kind == "no_room":
        names = ("node", "missing_gpus", "missing_cpus", "missing_memory_bytes")
        return {"kind": gate.kind, "nodes_lacking": [dict(zip(names, node, strict=True)) for node in gate.nodes]}
    whole = {"missing": _whole(gate.missing), "bound": _whole(gate.bound), "used": _whole(gate.used)}
    owner = {"level": gate.level, "name": gate.name} if gate.level else {}
    return {"kind": gate.kind, "gpu_model": model, **owner, **whole}
