"""Batches that the portal has not taken yet, on disk, the oldest dropped when there are too many."""

import logging
import threading
import time
from pathlib import Path

from agent.durable import write_all

log = logging.getLogger(__name__)
SUFFIX = ".json"


class Spool:
    """A folder with one file per batch, in time order by name."""

    def __init__(self, folder: Path, cap_bytes: int) -> None:
        self._folder = folder
        self._cap_bytes = cap_bytes
        self._lock = threading.Lock()
        self._count = 0
        for draft in folder.glob("*.part"):
            draft.unlink()

    def put(self, batch: bytes) -> None:
        """Keep a batch. On a full disk it is dropped: samples are not worth a job."""
        with self._lock:
            self._count += 1
            name = f"{time.time_ns():020d}-{self._count:09d}"
            draft = self._folder / f"{name}.part"
            try:
                with draft.open("wb", buffering=0) as file:
                    write_all(file.fileno(), batch)
                draft.rename(self._folder / f"{name}{SUFFIX}")
            except OSError as error:
                log.warning("samples dropped: %s", error.strerror)
                draft.unlink(missing_ok=True)
            self._trim()

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{SUFFIX}"))

    def _trim(self) -> None:
        sizes = [(path, path.stat().st_size) for path in self._files()]
        excess = sum(size for _, size in sizes) - self._cap_bytes
        for path, size in sizes:
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= size

    def oldest(self) -> tuple[Path, bytes] | None:
        """The next batch to send, and the name to remove it by."""
        with self._lock:
            files = self._files()
            return (files[0], files[0].read_bytes()) if files else None

    def remove(self, path: Path) -> None:
        """It was taken, or never will be."""
        path.unlink(missing_ok=True)
