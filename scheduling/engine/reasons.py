"""Why a job waits, in words: a code, data for screens, and one true English sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduling.engine.gates import Gate, NodeLack
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


def no_such_node(job: Job, project: Project, models: Sequence[str], model: str, gates: Sequence[Gate]) -> Refusal:
    """``gates``: what would be closed on ``model`` even if there were such nodes."""
    of_models = f" of {' or '.join(models)}" if models else ""
    text = f"It needs {_each(job)}{of_models}{_terms(job)}; there are not enough such nodes where this project may run."
    needs = {"gpu_models": list(models), **_asked(job), **_terms_asked(job), "gates": []}
    refusal = Refusal("no_such_node", text, needs)
    return besides(refusal, closed(job, project, model, gates)) if gates else refusal


def closed(job: Job, project: Project, model: str, gates: Sequence[Gate]) -> Refusal:
    """The farthest gate gives the reason; the sentence and ``needs`` name them all."""
    said = [_said(job, project, model, gate) for gate in gates]
    text = "; besides, ".join([sentence for sentence, _data in said])
    needs = {"gpu_model": model, **_asked(job), "gates": [data for _sentence, data in said]}
    return Refusal(gates[0].kind, f"{text[0].upper()}{text[1:]}.", needs)


def besides(first: Refusal, second: Refusal) -> Refusal:
    """Both hold; the first is the reason."""
    text = f"{first.text} Besides: {second.text}"
    return Refusal(first.reason, text, {**first.needs, **second.needs}, first.until)


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


def _terms(job: Job) -> str:
    """What else a node must have for it."""
    ask, runtime = job.ask, job.max_runtime_s
    terms = [
        (ask.cpus, f"{ask.cpus} cores"),
        (ask.memory_bytes, f"{ask.memory_bytes} bytes of memory"),
        (ask.gpu_memory_bytes, f"{ask.gpu_memory_bytes} bytes on each GPU"),
        (ask.interconnect, f"interconnect {ask.interconnect}"),
        (runtime, f"leave to run {runtime:g} s" if runtime else ""),
    ]
    wanted = [words for is_wanted, words in terms if is_wanted]
    return f" with {', '.join(wanted)}" if wanted else ""


def _terms_asked(job: Job) -> dict[str, Any]:
    ask = job.ask
    terms = {
        "cpus_per_node": ask.cpus,
        "memory_bytes_per_node": ask.memory_bytes,
        "gpu_memory_bytes": ask.gpu_memory_bytes,
        "interconnect": ask.interconnect,
        "max_runtime_s": job.max_runtime_s,
    }
    return {name: term for name, term in terms.items() if term}


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
    return f"it would delay job {gate.name}, which has waited longer and has a planned start on {model}"


def _no_room(job: Job, _project: Project, model: str, gate: Gate) -> str:
    where = ", ".join(f"{lack.node} lacks {_lack(lack)}" for lack in gate.nodes[:3])
    more = f" and {len(gate.nodes) - 3} more nodes" if len(gate.nodes) > 3 else ""
    return f"it needs {_each(job)} of {model}, and there is no room for that: {where}{more}"


def _lack(lack: NodeLack) -> str:
    lacking = [
        (lack.devices, gpus(lack.devices * MILLI)),
        (lack.cpus, f"{lack.cpus} cores"),
        (lack.memory_bytes, f"{lack.memory_bytes} bytes of memory"),
        (lack.is_taken, "the end of all that is on it, because one of them wants the node alone"),
    ]
    return ", ".join(words for amount, words in lacking if amount)


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
        names = [lack.node for lack in gate.nodes]
        return {"kind": gate.kind, "missing_nodes": gate.missing, "nodes_open": gate.used, "nodes": names}
    if gate.kind == "behind_plan":
        return {"kind": gate.kind, "job": gate.party, "planned_start": gate.until}
    if gate.kind == "no_room":
        return {"kind": gate.kind, "nodes_lacking": [_lacking(lack) for lack in gate.nodes]}
    if gate.kind == "window":
        owner: dict[str, Any] = {"windows": list(gate.windows), "until": gate.until}
    else:
        owner = {"level": gate.level, "name": gate.name} if gate.level else {}
    whole = {"missing": _whole(gate.missing), "bound": _whole(gate.bound), "used": _whole(gate.used)}
    return {"kind": gate.kind, "gpu_model": model, **owner, **whole}


def _lacking(lack: NodeLack) -> dict[str, Any]:
    return {
        "node": lack.node,
        "missing_gpus": lack.devices,
        "missing_cpus": lack.cpus,
        "missing_memory_bytes": lack.memory_bytes,
        "is_taken": lack.is_taken,
    }
