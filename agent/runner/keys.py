"""Launch keys that this node has started: a key is started once, even after its folder is gone."""

import hashlib
import os
import threading
from pathlib import Path

from agent.durable import write_all, write_durably

KEPT = 100_000
SLACK = 20_000


class LaunchKeys:
    """An append-only file of digests, the newest ``KEPT`` of them. Older ones the portal no longer hands out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        lines = path.read_text().split("\n") if path.exists() else []
        # The last line may have been cut by a crash; its key was not started then.
        self._digests = dict.fromkeys(line for line in lines[:-1] if line)
        self._compact()

    @staticmethod
    def _digest(launch_key: str) -> str:
        return hashlib.sha256(launch_key.encode()).hexdigest()[:32]

    def __contains__(self, launch_key: str) -> bool:
        return self._digest(launch_key) in self._digests

    def add(self, launch_key: str) -> None:
        """Remember the key durably, before anything is started under it. Raises OSError."""
        digest = self._digest(launch_key)
        with self._lock:
            if digest in self._digests:
                return
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                write_all(descriptor, f"{digest}\n".encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self._digests[digest] = None
            if len(self._digests) > KEPT + SLACK:
                self._compact()

    def _compact(self) -> None:
        kept = list(self._digests)[-KEPT:]
        self._digests = dict.fromkeys(kept)
        write_durably(self._path, "".join(f"{digest}\n" for digest in kept).encode())
