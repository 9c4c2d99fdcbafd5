"""The pre-launch check (JOB2): each point a pass, a warning or a block, with its reason in words.

Only command, project, quota, dataset paths and a max runtime above the pool's bound block; all else warns.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.models import DeviceState, GpuModel, Node, Pool, PoolKind
from inventory.states import NodeState
from kernel import clock
from projects.models import Project
from projects.states import ProjectState
from quotas.selectors import Quota, emergencies_at, pools_open_at, quotas_at, with_emergencies
from scheduling.engine import MILLI
from scheduling.spec import JobSpec

Level = Literal["pass", "warning", "block"]
CHECKPOINT_INTERVAL_S = 30 * 60
_SECRET = re.compile(r"SECRET|PASSWORD|PASSWD|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE|CREDENTIAL", re.IGNORECASE)
_FIELD = {"quota": "gpus", "data": "datasets", "max_runtime": "max_runtime_s"}
_GONE = (NodeState.REMOVED, NodeState.MAINTENANCE)


@dataclass(frozen=True, slots=True)
class CheckItem:
    """``code`` names the point, ``text`` says why in one sentence."""

    code: str
    level: Level
    text: str

    def plain(self) -> dict[str, str]:
        return {"code": self.code, "level": self.level, "text": self.text}


@dataclass(frozen=True, slots=True)
class _Case:
    project: Project
    spec: JobSpec
    quotas: Mapping[str, Quota]
    """By name of the GPU models that the job may use."""


def launch_check(project: Project, spec: JobSpec, models: Sequence[GpuModel]) -> list[CheckItem]:
    """Every point of the check, for a well-formed ``spec`` that allows ``models`` (none: any with a quota)."""
    case = _Case(project, spec, _quotas(project, models))
    return [check(case) for check in _CHECKS]


def blocks(items: Sequence[CheckItem]) -> dict[str, list[str]]:
    """The blocking sentences by the field of the submission that they are about."""
    errors: dict[str, list[str]] = {}
    for item in items:
        if item.level == "block":
            errors.setdefault(_FIELD.get(item.code, item.code), []).append(item.text)
    return errors


def _quotas(project: Project, models: Sequence[GpuModel]) -> dict[str, Quota]:
    """Quotas in force under which a job could ever run: those that hold more than nothing."""
    at = clock.now()
    quotas = with_emergencies(quotas_at(at, [project.pk]), emergencies_at(at, [project.pk]))
    held = {model_id: quota for (_project, model_id), quota in quotas.items() if quota.limit != 0}
    allowed = models or GpuModel.objects.filter(pk__in=held)
    return {model.name: held[model.pk] for model in allowed if model.pk in held}


def _command(case: _Case) -> CheckItem:
    if not case.spec.command or not case.spec.command[0].strip():
        return CheckItem("command", "block", _("There is no command to run."))
    return CheckItem("command", "pass", _("There is a command to run."))


def _project(case: _Case) -> CheckItem:
    state = ProjectState(case.project.state)
    if state != ProjectState.ACTIVE:
        text = _("The project is %(state)s; only an active project runs jobs.") % {"state": state.label}
        return CheckItem("project", "block", text)
    return CheckItem("project", "pass", _("The project is active."))


def _quota(case: _Case) -> CheckItem:
    if not case.quotas:
        text = _("The project has no quota on the GPU models that this job may use. Its lead can ask for one.")
        return CheckItem("quota", "block", text)
    asked = case.spec.milli_gpus
    limits = {name: quota.limit for name, quota in case.quotas.items()}
    if all(limit is not None and asked > limit * MILLI for limit in limits.values()):
        named = ", ".join(f"{name}: {limit}" for name, limit in sorted(limits.items()))
        text = _("The job asks for %(asked)s, more than the project's limit (%(limits)s).")
        return CheckItem("quota", "block", text % {"asked": _gpus(asked), "limits": named})
    if not case.spec.is_preemptible and all(asked > quota.guaranteed * MILLI for quota in case.quotas.values()):
        named = ", ".join(f"{name}: {quota.guaranteed}" for name, quota in sorted(case.quotas.items()))
        text = _("A job that is not preemptible runs inside the guarantee (%(named)s); this one asks for %(asked)s.")
        return CheckItem("quota", "warning", text % {"named": named, "asked": _gpus(asked)})
    return CheckItem("quota", "pass", _("The project has a quota that covers this job."))


def _size(case: _Case) -> CheckItem:
    nodes, per_node = case.spec.nodes_exact or 1, case.spec.milli_gpus // (case.spec.nodes_exact or 1)
    usable = Q(devices__state=DeviceState.OK, devices__gpu_model__name__in=case.quotas)
    usable &= Q(devices__memory_bytes__gte=case.spec.gpu_memory_bytes)
    rows = Node.objects.exclude(state__in=_GONE).annotate(here=Count("devices", filter=usable))
    if case.spec.interconnect:
        rows = rows.filter(interconnect=case.spec.interconnect)
    least = max(1, -(-per_node // MILLI))
    fitting = rows.filter(here__gte=least).count()
    if fitting < nodes:
        return CheckItem("size", "warning", _too_large(nodes, per_node, fitting))
    return CheckItem("size", "pass", _("There are nodes that can hold this job."))


def _too_large(nodes: int, milli_per_node: int, fitting: int) -> str:
    values = {"nodes": nodes, "gpus": _gpus(milli_per_node), "count": fitting}
    if nodes == 1:
        return _("No node has %(gpus)s of a model that this job may use.") % values
    if not fitting:
        return _("The job asks for %(nodes)s nodes with %(gpus)s each; there is no such node.") % values
    return (
        ngettext(
            "The job asks for %(nodes)s nodes with %(gpus)s each; there is only %(count)s such node.",
            "The job asks for %(nodes)s nodes with %(gpus)s each; there are only %(count)s such nodes.",
            fitting,
        )
        % values
    )


def _data(case: _Case) -> CheckItem:
    if not case.spec.datasets:
        return CheckItem("data", "pass", _("The job names no dataset."))
    unversioned = []
    for dataset in case.spec.datasets:
        path = dataset.get("path")
        if not isinstance(path, str) or not path.startswith("/") or "\0" in path or ".." in path.split("/"):
            text = _("“%(path)s” is not an absolute path of a dataset.") % {"path": str(path)[:100]}
            return CheckItem("data", "block", text)
        if not dataset.get("version"):
            unversioned.append(path)
    if unversioned:
        text = _("No version is named for %(paths)s: what runs cannot be repeated.")
        return CheckItem("data", "warning", text % {"paths": ", ".join(unversioned)[:200]})
    return CheckItem("data", "pass", _("Every dataset has a path and a version."))


def _log_level(case: _Case) -> CheckItem:
    level = case.spec.env.get("LOG_LEVEL", "")
    if not level:
        return CheckItem("log_level", "warning", _("LOG_LEVEL is not set; INFO is usual."))
    if level.upper() == "DEBUG":
        return CheckItem("log_level", "warning", _("LOG_LEVEL is DEBUG: large logs and a slower run."))
    return CheckItem("log_level", "pass", _("LOG_LEVEL is %(level)s.") % {"level": level[:20]})


def _checkpoint(case: _Case) -> CheckItem:
    interval = case.spec.checkpoint_interval_s
    if not case.spec.checkpoint_dir:
        text = _("No checkpoint folder is declared: a job that is stopped starts again from the beginning.")
        return CheckItem("checkpoint", "warning", text)
    if not case.spec.checkpoint_dir.startswith("/"):
        text = _(
            "The checkpoint folder is relative, so it lies in the job's own folder, which the node deletes with the "
            "attempt: a later attempt cannot go on from it. Name an absolute path in storage that outlives it."
        )
        return CheckItem("checkpoint", "warning", text)
    if interval is None:
        return CheckItem("checkpoint", "warning", _("No checkpoint interval is stated; at most 30 minutes is advised."))
    if interval > CHECKPOINT_INTERVAL_S:
        text = _("A checkpoint is written every %(minutes)s minutes; at most 30 minutes is advised.")
        return CheckItem("checkpoint", "warning", text % {"minutes": f"{interval / 60:g}"})
    return CheckItem("checkpoint", "pass", _("Checkpoints are declared, at most 30 minutes apart."))


def _max_runtime(case: _Case) -> CheckItem:
    asked = case.spec.max_runtime_s
    bounds = _bounds(case)
    if asked is None:
        return CheckItem("max_runtime", "warning", _no_max_runtime(bounds))
    known = [bound for bound in bounds if bound is not None]
    bound = max(known, default=asked) if len(known) == len(bounds) else asked
    if asked > bound:
        text = _("The max runtime is %(asked)s s; the pools that could run this job allow at most %(bound)s s.")
        return CheckItem("max_runtime", "block", text % {"asked": asked, "bound": bound})
    return CheckItem("max_runtime", "pass", _("A max runtime is set."))


def _no_max_runtime(bounds: Sequence[int | None]) -> str:
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return _("No max runtime is set: nobody can plan for its end.")
    if len(known) < len(bounds) or min(known) < max(known):
        text = _("No max runtime is set: a pool's own bound stops it, after %(least)s s where it is shortest.")
        return text % {"least": min(known)}
    text = _("No max runtime is set: it is stopped after %(least)s s, as long as its pool allows.")
    return text % {"least": min(known)}


def _bounds(case: _Case) -> list[int | None]:
    """The bound of each pool that the project may use and that holds a usable model; None: that pool has none."""
    opened = [pk for pk, projects in pools_open_at(clock.now()).items() if case.project.pk in projects]
    usable = Pool.objects.filter(Q(kind=PoolKind.SHARED) | Q(pk__in=opened))
    pools = usable.filter(nodes__devices__gpu_model__name__in=case.quotas).distinct()
    return list(pools.values_list("max_runtime_bound_s", flat=True))


def _retries(case: _Case) -> CheckItem:
    if case.spec.max_retries == 0:
        return CheckItem("auto_retry", "warning", _("Auto-retry is off: a failure ends the job."))
    text = ngettext(
        "A failed run is tried again once.", "A failed run is tried again up to %(n)s times.", case.spec.max_retries
    )
    return CheckItem("auto_retry", "pass", text % {"n": case.spec.max_retries})


def _env(case: _Case) -> CheckItem:
    suspicious = sorted(key for key, value in case.spec.env.items() if value and _SECRET.search(key))
    if suspicious:
        text = ngettext(
            "%(keys)s looks like a secret: the whole project can read the values of variables.",
            "%(keys)s look like secrets: the whole project can read the values of variables.",
            len(suspicious),
        )
        return CheckItem("env", "warning", text % {"keys": ", ".join(suspicious)[:200]})
    return CheckItem("env", "pass", _("No variable looks like a secret."))


def _gpus(milli: int) -> str:
    amount = f"{milli / MILLI:g}"
    return ngettext("%(amount)s GPU", "%(amount)s GPUs", 1 if milli == MILLI else 2) % {"amount": amount}


_CHECKS: tuple[Callable[[_Case], CheckItem], ...] = (
    _command,
    _project,
    _quota,
    _size,
    _data,
    _log_level,
    _checkpoint,
    _max_runtime,
    _retries,
    _env,
)
