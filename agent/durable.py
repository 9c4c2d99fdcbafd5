"""Files that survive a power cut: write beside, fsync, rename, fsync the folder.

Standard library only: the shim of a job imports it without site-packages.
"""

import contextlib
import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write the whole of ``data``: one ``write`` may be short."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_durably(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace ``path`` whole or not at all. Raises OSError, and then the old content is still there."""
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        os.fchmod(descriptor, mode)
        write_all(descriptor, data)
        os.fsync(descriptor)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    draft.rename(path)
    sync_folder(path.parent)


def reserve(path: Path, size: int) -> None:
    """Set ``size`` bytes of disk aside under ``path``, so that a later record fits on a full disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # A file system without fallocate just keeps no reserve.
        with contextlib.suppress(OSError):
            os.posix_fallocate(descriptor, 0, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_into_reserve(reserved: Path, path: Path, data: bytes) -> None:
    """Like ``write_durably``, in the blocks that ``reserve`` set aside."""
    descriptor = os.open(reserved, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    reserved.rename(path)
    sync_folder(path.parent)
