"""What the scheduler sees and what it says. Shares of devices are milli-GPU: 1000 is the whole device."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

MILLI = 1000


@dataclass(frozen=True, slots=True)
class Device:
    """``free_milli`` of a device, and the projects that hold parts of it."""

    id: int
    gpu_model: str
    free_milli: int = MILLI
    projects: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Node:
    """A machine. ``can_start``: it is up and takes something new. ``counts``: it is not down, so that its devices
    are part of what is divided. ``holders``: the projects a dedicated pool serves, None where all may come."""

    id: int
    name: str
    devices: tuple[Device, ...]
    cpus: int
    memory_bytes: int
    free_cpus: int
    free_memory_bytes: int
    can_start: bool = True
    counts: bool = True
    source: str = "owned"
    holders: frozenset[int] | None = None
    max_runtime_bound_s: int | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """``sources``: where its data class allows its jobs to run. ``cpu_limit`` and ``memory_limit_bytes``: None
    where there is no quota to compare with."""

    id: int
    name: str
    is_active: bool
    sources: frozenset[str]
    cpu_limit: int | None = None
    memory_limit_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """Of one project on one GPU model. ``limit_milli`` None: no limit."""

    guaranteed_milli: int
    limit_milli: int | None


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """``milli_gpus`` in total over ``nodes``; ``cpus`` and ``memory_bytes`` on each. ``gpu_models`` empty: any that
    the project has a quota on. ``avoid``: nodes that failed it before, used only if nothing else fits."""

    id: int
    name: str
    project: int
    queued_at: datetime
    milli_gpus: int
    nodes: int = 1
    gpu_models: frozenset[str] = frozenset()
    is_preemptible: bool = False
    cpus: int = 0
    memory_bytes: int = 0
    max_runtime_s: int | None = None
    not_before: datetime | None = None
    avoid: frozenset[int] = frozenset()

    @property
    def milli_per_node(self) -> int:
        return self.milli_gpus // self.nodes


@dataclass(frozen=True, slots=True)
class RunningJob:
    """What counts in a project's use until its devices are free. ``cpus`` and ``memory_bytes`` in total."""

    id: int
    project: int
    gpu_model: str
    milli_gpus: int
    is_preemptible: bool
    cpus: int = 0
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``quotas`` by project and GPU model; ``reserve_milli`` by GPU model: kept for emergencies (INV3)."""

    nodes: tuple[Node, ...]
    queue: tuple[QueuedJob, ...]
    running: tuple[RunningJob, ...] = ()
    projects: Mapping[int, Project] = field(default_factory=dict)
    quotas: Mapping[tuple[int, str], Quota] = field(default_factory=dict)
    reserve_milli: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Policy:
    """Choices of the organisation. ``has_strict_order``: a job without room holds back the later ones of the same
    project and model."""

    has_strict_order: bool = True


@dataclass(frozen=True, slots=True)
class Start:
    """``placement``: node → device → milli. A node without devices runs a job without GPUs."""

    job: int
    gpu_model: str
    placement: Mapping[int, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class Wait:
    """``text`` is one true English sentence; screens translate from ``reason`` and ``needs``."""

    job: int
    reason: str
    text: str
    needs: Mapping[str, Any]
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Every queued job is in exactly one of the two."""

    start: tuple[Start, ...]
    wait: tuple[Wait, ...]
