"""A backup file: a tar of plain files, and as its last member a manifest with the checksum of each."""

import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from portal.setup.refusal import ExitCode, Refusal

FORMAT = 1
MANIFEST = "manifest.json"
_CHUNK_BYTES = 1 << 20


class _Checked(io.RawIOBase):
    """Passes bytes through and sums them."""

    def __init__(self, source: IO[bytes]) -> None:
        super().__init__()
        self.source = source
        self.sum = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        part = self.source.read(size)
        self.sum.update(part)
        return part


@dataclass(frozen=True, slots=True)
class Writer:
    """Adds files to an archive that is being written."""

    tar: tarfile.TarFile
    sums: dict[str, str]

    def add(self, path: Path, name: str) -> None:
        """Add one file. If it grows meanwhile, what it held at the start is stored."""
        with path.open("rb") as source:
            member = tarfile.TarInfo(name)
            member.size = os.fstat(source.fileno()).st_size
            member.mtime = int(path.stat().st_mtime)
            member.mode = 0o600
            checked = _Checked(source)
            self.tar.addfile(member, checked)
        self.sums[name] = checked.sum.hexdigest()

    def add_folder(self, folder: Path, name: str) -> None:
        """Add all plain files below a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                self.add(path, f"{name}/{path.relative_to(folder).as_posix()}")


@contextmanager
def writing(target: Path) -> Iterator[Writer]:
    """Write an archive that appears under its name only when it is whole. It holds secrets: for the owner only."""
    if target.exists():
        raise Refusal(ExitCode.BACKUP, f"{target} exists already; a backup is never overwritten")
    partial = target.with_name(f"{target.name}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as handle:
            with tarfile.open(fileobj=handle, mode="w") as tar:
                writer = Writer(tar, {})
                yield writer
                _add_manifest(writer)
            handle.flush()
            os.fsync(handle.fileno())
        partial.rename(target)
    except OSError as error:
        raise Refusal(ExitCode.BACKUP, f"{target} could not be written: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def _add_manifest(writer: Writer) -> None:
    facts = {"format": FORMAT, "made_at": int(time.time()), "sha256": writer.sums}
    data = json.dumps(facts, indent=1).encode()
    member = tarfile.TarInfo(MANIFEST)
    member.size = len(data)
    member.mode = 0o600
    writer.tar.addfile(member, io.BytesIO(data))


def verify(source: Path) -> None:
    """Refuse an archive that is cut, changed, of another format, or names a place outside its folder."""
    try:
        with tarfile.open(source) as tar:
            found = {member.name: _sum(tar, member) for member in tar}
            manifest = json.loads(_read(tar, MANIFEST))
    except FileNotFoundError as error:
        raise Refusal(ExitCode.BACKUP, f"there is no file {source}") from error
    except (OSError, tarfile.TarError, KeyError, ValueError) as error:
        raise Refusal(ExitCode.BACKUP, f"{source} is no whole backup: {error}") from error
    found.pop(MANIFEST)
    if manifest.get("format") != FORMAT:
        raise Refusal(ExitCode.BACKUP, f"{source} has format {manifest.get('format')}; this version reads {FORMAT}")
    if found != manifest["sha256"]:
        raise Refusal(ExitCode.BACKUP, f"{source} is damaged: its checksums do not match")


def _sum(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    name = PurePosixPath(member.name)
    if not member.isfile() or name.is_absolute() or ".." in name.parts:
        raise ValueError(f"unexpected member {member.name}")
    handle = tar.extractfile(member)
    if handle is None:
        raise ValueError(f"unreadable member {member.name}")
    total = hashlib.sha256()
    while part := handle.read(_CHUNK_BYTES):
        total.update(part)
    return total.hexdigest()


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    handle = tar.extractfile(name)
    if handle is None:
        raise ValueError(f"unreadable member {name}")
    return handle.read()


def unpack(source: Path, folder: Path) -> None:
    """Write the files of a verified archive below a folder, readable by their owner only."""
    with tarfile.open(source) as tar:
        for member in tar:
            handle = tar.extractfile(member)
            if handle is None or member.name == MANIFEST:
                continue
            target = folder / member.name
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                while part := handle.read(_CHUNK_BYTES):
                    out.write(part)
