"""One node of the fleet: the same conversation as the agent's, with members that are no processes."""

import asyncio
import logging
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from agent import __version__, messages
from agent.backoff import Backoff
from agent.collector.batch import Row, make_batch
from agent.collector.host import HostSample
from agent.collector.simulated import SimulatedDevices, device_uuid
from agent.errors import PortalProblem
from agent.fleet.client import FleetPortal
from agent.fleet.member import LINE_EVERY_S, SimulatedMember, load
from agent.fleet.spec import NodeSpec
from agent.fleet.state import NodeFiles
from agent.settings import Simulation, fits
from agent.sync import LONGEST_INTERVAL_S, SHORTEST_INTERVAL_S

log = logging.getLogger(__name__)

LOG_CHUNK_BYTES = 256 * 1024


class FleetNode:
    """Sync at the interval the portal asks for, and when something here changes; samples and logs in between."""

    def __init__(self, spec: NodeSpec, files: NodeFiles, portal: FleetPortal) -> None:
        self.spec = spec
        self._files = files
        self._portal = portal
        self._devices = SimulatedDevices(Simulation(spec.gpu_model, spec.gpus), f"fleet/{spec.name}")
        self._members = files.members()
        self._token = ""
        self._boot_id = uuid.uuid4().hex
        self._sequence = 0
        self._backoff = Backoff()
        self._sampled_at = 0.0
        self._logged_at: dict[int, float] = {}
        self.interval_s = 5.0
        self.sample_interval_s = 60.0

    @property
    def is_enrolled(self) -> bool:
        return bool(self._token)

    def hardware(self) -> messages.Hardware:
        """What it says it has; all of it simulated."""
        spec = self.spec
        return messages.Hardware(
            hostname=spec.name,
            cpus=spec.cpus,
            memory_bytes=spec.memory_bytes,
            disk_bytes=spec.disk_bytes,
            devices=self._devices.devices(),
            is_simulated=True,
            interconnect=spec.interconnect,
            network_bps=spec.network_bps,
        )

    async def enrol(self) -> None:
        """Become a node, once. Raises PortalProblem."""
        known = self._files.node()
        if known is None:
            message = messages.Enrol(messages.PROTOCOL, self.spec.token, __version__, self.hardware())
            known = await self._portal.enrol(message)
            self._files.keep_node(known)
        self._token = known.token

    async def once(self) -> float:
        """One round of the conversation: seconds to keep still afterwards."""
        try:
            started = await self._exchange()
            await self._send_logs()
            await self._send_samples()
        except PortalProblem as problem:
            if self._backoff.failures == 0:
                log.warning("%s: %s", self.spec.name, problem)
            return self._backoff.failed()
        self._backoff.succeeded()
        return 0.0 if started else self._rest_s()

    async def leave(self) -> None:
        """Last words: the portal need not wait for its silence. Its members go on by the clock."""
        if self._token:
            try:
                await self._portal.sync(self._token, self._message(is_leaving=True))
            except PortalProblem as problem:
                log.warning("%s: last words: %s", self.spec.name, problem)

    async def _exchange(self) -> bool:
        """Sync and do what the reply says. Whether a member was started: the portal hears of it at once."""
        reply = await self._portal.sync(self._token, self._message())
        self.interval_s = fits(reply.sync_interval_s, SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S)
        self.sample_interval_s = fits(reply.sample_interval_s, SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S)
        now = datetime.now(UTC)
        changed = [self._stop(order, now) for order in reply.stop] + [self._forget(pk, now) for pk in reply.forget]
        if any(changed):
            self._files.keep_members(self._members)
        stopped = {order.member_id for order in reply.stop}
        return any([await self._start(member_id) for member_id in reply.run if member_id not in stopped])

    def _message(self, *, is_leaving: bool = False) -> messages.Sync:
        now = datetime.now(UTC)
        self._sequence += 1
        return messages.Sync(
            protocol=messages.PROTOCOL,
            boot_id=self._boot_id,
            sequence=self._sequence,
            sent_at=now,
            agent_version=__version__,
            hardware=self.hardware(),
            members=tuple(self._members[pk].report(now) for pk in sorted(self._members)),
            is_leaving=is_leaving,
        )

    def _stop(self, order: messages.StopOrder, now: datetime) -> bool:
        member = self._members.get(order.member_id)
        return member is not None and member.order_stop(order, now)

    def _forget(self, member_id: int, now: datetime) -> bool:
        """Delete an ended member; a living one is never deleted."""
        member = self._members.get(member_id)
        if member is None or not member.has_ended(now):
            return False
        del self._members[member_id]
        self._logged_at.pop(member_id, None)
        return True

    async def _start(self, member_id: int) -> bool:
        """Fetch and start a member, once in the life of its launch key."""
        if member_id in self._members:
            return False
        launch = await self._portal.launch(self._token, member_id)
        if launch is None or launch.launch_key in self._files.keys:
            return False
        member = SimulatedMember(launch, datetime.now(UTC), refused=self._refusal(launch))
        self._members[member_id] = member
        # Before the key: a crash in between leaves a member that has been started, and is known to have been.
        self._files.keep_members(self._members)
        self._files.keys.add(launch.launch_key)
        return True

    def _refusal(self, launch: messages.Launch) -> str:
        """Why this node cannot start it; empty when it can."""
        own = {device.uuid for device in self._devices.devices()}
        held = self._held(datetime.now(UTC), is_weighted=False)
        for share in launch.devices:
            if share.uuid not in own:
                return f"device {share.uuid} is not on this node"
            if held.get(share.uuid, 0) + share.milli_gpu > 1000:
                return f"device {share.uuid} is taken"
        return ""

    def _living(self, now: datetime) -> Iterator[SimulatedMember]:
        return (member for member in self._members.values() if not member.has_ended(now))

    def _held(self, now: datetime, *, is_weighted: bool) -> dict[str, int]:
        """Milli-GPU by device that living members hold, or, weighted, keep busy."""
        held: dict[str, int] = {}
        for member in self._living(now):
            weight = load(member.launch) if is_weighted else 1
            for share in member.launch.devices:
                held[share.uuid] = held.get(share.uuid, 0) + int(share.milli_gpu * weight)
        return held

    async def _send_logs(self) -> None:
        now = datetime.now(UTC)
        for member_id, member in list(self._members.items()):
            since = now.timestamp() - self._logged_at.get(member_id, 0.0)
            if since < LINE_EVERY_S and not member.has_ended(now):
                continue
            self._logged_at[member_id] = now.timestamp()
            text = member.log(now)
            while member.sent < len(text):
                piece = text[member.sent : member.sent + LOG_CHUNK_BYTES]
                reply = await self._portal.send_log(self._token, member_id, member.sent, piece)
                if reply.next_offset <= member.sent:
                    break
                member.sent = reply.next_offset

    async def _send_samples(self) -> None:
        now = datetime.now(UTC)
        if now.timestamp() - self._sampled_at < self.sample_interval_s:
            return
        self._sampled_at = now.timestamp()
        row = Row(now, self._devices.sample(self._held(now, is_weighted=True)), self._host(now))
        await self._portal.send_samples(self._token, make_batch([row], self._boot_id, is_simulated=True))

    def _host(self, now: datetime) -> HostSample:
        """CPU and memory in proportion to the devices in use. What a simulation cannot know is no data."""
        busy = sum(self._held(now, is_weighted=True).values()) / (1000 * self.spec.gpus)
        used = int(self.spec.memory_bytes * (0.05 + 0.5 * busy))
        return HostSample(cpu_pct=round(3 + 55 * busy, 1), memory_used_bytes=used)

    def _rest_s(self) -> float:
        """Until the next sync is due, or a member's state changes before."""
        now = datetime.now(UTC)
        changes = [member.next_change(now) for member in self._members.values()]
        soon = min(((at - now).total_seconds() for at in changes if at is not None), default=self.interval_s)
        return max(0.0, min(self.interval_s, soon))


def own_devices(spec: NodeSpec) -> list[str]:
    """UUIDs of a node's devices, in order: the same wherever the fleet runs."""
    return [device_uuid(f"fleet/{spec.name}", index) for index in range(spec.gpus)]


async def play(node: FleetNode, leaving: asyncio.Event, offset_s: float) -> None:
    """Enrol and converse until the fleet leaves. A portal that is away is waited for."""
    backoff = Backoff()
    delay = 0.0
    while not await _is_set_within(leaving, delay):
        if node.is_enrolled:
            delay = await node.once()
            if delay == node.interval_s:
                # The nodes stay spread over the interval, whatever started them together.
                delay, offset_s = max(0.0, delay - offset_s * delay), 0.0
            continue
        try:
            await node.enrol()
            delay = 0.0
        except PortalProblem as problem:
            if problem.status is not None and 400 <= problem.status < 500 and problem.status != 429:
                log.error("%s: enrolment refused: %s", node.spec.name, problem)
                return
            delay = backoff.failed()


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), timeout=max(seconds, 0.001))
    except TimeoutError:
        return False
    return True
