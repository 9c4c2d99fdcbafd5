"""Which running jobs a guarantee protects: asked here, answered by a room above, as with ``quotas.usage``.

Until a reader is registered, and where nobody can tell, it is *not known* (None), which is not 0.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

MILLI = 1000
Running = Mapping[tuple[int, int], Sequence[int]]
"""By project and GPU model: the thousandths of GPUs of each non-preemptible job that runs, oldest start first."""
Reader = Callable[[Iterable[int]], Running | None]
"""Called with the projects asked about. A project without a key runs none."""

_readers: list[Reader] = []


def register(reader: Reader) -> None:
    """Name the one reader. Naming it again changes nothing; a second one is a fault."""
    if _readers and _readers[0] is not reader:
        raise ValueError("protected jobs have a reader already")
    _readers[:] = [reader]


def protected_now(project_ids: Iterable[int]) -> Running | None:
    """What runs protected at this moment, or None while nobody can tell."""
    return _readers[0](list(project_ids)) if _readers else None


def that_stay(running: Sequence[int], guaranteed: int) -> int:
    """How many of these jobs keep their protection under a guarantee of so many GPUs: oldest start first, each that
    still fits; the rest count as preemptible (scheduling, 1)."""
    left, kept = guaranteed * MILLI, 0
    for gpus in running:
        if gpus <= left:
            left, kept = left - gpus, kept + 1
    return kept
