"""The newest checkpoint in a job's folder, by modification time, with a bounded look.

Standard library only: the shim of a job imports it without site-packages.
"""

import os
from collections.abc import Iterator
from pathlib import Path

MAX_DEPTH = 4
MAX_ENTRIES = 5_000
UNFINISHED = (".tmp", ".part", ".partial", ".incomplete")


def _walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    budget = MAX_ENTRIES
    waiting = [(str(folder), 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    budget -= 1
                    if budget < 0:
                        return
                    if entry.is_dir(follow_symlinks=False):
                        if depth < MAX_DEPTH:
                            waiting.append((entry.path, depth + 1))
                    else:
                        yield entry
        except OSError:
            continue


def _modified_at(entry: os.DirEntry[str]) -> float | None:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return None


def newest(folder: Path, *, with_unfinished: bool = False) -> float | None:
    """Modification time (seconds since the epoch) of the newest file, or None.

    Hidden names and names that say *unfinished* count only ``with_unfinished``: the question then is whether
    anything is being written. Links are not followed.
    """
    latest: float | None = None
    for entry in _walk(folder):
        is_unfinished = entry.name.startswith(".") or entry.name.endswith(UNFINISHED)
        if is_unfinished and not with_unfinished:
            continue
        modified_at = _modified_at(entry)
        if modified_at is not None and (latest is None or modified_at > latest):
            latest = modified_at
    return latest
