"""Why a job waits, what would make it start, and when that is expected: in the reader's language.

Made from ``reason_code`` and ``reason_data``, never from the engine's English sentence; that one is shown only where
they say something that this page does not know yet.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kernel.calendar import organisation_zone
from kernel.formats import byte_size, coming_instant, duration, number
from scheduling.models import Job

Needs = Mapping[str, Any]
SHOWN_NODES = 3
_OPENS_BY_ITSELF = ("no_room", "limit", "guarantee", "behind_plan", "reserve", "window")
"""What ends when jobs or windows do, unless nobody knows when that is."""


@dataclass(frozen=True, slots=True)
class Why:
    """``opens``: what would make it start; ``expected``: when. Either may be empty. ``first``: for a row of a list, the
    farthest condition alone."""

    text: str
    opens: str = ""
    expected: str = ""
    first: str = ""


def why(job: Job, now: datetime) -> Why:
    """Of a job that waits."""
    if not job.reason:
        return Why(_("It waits for the next decision of the scheduler."))
    needs = job.reason_data.get("needs")
    if not isinstance(needs, Mapping):
        return Why(str(_EARLIER[job.reason_code]()) if job.reason_code in _EARLIER else job.reason)
    try:
        texts, opens = _sentences(job.reason_code, needs, now)
    except (KeyError, TypeError, ValueError, AttributeError):
        # Kept by another version of the scheduler: its own sentence is true all the same.
        texts, opens = [job.reason], []
    # What a project and its area lack alike opens both.
    opens = list(dict.fromkeys(opens))
    if len(opens) > 1:
        opens.insert(0, _("All of this has to come true:"))
    return Why(" ".join(texts), " ".join(opens), _expected(job, needs, now), texts[0] if texts else "")


def quota_lacked(job: Job) -> str | None:
    """The GPU model on which a waiting job lacks what its project holds: more quota would help. None: it would not."""
    needs = job.reason_data.get("needs") if job.reason else None
    if not isinstance(needs, Mapping):
        return None
    if job.reason_code == "no_quota":
        return next(iter(needs.get("gpu_models", ())), "")
    for gate in needs.get("gates", ()):
        if gate.get("kind") in ("limit", "guarantee") and gate.get("level") == "project":
            return str(gate.get("gpu_model") or needs.get("gpu_model", ""))
    return None


def _sentences(code: str, needs: Needs, now: datetime) -> tuple[list[str], list[str]]:
    first = [_SIMPLE[code](needs)] if code in _SIMPLE else []
    gates = needs.get("gates", ()) if first else needs["gates"]
    pairs = [*first, *(_GATES[gate["kind"]](gate, needs, now) for gate in gates)]
    return [text for text, _opens in pairs], [opens for _text, opens in pairs if opens]


def _expected(job: Job, needs: Needs, now: datetime) -> str:
    until = job.reason_data.get("until")
    if until is None:
        can_tell = bool(needs.get("gates")) and job.reason_code in _OPENS_BY_ITSELF
        return _("When that will be nobody can say: what it waits for has no end that is known.") if can_tell else ""
    at = datetime.fromisoformat(until)
    if at <= now:
        return _("It is expected to start with one of the next decisions.")
    words = {"at": coming_instant(at, now, organisation_zone())}
    if needs.get("planned_start") is not None:
        return _("Its start is planned for %(at)s, and no later job may delay it.") % words
    return _("It is expected to start at %(at)s at the latest, if nothing comes before it.") % words


def _project_state(needs: Needs) -> tuple[str, str]:
    text = _("Project %(project)s is not active; only an active project runs jobs.") % {"project": needs["project"]}
    return text, _("It starts when the project is active again.")


def _backoff(_needs: Needs) -> tuple[str, str]:
    return _("Its last try failed; it waits a while before the next."), ""


def _releasing(needs: Needs) -> tuple[str, str]:
    jobs = [str(pk) for pk in needs.get("after", ())]
    if not jobs:
        return _("GPUs are set aside for it; the jobs on them are stopping."), ""
    text = ngettext(
        "GPUs are set aside for it; job %(jobs)s, which is on them, is stopping.",
        "GPUs are set aside for it; the jobs %(jobs)s, which are on them, are stopping.",
        len(jobs),
    )
    return text % {"jobs": ", ".join(jobs)}, ""


def _next_decision(_needs: Needs) -> tuple[str, str]:
    return _("What it waited for has just become free; the next decision looks at it again."), ""


def _no_quota(needs: Needs) -> tuple[str, str]:
    opens = _("It starts when the project has a quota; its lead can ask for one.")
    models = needs["gpu_models"]
    if not models:
        return _("The project has no GPU quota."), opens
    return _("The project has no GPU quota on %(models)s.") % {"models": _either(models)}, opens


def _no_such_node(needs: Needs) -> tuple[str, str]:
    text = _("It needs %(each)s of %(models)s; there are not enough such nodes where this project may run.")
    opens = _("It starts when it asks for less, or such nodes come.")
    said = text % {"each": _each(needs), "models": _either(needs["gpu_models"])}
    terms = ", ".join(_terms(needs))
    return (f"{said} {_('Each must have: %(terms)s.') % {'terms': terms}}" if terms else said), opens


def _terms(needs: Needs) -> Iterator[str]:
    """What else such a node must have."""
    if cpus := needs.get("cpus_per_node"):
        yield ngettext("%(count)s core", "%(count)s cores", cpus) % {"count": number(cpus)}
    if memory := needs.get("memory_bytes_per_node"):
        yield _("%(size)s of memory") % {"size": byte_size(memory)}
    if memory := needs.get("gpu_memory_bytes"):
        yield _("%(size)s on each GPU") % {"size": byte_size(memory)}
    if interconnect := needs.get("interconnect"):
        yield _("interconnect %(name)s") % {"name": interconnect}
    if runtime := needs.get("max_runtime_s"):
        yield _("leave to run for %(time)s") % {"time": duration(runtime)}


def _limit(gate: Needs, needs: Needs, _now: datetime) -> tuple[str, str]:
    words = _amounts(gate, needs)
    if gate.get("level") == "project":
        text = _("The project may use at most %(bound)s of %(model)s and uses %(used)s; this job needs %(asked)s.")
        opens = _("It starts when %(missing)s fewer are in use, or the limit is raised.")
        if _is_too_large(gate):
            opens = _("It starts when the limit is raised by %(above)s, or when it asks for less.")
    else:
        text = _(
            "The area %(name)s may use at most %(bound)s of %(model)s and uses %(used)s; this job needs %(asked)s."
        )
        opens = _("It starts when the area uses %(missing)s less, or its limit is raised.")
    return text % words, opens % words


def _guarantee(gate: Needs, needs: Needs, _now: datetime) -> tuple[str, str]:
    words = _amounts(gate, needs)
    if gate.get("level") == "project":
        text = _(
            "A job that is not preemptible runs inside the guarantee: the project is guaranteed %(bound)s of %(model)s "
            "and its such jobs use %(used)s; this job needs %(asked)s."
        )
    else:
        text = _(
            "A job that is not preemptible runs inside the guarantee: the area %(name)s is guaranteed %(bound)s of "
            "%(model)s and its such jobs use %(used)s; this job needs %(asked)s."
        )
    if _is_too_large(gate):
        opens = _(
            "It starts when the guarantee is raised by %(above)s, or when it asks for less. As a preemptible job it "
            "could use idle GPUs."
        )
        return text % words, opens % words
    opens = _(
        "It starts when such jobs use %(missing)s less, or the guarantee is raised. As a preemptible job it could use "
        "idle GPUs."
    )
    return text % words, opens % words


def _is_too_large(gate: Needs) -> bool:
    """Whether it would not start even if nothing else were in use."""
    return bool(gate["missing"] > gate["used"])


def _reserve(gate: Needs, needs: Needs, _now: datetime) -> tuple[str, str]:
    words = _amounts(gate, needs)
    text = _(
        "Of %(model)s, %(used)s would be free, but %(bound)s must stay so as the emergency reserve; this job needs "
        "%(asked)s."
    )
    return text % words, _("It starts when %(missing)s more of %(model)s are free.") % words


def _window(gate: Needs, needs: Needs, _now: datetime) -> tuple[str, str]:
    words = _amounts(gate, needs)
    text = _("%(bound)s of %(model)s are reserved for others before this job could end.")
    return text % words, _("It starts after that, or now with a max runtime that ends before.")


def _resource(gate: Needs, _needs: Needs, _now: datetime) -> tuple[str, str]:
    is_cpu = gate["resource"] == "cpus"
    words = {name: number(gate[name]) if is_cpu else byte_size(gate[name]) for name in ("limit", "used", "missing")}
    if is_cpu:
        text = _("The project may use at most %(limit)s cores and uses %(used)s: %(missing)s too few for this job.")
    else:
        text = _("The project may use at most %(limit)s of memory and uses %(used)s: %(missing)s too little.")
    return text % words, _("It starts when the project uses less, or the limit is raised.")


def _node_state(gate: Needs, needs: Needs, _now: datetime) -> tuple[str, str]:
    text = _("It needs %(each)s of %(model)s; of such nodes %(count)s take new jobs now.")
    words = {"each": _each(needs), "model": needs["gpu_model"], "count": gate["nodes_open"]}
    opens = ngettext(
        "It starts when %(count)s more such node takes jobs.",
        "It starts when %(count)s more such nodes take jobs.",
        gate["missing_nodes"],
    )
    return text % words, opens % {"count": gate["missing_nodes"]}


def _behind_plan(gate: Needs, needs: Needs, now: datetime) -> tuple[str, str]:
    words = {"job": gate["job"], "model": needs["gpu_model"]}
    text = _("It would delay job %(job)s, which has waited longer and has a planned start on %(model)s.") % words
    opens = _("It starts after that job, or now with a max runtime that ends before.")
    planned = gate.get("planned_start")
    if planned is None:
        return text, opens
    at = coming_instant(datetime.fromtimestamp(planned, now.tzinfo), now, organisation_zone())
    return text, _("It starts after that job, or now with a max runtime that ends before %(at)s.") % {"at": at}


def _no_room(gate: Needs, needs: Needs, _now: datetime) -> tuple[str, str]:
    text = _("It needs %(each)s of %(model)s, and there is no room for that.")
    words = {"each": _each(needs), "model": needs["gpu_model"]}
    lacking = [_lacks(node) for node in gate["nodes_lacking"]]
    where = ", ".join(lacking[:SHOWN_NODES])
    if len(lacking) > SHOWN_NODES:
        rest = len(lacking) - SHOWN_NODES
        where = _("%(where)s and %(count)s more") % {"where": where, "count": rest}
    return text % words, _("It starts when this is free: %(where)s.") % {"where": where} if where else ""


def _lacks(node: Needs) -> str:
    parts = []
    if node["missing_gpus"]:
        parts.append(_gpus(node["missing_gpus"]))
    if node.get("missing_cpus"):
        cores = ngettext("%(count)s core", "%(count)s cores", node["missing_cpus"])
        parts.append(cores % {"count": number(node["missing_cpus"])})
    if node.get("missing_memory_bytes"):
        parts.append(_("%(size)s of memory") % {"size": byte_size(node["missing_memory_bytes"])})
    what = ", ".join(parts) or _("the whole node")
    return _("%(what)s on %(node)s") % {"what": what, "node": node["node"]}


def _amounts(gate: Needs, needs: Needs) -> dict[str, str]:
    """The words of a gate of GPUs."""
    return {
        "name": str(gate.get("name", "")),
        "model": str(gate.get("gpu_model") or needs["gpu_model"]),
        "bound": _gpus(gate["bound"]),
        "used": _gpus(gate["used"]),
        "missing": _gpus(gate["missing"]),
        "above": _gpus(gate["missing"] - gate["used"]),
        "asked": _gpus(needs["gpus"]),
    }


def _each(needs: Needs) -> str:
    gpus, nodes = _gpus(needs["gpus_per_node"]), needs["nodes"]
    if nodes > 1:
        return _("%(nodes)s nodes with %(gpus)s each") % {"nodes": nodes, "gpus": gpus}
    return _("one node with %(gpus)s") % {"gpus": gpus}


def _gpus(amount: float) -> str:
    return ngettext("%(amount)s GPU", "%(amount)s GPUs", 1 if amount == 1 else 2) % {"amount": f"{amount:g}"}


def _either(names: Sequence[str]) -> str:
    return _(" or ").join(names)


_SIMPLE: Mapping[str, Callable[[Needs], tuple[str, str]]] = {
    "project_state": _project_state,
    "backoff": _backoff,
    "releasing": _releasing,
    "next_decision": _next_decision,
    "no_quota": _no_quota,
    "no_such_node": _no_such_node,
}
_GATES: Mapping[str, Callable[[Needs, Needs, datetime], tuple[str, str]]] = {
    "limit": _limit,
    "guarantee": _guarantee,
    "reserve": _reserve,
    "window": _window,
    "resource": _resource,
    "node_state": _node_state,
    "behind_plan": _behind_plan,
    "no_room": _no_room,
}
_EARLIER: Mapping[str, Callable[[], str]] = {
    "preempted": lambda: _("It gave way to another job; it is queued again at its old place."),
    "node_lost": lambda: _("Its node was lost; it is queued again at its old place."),
    "hardware": lambda: _("A device failed under it; it is queued again at its old place."),
}
"""Between an attempt's end and the next decision."""
