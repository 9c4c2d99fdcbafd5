"""How much of a quota is in use: asked here, answered by a room above.

What runs is scheduling's to know, and quotas may not import it. Scheduling registers its reader in
``AppConfig.ready``; until then, and where nobody can tell, the use is *not known* (None), which is not 0.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

QuotaKey = tuple[int, str, int | None]
"""Project, resource, GPU model (None for what is not a GPU)."""
Usage = Mapping[QuotaKey, float]
"""In the resource's unit: GPUs (parts of one possible), cores, bytes. A project without a key uses nothing."""
UsageReader = Callable[[datetime, Iterable[int]], Usage | None]
"""Called with the instant and the projects asked about; None: not known for that instant."""

_readers: list[UsageReader] = []


def register(reader: UsageReader) -> None:
    """Name the one reader. Naming it again changes nothing; a second one is a fault."""
    if _readers and _readers[0] is not reader:
        raise ValueError("use of quotas has a reader already")
    _readers[:] = [reader]


def used_at(at: datetime, project_ids: Iterable[int]) -> Usage | None:
    """Use by project, resource and model at an instant, or None while nobody can tell."""
    return _readers[0](at, list(project_ids)) if _readers else None
