"""Which devices the records of the past use: every project has lanes of its own, so no device was ever held twice."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from inventory.models import Device, PoolKind
from inventory.models import Source as NodeSource
from inventory.selectors import capacity_at
from kernel import clock
from portal.demo.fleet import MODELS, fleet_nodes
from portal.demo.wishes import NODE, Share, appetites, granules
from projects.models import ComputeRequest, Project
from projects.states import ProjectState
from quotas.models import Claim


@dataclass(frozen=True, slots=True)
class Lane:
    """Devices on which one project runs one job after the other. ``place``: which of its lanes this is."""

    project: Project
    place: int
    of: int
    devices: tuple[Device, ...]


def held_shares() -> dict[int, dict[int, Share]]:
    """By model and project: what is granted on the fleet's models."""
    found: dict[int, dict[int, Share]] = defaultdict(dict)
    rows = Claim.objects.filter(gpu_model__name__in=MODELS, project__isnull=False, during__contains=clock.now())
    for claim in rows.select_related("project"):
        if claim.project is not None and claim.gpu_model_id is not None:
            limit = claim.guaranteed if claim.limit is None else claim.limit
            found[claim.gpu_model_id][claim.project.pk] = Share(claim.project.name, claim.guaranteed, limit)
    return found


def wanted() -> dict[tuple[int, int], int]:
    """By project and model: GPUs that the demo's projects keep busy on a working day."""
    capacity = capacity_at(clock.now())
    return {
        (project, model): gpus
        for model, shares in held_shares().items()
        for project, gpus in appetites(shares, capacity[model].capacity if model in capacity else 0).items()
    }


def lanes() -> Iterator[Lane]:
    """Of each project that runs something, and of those that did before they ended."""
    free = _devices()
    asked = {**wanted(), **_former()}
    projects = {project.pk: project for project in Project.objects.filter(pk__in={pk for pk, _model in asked})}
    for (pk, model), gpus in sorted(asked.items(), key=lambda item: (-item[1], item[0])):
        parts = granules(projects[pk].name, gpus)
        for place, part in enumerate(parts):
            own = _take(free[model], part)
            if own:
                yield Lane(projects[pk], place, len(parts), own)


def _former() -> dict[tuple[int, int], int]:
    ended = (ProjectState.SUSPENDED, ProjectState.CLOSED)
    rows = ComputeRequest.objects.filter(gpu_model__name__in=MODELS, project__state__in=ended)
    return {(row.project_id, row.gpu_model_id): min(row.target, 4) for row in rows}


def _devices() -> dict[int, list[list[Device]]]:
    """By model: the devices outside of dedicated pools by node, in order."""
    found: dict[int, dict[int, list[Device]]] = defaultdict(lambda: defaultdict(list))
    names = [node.name for node in fleet_nodes()]
    rows = Device.objects.filter(node__name__in=names).exclude(node__source=NodeSource.SPOT)
    rows = rows.exclude(node__pool__kind=PoolKind.DEDICATED)
    for device in rows.select_related("node").order_by("node__name", "index"):
        found[device.gpu_model_id][device.node_id].append(device)
    return {model: list(nodes.values()) for model, nodes in found.items()}


def _take(nodes: list[list[Device]], count: int) -> tuple[Device, ...]:
    """Devices of the first node that has as many left; of several nodes whole ones. Nothing where there is no room."""
    if count > NODE:
        whole = [node for node in nodes if len(node) == NODE][: count // NODE]
        taken = [node[:] for node in whole] if len(whole) == count // NODE else []
        for node in whole if taken else ():
            node.clear()
        return tuple(device for node in taken for device in node)
    for node in nodes:
        if len(node) >= count:
            own = tuple(node[:count])
            del node[:count]
            return own
    return ()
