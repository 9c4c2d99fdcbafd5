"""The cluster and one node of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from accounts.policies import has_role, require_role, require_signed_in
from inventory.models import DeviceState, GpuModel, Node, Pool
from inventory.selectors import nodes_with_devices
from inventory.states import NodeState
from kernel.dialogs import ask
from kernel.errors import NotFound
from monitoring.selectors.latest import gpus_latest, hosts_latest
from portal.pages.heat import cluster_now
from projects.policies import visible_to as visible_projects
from scheduling import services
from scheduling.engine import MILLI
from scheduling.selectors import DrainImpact, drain_impact, is_silent
from scheduling.selectors.holdings import Holding, holdings_now
from scheduling.views.job import Tab


@dataclass(frozen=True, slots=True)
class Act:
    service: Callable[..., Any]
    event: str
    question: str | Promise
    text: str | Promise
    label: str | Promise
    is_danger: bool = False


ACTS = {
    "drain": Act(
        services.node_drain,
        "drain",
        gettext_lazy("Drain %(node)s?"),
        gettext_lazy("It gets nothing new. What runs on it runs to its end; nothing is stopped."),
        gettext_lazy("Drain"),
    ),
    "undrain": Act(
        services.node_undrain,
        "undrain",
        gettext_lazy("Take %(node)s into use again?"),
        gettext_lazy("New jobs are placed on it from now on."),
        gettext_lazy("Take into use"),
    ),
    "maintain": Act(
        services.node_maintain,
        "maintain",
        gettext_lazy("Take %(node)s out for maintenance?"),
        gettext_lazy("It must be empty. It gets no job until it is taken into use again."),
        gettext_lazy("Maintain"),
    ),
    "remove": Act(
        services.node_remove,
        "remove",
        gettext_lazy("Remove %(node)s?"),
        gettext_lazy(
            "It must be empty. Its GPUs no longer count as capacity; what ran on it stays on record. A new token "
            "brings it back."
        ),
        gettext_lazy("Remove"),
        is_danger=True,
    ),
    "declare-lost": Act(
        services.node_declare_lost,
        "",
        gettext_lazy("Give %(node)s up as lost?"),
        gettext_lazy(
            "Its jobs are queued again at their old place and start elsewhere. Should it come back, what still runs "
            "there is stopped."
        ),
        gettext_lazy("Declare lost"),
        is_danger=True,
    ),
}


@require_GET
def cluster(request: HttpRequest) -> HttpResponse:
    """The page at ``/cluster/``; its map is asked for again every ten seconds."""
    require_signed_in(request.user)
    pool, model = request.GET.get("pool", "")[:60], request.GET.get("model", "")[:60]
    context = {
        "cluster": cluster_now(pool, model),
        "pools": list(Pool.objects.order_by("title")),
        "models": list(GpuModel.objects.order_by("name")),
        "pool": pool,
        "model": model,
    }
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, "portal/_cluster_map.html" if is_part else "portal/cluster.html", context)


@require_GET
def node(request: HttpRequest, node_id: int) -> HttpResponse:
    """One node: its GPUs, who holds them, what can be done with it."""
    person = require_signed_in(request.user)
    row = _node(node_id)
    holders, readings = holdings_now(), gpus_latest([device.pk for device in row.devices.all()])
    seen = set(visible_projects(person).values_list("pk", flat=True))
    devices = [
        (device, readings.get(device.pk), [_shown(holding, seen) for holding in holders.get(device.pk, [])])
        for device in row.devices.all()
        if device.state != DeviceState.RETIRED
    ]
    context = {
        "node": row,
        "devices": devices,
        "host": hosts_latest([row.pk]).get(row.pk),
        "tabs": [
            Tab(reverse("node", args=[row.pk]), _("Now"), None, True),
            Tab(reverse("inventory:node", args=[row.pk]), _("Machine, capacity, price"), None, False),
        ],
        "acts": _possible(row) if has_role(person, Role.ADMIN) else [],
    }
    return render(request, "portal/node.html", context)


@require_http_methods(["GET", "POST"])
def node_act(request: HttpRequest, node_id: int, name: str) -> HttpResponse:
    """Asks once, naming the jobs on the node; then acts."""
    person = require_role(request.user, Role.ADMIN)
    row, act = _node(node_id), ACTS[name]
    if request.method == "POST":
        act.service(actor=person, node_id=row.pk)
        messages.success(request, _("%(node)s: done.") % {"node": row.name})
        return redirect("cluster") if name == "remove" else redirect("node", row.pk)
    context = {
        "title": str(act.question) % {"node": row.name},
        "text": act.text,
        "affected": _affected(drain_impact(row)),
        "action": request.path,
        "label": act.label,
        "danger": act.is_danger,
        "cancel_url": reverse("node", args=[row.pk]),
    }
    return ask(request, context)


def _node(node_id: int) -> Node:
    row = nodes_with_devices().filter(pk=node_id).first()
    if row is None:
        raise NotFound
    return row


def _possible(row: Node) -> list[tuple[str, str | Promise, bool]]:
    events = row.machine.events(row.state)
    names = [name for name, act in ACTS.items() if act.event in events]
    if row.state != NodeState.MAINTENANCE and is_silent(row):
        names.append("declare-lost")
    return [(reverse("node-act", args=[row.pk, name]), ACTS[name].label, ACTS[name].is_danger) for name in names]


def _shown(holding: Holding, visible: set[int]) -> tuple[str, str, str]:
    """Address, name and share; of a project that the reader does not know only that somebody holds it."""
    share = "" if holding.milli == MILLI else f"{holding.milli}/{MILLI}"
    if holding.project_id not in visible:
        return "", _("a job of another project"), share
    return reverse("scheduling:job", args=[holding.job_id]), f"{holding.job_name}, {holding.project_name}", share


def _affected(impact: DrainImpact) -> list[str]:
    lines = [f"{hurt.job.name}, {hurt.job.project.name}, {hurt.job.owner}" for hurt in impact.jobs]
    if not lines:
        return [_("Nothing runs on it.")]
    count = len(lines)
    head = ngettext("%(count)s job is on it, on %(gpus)s GPUs:", "%(count)s jobs are on it, on %(gpus)s GPUs:", count)
    return [head % {"count": count, "gpus": f"{impact.milli_gpus / MILLI:g}"}, *lines]
