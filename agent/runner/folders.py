"""One member's folder: the durable truth about it. What runs is read from here, never remembered."""

import fcntl
import logging
import os
import uuid
from pathlib import Path
from typing import TypeVar

from msgspec import DecodeError, json

from agent.durable import sync_folder, write_durably
from agent.messages import ExitRecord
from agent.runner.records import LaunchFile, Started, StopFile

log = logging.getLogger(__name__)

T = TypeVar("T")


class MemberFolder:
    """Paths and records of one member."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "output.log"
        self.shim_log = path / "shim.log"
        self.work = path / "work"

    def make(self, beside: Path | None, owner: int | None) -> None:
        """The folder and the job's own folder in it, for its user alone. Raises OSError."""
        self.path.mkdir(mode=0o711, exist_ok=True)
        if os.geteuid() == 0:
            self.path.chmod(0o711)
        work = self.work
        if beside is not None:
            work = beside / self.path.name
            if not self.work.is_symlink():
                self.work.symlink_to(work)
        work.mkdir(mode=0o700, exist_ok=True)
        if owner is not None:
            os.chown(work, owner, owner)
        sync_folder(self.path.parent)

    def _read(self, name: str, kind: type[T]) -> T | None:
        try:
            return json.decode((self.path / name).read_bytes(), type=kind)
        except (FileNotFoundError, DecodeError):
            return None

    def launch(self) -> LaunchFile | None:
        """What was asked for; None when the folder was never completed."""
        return self._read("launch.json", LaunchFile)

    def started(self) -> Started | None:
        """The start record; None means that the command never ran."""
        return self._read("started.json", Started)

    def stop(self) -> StopFile | None:
        """The stop that was ordered."""
        return self._read("stop.json", StopFile)

    def exit(self) -> ExitRecord | None:
        """How it ended."""
        return self._read("exit.json", ExitRecord)

    def write_launch(self, file: LaunchFile) -> None:
        """Before the shim starts."""
        write_durably(self.path / "launch.json", json.encode(file))

    def write_stop(self, file: StopFile) -> None:
        """Before the shim is told."""
        write_durably(self.path / "stop.json", json.encode(file))

    def write_exit(self, record: ExitRecord) -> None:
        """For a member whose shim cannot write it any more. An existing record stays."""
        if self.exit() is None:
            write_durably(self.path / "exit.json", json.encode(record))

    def log_bytes(self) -> int:
        """Output so far."""
        try:
            return self.log.stat().st_size
        except FileNotFoundError:
            return 0

    def take_lock(self) -> int | None:
        """The lock that a shim holds for life, as a descriptor; None when one lives. Raises OSError."""
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    def is_locked(self) -> bool:
        """Whether a shim lives."""
        descriptor = self.take_lock()
        if descriptor is None:
            return True
        os.close(descriptor)
        return False

    def discard(self, trash: Path) -> list[Path]:
        """Move out of the way at once; returns what is left to delete."""
        left = [self.work.resolve()] if self.work.is_symlink() else []
        moved = trash / f"{self.path.name}-{uuid.uuid4().hex}"
        self.path.rename(moved)
        return [moved, *left]


def _empty(folder: int, top: int) -> list[str]:
    """Delete the files of an open folder; move its folders to ``top``. Returns the names they have there."""
    is_root = os.geteuid() == 0
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    folders = []
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        if not is_root:
            # A job may have closed folders of its own, and then even their owner can neither move nor empty them.
            os.chmod(name, 0o700, dir_fd=folder)
        moved = name if folder == top else uuid.uuid4().hex
        os.rename(name, moved, src_dir_fd=folder, dst_dir_fd=top)
        folders.append(moved)
    return folders


def _delete_tree(path: Path) -> None:
    """Delete a folder, however deep it is: what lies below moves up before it is entered, so that neither a path nor
    a stack grows with the depth that a job chose. Links are not followed, not even one put there meanwhile: as root
    that would delete what another names. Raises OSError."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    top = os.open(path, flags)
    try:
        os.fchmod(top, 0o700)
        waiting = _empty(top, top)
        while waiting:
            name = waiting.pop()
            folder = os.open(name, flags, dir_fd=top)
            try:
                waiting += _empty(folder, top)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    path.rmdir()


def delete(paths: list[Path]) -> None:
    """Delete folders for good; what resists is logged and tried again when the agent starts."""
    for path in paths:
        try:
            _delete_tree(path)
        except FileNotFoundError:
            log.debug("%s is gone already", path)
        except OSError as error:
            log.warning("%s not deleted: %s", path, error)
