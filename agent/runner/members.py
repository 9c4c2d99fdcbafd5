"""All members on this node: adopt, start, stop, report, forget. Every act may be repeated without harm."""

import contextlib
import logging
import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.errors import LaunchRefused
from agent.home import Home
from agent.messages import DeviceReport, ExitCause, ExitRecord, Launch, MemberReport, StopOrder
from agent.runner.folders import MemberFolder, delete
from agent.runner.keys import LaunchKeys
from agent.runner.member import Member, failed_record
from agent.runner.plan import Node, Taken, check_devices, job_uid, make_plan
from agent.runner.records import LaunchFile, Plan, StopFile, stop_file
from agent.runner.spawn import spawn_shim

log = logging.getLogger(__name__)

CAUSES: dict[str, ExitCause] = {"timeout": "timeout"}
"""Exit cause of a stop by its reason; every other reason is ``stopped``."""
LOOK_S = 1.0


class Members:
    """The registry. Its lock is held for short file work, never while a shim starts or over the network."""

    def __init__(self, home: Home, node: Node, on_change: Callable[[], None]) -> None:
        self._home = home
        self._node = node
        self._on_change = on_change
        self._keys = LaunchKeys(home.keys)
        self._beside = home.jobs_beside()
        self._members: dict[int, Member] = {}
        self._lock = threading.RLock()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self.last_start = 0.0

    def adopt(self) -> None:
        """Take over what an earlier agent of this home left: running, ended, or never started."""
        for path in sorted(self._home.members.iterdir()):
            folder = MemberFolder(path)
            file = folder.launch() if path.name.isdigit() else None
            if file is None:
                self._clear_unreadable(folder)
                continue
            member = Member(folder, file.launch)
            member.load()
            with self._lock:
                self._members[file.launch.member_id] = member
            member.remind()
            member.scan_checkpoints()
        self._clear_beside()
        self.look()
        log.info("members taken over: %d", len(self._members))

    def _clear_unreadable(self, folder: MemberFolder) -> None:
        """A folder without a launch record was never started; anything else is left alone and said."""
        if folder.started() is None and folder.exit() is None and not folder.is_locked():
            delete(folder.discard(self._home.trash))
        else:
            log.error("%s holds a job but no readable launch.json: left alone", folder.path)

    def _clear_beside(self) -> None:
        if self._beside is not None:
            known = {str(member_id) for member_id in self._members}
            delete([path for path in self._beside.iterdir() if path.name not in known])

    def has(self, member_id: int) -> bool:
        """Whether the member is here and needs no start."""
        with self._lock:
            member = self._members.get(member_id)
            return member is not None and not member.is_unstarted

    def unstarted(self) -> tuple[int, ...]:
        """Members whose start an earlier agent or a dead shim left undone."""
        with self._lock:
            return tuple(member_id for member_id, member in self._members.items() if member.is_unstarted)

    def held(self) -> dict[str, int]:
        """Milli-GPU that living members hold, by device."""
        with self._lock:
            return self._taken().milli_gpu

    def _taken(self, besides: int = 0) -> "_Held":
        held = _Held()
        for member_id, member in self._members.items():
            if member.exit is None and member_id != besides and not member.is_unstarted:
                held.add(member)
        return held

    def start(self, launch: Launch, devices: Sequence[DeviceReport]) -> None:
        """Start a member once in the life of its launch key; a second call finds it started and returns."""
        member = self._claim(launch)
        if member is None:
            return
        try:
            self._start(member, devices)
        except LaunchRefused as refusal:
            self._fail(member, str(refusal))
        except OSError as error:
            self._fail(member, f"cannot start the job on this node: {error.strerror or error}")
        finally:
            with self._lock:
                member.is_launching = False
        self.last_start = time.monotonic()
        self._look_at(member)
        self._wake()
        self._on_change()

    def _claim(self, launch: Launch) -> Member | None:
        with self._lock:
            member = self._members.get(launch.member_id)
            if member is None:
                if launch.launch_key in self._keys:
                    log.warning("member %s: its launch key was started before", launch.member_id)
                    return None
                folder = MemberFolder(self._home.members / str(launch.member_id))
                member = self._members[launch.member_id] = Member(folder, launch)
            elif not member.is_unstarted or member.launch.launch_key != launch.launch_key:
                return None
            member.is_launching = True
            member.tries += 1
            return member

    def _start(self, member: Member, devices: Sequence[DeviceReport]) -> None:
        launch, folder = member.launch, member.folder
        folder.make(self._beside, job_uid(launch.member_id))
        with self._lock:
            taken = self._taken(besides=launch.member_id)
            check_devices(launch, devices, Taken(taken.milli_gpu, frozenset(taken.cpu_ids)))
            plan = make_plan(
                launch, self._node, Taken(taken.milli_gpu, frozenset(taken.cpu_ids)), folder.work.resolve()
            )
            member.plan = plan
        folder.write_launch(LaunchFile(launch, plan))
        self._keys.add(launch.launch_key)
        lock = folder.take_lock()
        if lock is None:
            return
        try:
            process = spawn_shim(folder, lock)
        finally:
            os.close(lock)
        with self._lock:
            member.attach(process)

    def _fail(self, member: Member, message: str) -> None:
        """The member ends before it began. On a full disk the record is kept in memory only."""
        log.warning("member %s: %s", member.launch.member_id, message)
        record = failed_record(message)
        with self._lock:
            try:
                if not member.folder.is_locked():
                    if member.folder.launch() is None:
                        member.folder.write_launch(LaunchFile(member.launch))
                    member.folder.log.write_text(f"[sluice] {message}\n")
                    member.folder.write_exit(record)
                    member.exit = record
            except OSError as error:
                log.warning("member %s: exit record not written: %s", member.launch.member_id, error)
                member.exit = record

    def abandon(self, member_id: int) -> None:
        """Drop a member that never started and is no longer wanted."""
        with self._lock:
            member = self._members.get(member_id)
            if member is None or not member.is_unstarted or member.folder.is_locked():
                return
            del self._members[member_id]
        self._discard(member)

    def stop(self, order: StopOrder) -> None:
        """Carry out a stop order for a member that is here, unless it was meant for an earlier one."""
        with self._lock:
            member = self._members.get(order.member_id)
            if member is None or member.exit is not None:
                return
            if order.fencing < member.launch.fencing:
                log.warning("member %s: stop order with an old fencing number ignored", order.member_id)
                return
            cause = CAUSES.get(order.reason, "stopped")
            self._order(member, stop_file(cause, order.signal, order.grace_s))

    def stop_all(self, cause: ExitCause, longest_grace_s: int) -> None:
        """Stop every living member, with its own signal and at most this grace."""
        with self._lock:
            for member in self._members.values():
                if member.exit is None:
                    grace_s = min(member.launch.grace_s, longest_grace_s)
                    self._order(member, stop_file(cause, member.launch.signal, grace_s))

    def _order(self, member: Member, order: StopFile) -> None:
        was_stopping = member.stop is not None
        try:
            member.order_stop(order)
            member.look()
        except OSError as error:
            log.warning("member %s: stop order not written: %s", member.launch.member_id, error)
            return
        if not was_stopping:
            self._on_change()

    def forget(self, member_id: int) -> None:
        """Delete an ended member's folder. A living one is never deleted."""
        with self._lock:
            member = self._members.get(member_id)
            if member is None:
                return
            if member.exit is None:
                log.warning("member %s lives and is not forgotten", member_id)
                return
            del self._members[member_id]
        self._discard(member)

    def _discard(self, member: Member) -> None:
        try:
            left = member.folder.discard(self._home.trash)
        except FileNotFoundError:
            return
        threading.Thread(target=delete, args=(left,), name="delete", daemon=True).start()

    def reports(self) -> tuple[MemberReport, ...]:
        """Every member, by id. Looks for new checkpoints of the living ones."""
        with self._lock:
            chosen = [self._members[member_id] for member_id in sorted(self._members)]
        for member in chosen:
            if member.exit is None:
                member.scan_checkpoints()
        with self._lock:
            return tuple(member.report() for member in chosen)

    def logs(self) -> list[tuple[int, Path, bool]]:
        """Member, log file, and whether more may come."""
        with self._lock:
            return [(member_id, member.folder.log, member.exit is None) for member_id, member in self._members.items()]

    def alive(self) -> int:
        """How many members have not ended."""
        with self._lock:
            return sum(member.exit is None for member in self._members.values())

    def look(self) -> None:
        """Look at every living member."""
        with self._lock:
            living = [member for member in self._members.values() if member.exit is None]
        for member in living:
            self._look_at(member)

    def _look_at(self, member: Member) -> None:
        with self._lock:
            before = member.state
            try:
                member.look()
            except OSError as error:
                log.warning("member %s: %s", member.launch.member_id, error)
            has_changed = member.state != before
        if has_changed:
            ended: ExitRecord | None = member.exit
            log.info("member %s: %s %s", member.launch.member_id, member.state, ended.cause if ended else "")
            self._on_change()

    def watch_once(self) -> None:
        """Wait until a shim ends, at most ``LOOK_S``, and look at all: a missed event heals by itself."""
        poll = select.poll()
        poll.register(self._wake_read, select.POLLIN)
        with self._lock:
            for member in self._members.values():
                if member.pidfd is not None and member.exit is None:
                    poll.register(member.pidfd, select.POLLIN)
        poll.poll(LOOK_S * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 512)
        self.look()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"w")


class _Held:
    """Running sum of what members hold."""

    def __init__(self) -> None:
        self.milli_gpu: dict[str, int] = {}
        self.cpu_ids: set[int] = set()

    def add(self, member: Member) -> None:
        for share in member.launch.devices:
            self.milli_gpu[share.uuid] = self.milli_gpu.get(share.uuid, 0) + share.milli_gpu
        plan: Plan | None = member.plan
        if plan is not None:
            self.cpu_ids.update(plan.cpu_ids)
