"""Nodes report, fall silent, and come back. Nothing here changes capacity (INV1)."""

from dataclasses import dataclass
from datetime import datetime

import structlog
from django.utils.translation import gettext as _

from agent.messages import Sync
from inventory.errors import UnknownNode
from inventory.models import Node
from inventory.selectors import LISTENED_TO, silent_nodes
from inventory.services.hardware import as_stored, catalogue_models, devices_update, node_fields
from inventory.states import NodeState
from kernel import clock, outbox, sweep
from kernel.states import transition
from kernel.unit import lock, unit_of_work

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NodeReported:
    """``is_current`` false: an older message of the same boot; nothing was written."""

    node: Node
    is_current: bool
    state_changed: bool = False
    lost: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    """UUIDs of devices that this report lost or brought back."""


def node_report(*, node: Node, sync: Sync) -> NodeReported:
    """Keep what a node says it has; a node that was down is up again, one that leaves is down.

    Its own unit of work, which locks the node: call it before the unit that locks jobs, not inside. Saying a
    message twice changes nothing. ``last_seen_at`` is the database's clock. Raises ``UnknownNode``.
    """
    with unit_of_work():
        fresh: Node = lock({Node: [node.pk]})[Node][node.pk]
        if fresh.state == NodeState.REMOVED:
            raise UnknownNode
        if fresh.boot_id == sync.boot_id and sync.sequence < fresh.sync_sequence:
            return NodeReported(fresh, is_current=False)
        now = clock.database_now()
        written = {"boot_id": sync.boot_id, "sync_sequence": sync.sequence, "last_seen_at": now}
        if fresh.hardware != as_stored(sync.hardware):
            written |= node_fields(sync.hardware, catalogue_models(sync.hardware.devices))
        if fresh.agent_version != sync.agent_version[:40]:
            written["agent_version"] = sync.agent_version[:40]
        for name, value in written.items():
            setattr(fresh, name, value)
        fresh.save(update_fields=list(written))
        devices = devices_update(fresh, sync.hardware.devices, now)
        if devices:
            outbox.emit("node.devices_changed", subject=fresh, data={"lost": devices.lost, "found": devices.found})
        changed = _follow(fresh, sync)
    return NodeReported(fresh, True, changed, tuple(devices.lost), tuple(devices.found))


def _follow(node: Node, sync: Sync) -> bool:
    if sync.is_leaving and node.state in LISTENED_TO:
        _change(node, "lose", _("The agent was stopped."))
        return True
    if not sync.is_leaving and node.state == NodeState.DOWN:
        _change(node, "return", _("The agent reports again."))
        return True
    return False


def node_mark_silent(now: datetime) -> list[Node]:
    """Every node that should be heard and was not for longer than its pool allows is down now.

    ``now`` is the database's clock. Its attempts become *unknown*, not ended: that is scheduling's to say when it
    reads ``node.state_changed``. One node that cannot be changed does not keep the others.
    """
    found = sweep.each("node_silent", silent_nodes(now).values_list("pk", flat=True), lambda pk: _lose(pk, now))
    lost = [node for node in found if node is not None]
    for node in lost:
        _log.warning("node_silent", node=node.name, last_seen_at=node.last_seen_at)
    return lost


def _lose(node_id: int, now: datetime) -> Node | None:
    node: Node = lock({Node: [node_id]})[Node][node_id]
    if not silent_nodes(now).filter(pk=node_id).exists():
        return None
    _change(node, "lose", _("The agent is silent."))
    return node


def _change(node: Node, event: str, reason: str) -> None:
    before = node.state
    transition(node, event, actor=node, reason=reason)
    outbox.emit("node.state_changed", subject=node, data={"from": before, "to": node.state})
