"""From what a node reports to rows: catalogue entries and devices. Capacity is never touched here."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
from msgspec import json

from agent.messages import DeviceReport, Hardware
from inventory.catalogue import entry_of
from inventory.models import Device, DeviceState, GpuModel, Node
from inventory.states import NodeState

SEEN_EVERY = timedelta(minutes=1)
"""How exact ``Device.last_seen_at`` is: writing each device with each report would cost more than it tells."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class DeviceChanges:
    """UUIDs whose state changed with a report."""

    found: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.found or self.lost)


def catalogue_models(devices: Iterable[DeviceReport]) -> dict[str, GpuModel]:
    """The catalogue's row for every reported name; one that is new is added as it is reported (INV1)."""
    by_slug: dict[str, GpuModel] = {}
    slug_of: dict[str, str] = {}
    for device in devices:
        entry = entry_of(device.gpu_model)
        slug_of[device.gpu_model] = entry.slug
        row = GpuModel(
            name=entry.slug, title=entry.title, memory_bytes=device.memory_bytes, suitability=entry.suitability
        )
        by_slug.setdefault(entry.slug, row)
    known = {row.name: row for row in GpuModel.objects.filter(name__in=by_slug)}
    new = [by_slug[slug] for slug in sorted(by_slug.keys() - known.keys())]
    if new:
        GpuModel.objects.bulk_create(new, ignore_conflicts=True)
        known = {row.name: row for row in GpuModel.objects.filter(name__in=by_slug)}
    return {name: known[slug] for name, slug in slug_of.items()}


def node_fields(hardware: Hardware, models: dict[str, GpuModel]) -> dict[str, Any]:
    """Columns of the node that its hardware decides; its model is the one that most of its devices are."""
    counted = Counter(models[device.gpu_model].pk for device in hardware.devices)
    main = max(sorted(counted), key=lambda pk: counted[pk], default=None)
    return {
        "cpus": hardware.cpus,
        "memory_bytes": hardware.memory_bytes,
        "disk_bytes": hardware.disk_bytes,
        "network_bps": hardware.network_bps,
        "interconnect": hardware.interconnect[:40],
        "is_simulated": hardware.is_simulated,
        "gpu_model_id": main,
        "hardware": as_stored(hardware),
    }


def as_stored(hardware: Hardware) -> Any:
    """A report as the JSON column gives it back, so that the two can be compared."""
    return json.decode(json.encode(hardware))


def devices_update(node: Node, devices: Iterable[DeviceReport], at: datetime) -> DeviceChanges:
    """Bring the node's device rows in line with a report. The caller holds the node's lock.

    One that the report lacks or calls lost is *lost*, never deleted. A UUID that lives on another node is left
    there; it moves only when that node has lost it.
    """
    reported = {device.uuid: device for device in devices}
    rows = {row.uuid: row for row in Device.objects.filter(node=node)}
    changes = DeviceChanges()
    for uuid, row in rows.items():
        _note_state(row, reported.get(uuid), at, changes)
    new = [reported[uuid] for uuid in sorted(reported.keys() - rows.keys())]
    if new:
        _add_devices(node, new, at, changes)
    return changes


def devices_elsewhere(node: Node | None, devices: Iterable[DeviceReport]) -> list[Device]:
    """Reported devices that live on another node which still has them."""
    rows = Device.objects.filter(uuid__in=[device.uuid for device in devices], state=DeviceState.OK)
    rows = rows.exclude(node__state=NodeState.REMOVED).select_related("node")
    return list(rows.exclude(node=node) if node else rows)


def _note_state(row: Device, report: DeviceReport | None, at: datetime, changes: DeviceChanges) -> None:
    is_there = report is not None and report.state == "ok"
    fields: dict[str, Any] = {}
    if row.state == DeviceState.OK and not is_there:
        fields["state"] = DeviceState.LOST
        changes.lost.append(row.uuid)
    elif row.state == DeviceState.LOST and is_there:
        fields["state"] = DeviceState.OK
        changes.found.append(row.uuid)
    if report is not None and row.index != report.index:
        fields["index"] = report.index
    if is_there and row.last_seen_at < at - SEEN_EVERY:
        fields["last_seen_at"] = at
    if fields:
        Device.objects.filter(pk=row.pk).update(**fields)


def _add_devices(node: Node, devices: list[DeviceReport], at: datetime, changes: DeviceChanges) -> None:
    kept_elsewhere = {row.uuid: row.node.name for row in devices_elsewhere(node, devices)}
    models = catalogue_models(devices)
    for device in devices:
        if device.uuid in kept_elsewhere:
            _log.warning(
                "device_reported_twice", uuid=device.uuid, node=node.name, lives_on=kept_elsewhere[device.uuid]
            )
            continue
        is_ok = device.state == "ok"
        facts = {
            "node": node,
            "index": device.index,
            "gpu_model": models[device.gpu_model],
            "memory_bytes": device.memory_bytes,
            "is_simulated": device.is_simulated,
            "state": DeviceState.OK if is_ok else DeviceState.LOST,
            "last_seen_at": at,
        }
        Device.objects.update_or_create(
            uuid=device.uuid, defaults=facts, create_defaults={**facts, "first_seen_at": at}
        )
        (changes.found if is_ok else changes.lost).append(device.uuid)
