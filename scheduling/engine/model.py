"""What the scheduler sees and what it says. Shares of GPUs are milli-GPU: 1000 is the whole device. Instants and
durations are seconds on one clock; who calls chooses its zero. Ids are numbers that sort as their owners' ids do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

MILLI = 1000

Placement = Mapping[int, Mapping[int, int]]
"""Node → device → milli-GPU. A node without devices runs a job without GPUs."""
Amounts = Mapping[str, int]
"""GPU model → milli-GPU."""
NONE: Mapping[Any, Any] = MappingProxyType({})


class NodeState(StrEnum):
    """``draining`` and ``suspect`` nodes take nothing new but count in what is divided; ``down`` ones do neither."""

    UP = "up"
    DRAINING = "draining"
    SUSPECT = "suspect"
    DOWN = "down"


class JobState(StrEnum):
    """``stopping``: its GPUs are not free yet, and it counts in use and requested until they are."""

    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Device:
    """A healthy GPU of a node."""

    id: int
    gpu_model: str


@dataclass(frozen=True, slots=True)
class Node:
    """A machine. ``cpus`` and ``memory_bytes`` None: not counted. ``gpu_memory_bytes``: of each of its GPUs, 0 where
    unknown. ``holders``: the projects that a dedicated pool serves, None where all may come. ``max_runtime_bound_s``:
    what the pool allows at most."""

    id: int
    name: str
    devices: tuple[Device, ...]
    state: NodeState = NodeState.UP
    cpus: int | None = None
    memory_bytes: int | None = None
    gpu_memory_bytes: int = 0
    interconnect: str = ""
    pool: str = ""
    source: str = "owned"
    holders: frozenset[int] | None = None
    max_runtime_bound_s: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What a job needs. ``milli``, ``cpus`` and ``memory_bytes`` on each of ``nodes`` distinct nodes; ``gpu_models``
    empty: any that the project may use; ``gpu_memory_bytes``: at least so much on each GPU; ``is_exclusive``: nothing
    else on its nodes; ``shares_device``: other projects may use the rest of its GPU. Jobs that ask alike fit alike."""

    milli: int
    nodes: int = 1
    gpu_models: frozenset[str] = frozenset()
    cpus: int = 0
    memory_bytes: int = 0
    gpu_memory_bytes: int = 0
    interconnect: str = ""
    is_exclusive: bool = False
    shares_device: bool = False

    @property
    def total_milli(self) -> int:
        return self.milli * self.nodes

    @property
    def devices(self) -> int:
        """Whole devices on each node; a part of one counts as one."""
        return -(-self.milli // MILLI)


@dataclass(frozen=True, slots=True)
class Job:
    """``queued_at`` is when it first came into the queue; ``order`` breaks ties: the start sequence of running jobs,
    the queue sequence of queued ones. ``not_before``: back-off after a failed launch; ``avoid``: nodes that failed it,
    used only if nothing else fits. ``is_emergency``: an approved grant lets it use the reserve.

    Of one that runs or stops: ``gpu_model`` is what is charged, ``started_at`` and ``last_checkpoint_at`` are None
    where unknown, ``member_lost_at`` is when the first of its members was lost.
    """

    id: int
    name: str
    project: int
    ask: Ask
    state: JobState = JobState.QUEUED
    priority: int = 0
    is_preemptible: bool = False
    queued_at: float = 0
    order: int = 0
    max_runtime_s: float | None = None
    min_runtime_s: float = 0
    not_before: float | None = None
    avoid: frozenset[int] = frozenset()
    interruptions_today: int = 0
    is_emergency: bool = False
    gpu_model: str = ""
    placement: Placement = field(default_factory=lambda: NONE)
    started_at: float | None = None
    last_checkpoint_at: float | None = None
    member_lost_at: float | None = None


@dataclass(frozen=True, slots=True)
class Entitlement:
    """Of a project or group. ``guaranteed`` and ``limit`` by GPU model; no limit where a model is missing. ``rank``:
    larger is served first for surplus. ``past_use``: the decayed part of each model's capacity-hours that it used,
    less what it lost to interruptions."""

    guaranteed: Amounts = field(default_factory=lambda: NONE)
    limit: Amounts = field(default_factory=lambda: NONE)
    weight: Fraction = Fraction(1)
    rank: int = 0
    past_use: Mapping[str, Fraction] = field(default_factory=lambda: NONE)


@dataclass(frozen=True, slots=True)
class Group:
    """A research area; ``parent`` None at the top."""

    id: int
    name: str
    parent: int | None = None
    entitlement: Entitlement = Entitlement()


@dataclass(frozen=True, slots=True)
class Project:
    """``gpu_models``: those it may use. ``sources``: where its data class allows its jobs to run, None everywhere.
    ``requested``: given in place of what its jobs ask for. ``cpu_limit`` and ``memory_limit_bytes``: None where there
    is no quota to compare with."""

    id: int
    name: str
    group: int | None = None
    entitlement: Entitlement = Entitlement()
    created_order: int = 0
    is_active: bool = True
    gpu_models: frozenset[str] | None = None
    sources: frozenset[str] | None = None
    requested: Amounts | None = None
    cpu_limit: int | None = None
    memory_limit_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Earmark:
    """GPUs freed for a queued job: on this node ``milli`` are its own until its set is complete. ``since`` None: the
    time is not counted."""

    job: int
    node: int
    milli: int
    since: float | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """From ``start`` until before ``end`` these GPUs serve the project alone."""

    id: str
    project: int
    gpu_model: str
    milli: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Policy:
    """Choices of the organisation. ``usage_sensitivity`` is k: how strongly past use moves the surplus.
    ``planned_starts`` bounds, per GPU model, how many starving jobs hold a planned start at once."""

    starvation_after_s: float = 1800
    grace_s: float = 300
    interruptions_per_day: int = 3
    usage_sensitivity: Fraction = Fraction(1, 2)
    earmark_margin_s: float = 120
    member_lost_after_s: float = 60
    planned_starts: int = 50


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a decision depends on besides the time and the policy. ``capacity``, if given, is divided in place of
    the nodes' GPUs; ``reserve`` by GPU model is kept for emergencies."""

    nodes: tuple[Node, ...] = ()
    jobs: tuple[Job, ...] = ()
    projects: tuple[Project, ...] = ()
    groups: tuple[Group, ...] = ()
    reserve: Amounts = field(default_factory=lambda: NONE)
    earmarks: tuple[Earmark, ...] = ()
    windows: tuple[Window, ...] = ()
    capacity: Amounts | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """``after``: the jobs that must have stopped first; empty: it starts now."""

    job: int
    gpu_model: str
    placement: Placement
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Preempt:
    """Stop this job, for a queued one or, if None, because it lost members. ``lost_gpu_seconds`` is its work since the
    last checkpoint."""

    job: int
    by: int | None
    lost_gpu_seconds: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a job waits. Screens translate from ``reason`` and ``needs``, never from ``text``, one true English sentence.
    ``until``: when it is expected to start, None where nobody can say."""

    job: int
    reason: str
    text: str
    needs: Mapping[str, Any]
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Every queued job is in exactly one of ``start`` and ``wait``. ``share`` by project, then GPU model;
    ``unassigned`` by GPU model: what is divided and nobody's share."""

    start: tuple[Start, ...]
    preempt: tuple[Preempt, ...]
    earmarks: tuple[Earmark, ...]
    wait: tuple[Wait, ...]
    share: Mapping[int, Amounts]
    unassigned: Amounts
