"""The agent's home folder: one agent at a time, and what it must remember between starts."""

import contextlib
import fcntl
import hashlib
import logging
import os
from pathlib import Path

from msgspec import DecodeError, Struct, json

from agent.durable import write_durably
from agent.errors import AgentError, BadSettings
from agent.messages import Enrolled
from agent.runner.folders import delete

log = logging.getLogger(__name__)
JOBS_BESIDE = Path("/var/lib/sluice-jobs")


class Inventory(Struct, frozen=True):
    """Devices that this node has had: one that is missing now is lost, not absent."""

    devices: tuple[tuple[str, int, str, int], ...] = ()


class Home:
    """Paths below the home folder. As root the way to the job folders is open, everything else is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.members = path / "members"
        self.trash = path / "trash"
        self.spool = path / "spool"
        self.keys = path / "launch_keys"
        self.node = path / "node.json"
        self.inventory = path / "inventory.json"
        self._lock = -1

    @property
    def tag(self) -> str:
        """Short name of this home, for names that all homes on a machine share."""
        return hashlib.sha256(str(self.path).encode()).hexdigest()[:10]

    def open(self) -> None:
        """Make the folders and take the lock. Raises BadSettings or AgentError."""
        way = 0o711 if os.geteuid() == 0 else 0o700
        try:
            for folder, mode in (
                (self.path, way),
                (self.members, way),
                (self.trash, 0o700),
                (self.spool, 0o700),
            ):
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(mode)
            self._lock = os.open(self.path / "agent.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise BadSettings(f"--home: {self.path}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AgentError(f"another agent already runs in {self.path}") from None

    def close(self) -> None:
        """Let another agent in."""
        os.close(self._lock)

    def leave_no_empty_folder(self) -> None:
        """Remove the folder beside the home once no job is in it; the next agent makes it again if it needs one."""
        with contextlib.suppress(OSError):
            (JOBS_BESIDE / self.tag).rmdir()

    def jobs_beside(self) -> Path | None:
        """Where job folders go when a job's own user could not reach them under the home folder, else None."""
        if os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in self.members.parents):
            return None
        beside = JOBS_BESIDE / self.tag
        for folder in (JOBS_BESIDE, beside):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o711)
        log.warning("%s is closed to the jobs' users: job folders are in %s", self.path, beside)
        return beside

    def empty_trash(self) -> None:
        """Delete what an interrupted clean-up left."""
        delete(list(self.trash.iterdir()))

    def read_node(self) -> Enrolled | None:
        """Who this node is, or None before enrolment. Raises AgentError when the file is damaged."""
        try:
            return json.decode(self.node.read_bytes(), type=Enrolled)
        except FileNotFoundError:
            return None
        except DecodeError as error:
            raise AgentError(f"{self.node} is damaged: {error}") from error

    def write_node(self, enrolled: Enrolled) -> None:
        """Keep the node's token, readable to the agent's user only."""
        write_durably(self.node, json.encode(enrolled), mode=0o600)

    def read_inventory(self) -> Inventory:
        """The devices seen before; none when the file is missing or damaged."""
        try:
            return json.decode(self.inventory.read_bytes(), type=Inventory)
        except (FileNotFoundError, DecodeError):
            return Inventory()

    def write_inventory(self, inventory: Inventory) -> None:
        """Remember the devices."""
        write_durably(self.inventory, json.encode(inventory))
