"""A recorded or invented workload: nodes, and jobs with the times at which they came and how long they work."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernel.documents import BadInput, Fault, shown
from scheduling.engine.model import MILLI, Ask, Device, Node
from scheduling.engine.replay import openb
from scheduling.engine.replay.table import RowTaker, Table
from scheduling.engine.scenario.names import numbered
from scheduling.engine.scenario.taking import MEBIBYTE

NODE_COLUMNS = ("name", "gpu_model", "gpus", "cpus", "memory_mb")
JOB_COLUMNS = (
    "id",
    "project",
    "submitted_at",
    "duration_s",
    "gpus",
    "gpu_models",
    "priority",
    "preemptible",
    "nodes_exact",
)
MORE_JOB_COLUMNS = ("cpus", "memory_mb", "max_runtime_s", "min_runtime_s", "share_device")
"""May be there; empty or missing: nothing is asked for, no end is set."""
OPENB_NODES = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
OPENB_JOBS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
OPENB_PROJECT = "openb"
_DEVICES_ON_A_NODE = 1024


@dataclass(frozen=True, slots=True)
class WorkJob:
    """``duration_s``: the work it does; None: it never ends. ``order``: the place of its row."""

    name: str
    project: str
    submitted_at: float
    duration_s: float | None
    ask: Ask
    order: int
    priority: int = 0
    is_preemptible: bool = True
    max_runtime_s: float | None = None
    min_runtime_s: float = 0


@dataclass(frozen=True, slots=True)
class Workload:
    nodes: tuple[Node, ...]
    jobs: tuple[WorkJob, ...]


def read_workload(nodes: str, jobs: str) -> Workload:
    """From the text of two CSV files, in our own columns or those of openb. Raises ``BadInput`` with every fault."""
    faults: list[Fault] = []
    workload = Workload(_nodes(nodes, faults), _jobs(jobs, faults))
    if faults:
        raise BadInput(faults)
    return workload


def _nodes(text: str, faults: list[Fault]) -> tuple[Node, ...]:
    if _is_openb(text, "sn"):
        _check_openb_nodes(Table("nodes", text, OPENB_NODES, faults))
        return () if faults else openb.read_nodes(text.splitlines())
    table = Table("nodes", text, NODE_COLUMNS[:3], faults)
    rows = [RowTaker(table, line, row) for line, row in table.rows]
    names = _once(rows, "name")
    numbers = numbered(names)
    return tuple(_node(row, name, numbers[name]) for name, row in zip(names, rows, strict=True))


def _node(row: RowTaker, name: str, number: int) -> Node:
    gpus = row.count("gpus")
    if gpus > _DEVICES_ON_A_NODE:
        row.fault("gpus", f"{gpus} is more than {_DEVICES_ON_A_NODE} on one node")
        gpus = 0
    model = row.text("gpu_model") if gpus else ""
    return Node(
        id=number,
        name=name,
        devices=tuple(Device(number * _DEVICES_ON_A_NODE + index, model) for index in range(gpus)),
        cpus=row.count("cpus", 0) if row.raw("cpus") else None,
        memory_bytes=row.count("memory_mb", 0) * MEBIBYTE if row.raw("memory_mb") else None,
    )


def _jobs(text: str, faults: list[Fault]) -> tuple[WorkJob, ...]:
    before = len(faults)
    if _is_openb(text, "num_gpu"):
        table = Table("jobs", text, OPENB_JOBS, faults)
        _check_openb_jobs(table)
        return () if len(faults) > before else _from_openb(openb.read_jobs(text.splitlines()))
    table = Table("jobs", text, JOB_COLUMNS[:5], faults)
    rows = [RowTaker(table, line, row) for line, row in table.rows]
    names = _once(rows, "id")
    return tuple(_job(row, name, order) for order, (name, row) in enumerate(zip(names, rows, strict=True)))


def _job(row: RowTaker, name: str, order: int) -> WorkJob:
    return WorkJob(
        name=name,
        project=row.text("project"),
        submitted_at=row.seconds("submitted_at", is_needed=True) or 0,
        duration_s=row.seconds("duration_s", is_needed=False),
        ask=_ask(row),
        order=order,
        priority=row.whole("priority"),
        is_preemptible=row.flag("preemptible"),
        max_runtime_s=row.seconds("max_runtime_s", is_needed=False),
        min_runtime_s=row.seconds("min_runtime_s", is_needed=False) or 0,
    )


def _ask(row: RowTaker) -> Ask:
    nodes, total = row.count("nodes_exact", 1, least=1), row.milli("gpus")
    each = total // nodes
    if total % nodes or (each > MILLI and each % MILLI):
        row.fault("gpus", f"{shown(row.raw('gpus'))} on {nodes} node(s) is not part of a GPU, or whole GPUs, on each")
    return Ask(
        milli=each,
        nodes=nodes,
        gpu_models=row.names("gpu_models"),
        cpus=row.count("cpus", 0),
        memory_bytes=row.count("memory_mb", 0) * MEBIBYTE,
        shares_device=row.flag("share_device"),
    )


def _once(rows: Sequence[RowTaker], column: str) -> list[str]:
    """The names, each there once."""
    names = [row.text(column) for row in rows]
    seen: set[str] = set()
    for row, name in zip(rows, names, strict=True):
        if name and name in seen:
            row.fault(column, f"{shown(name)} is there twice")
        seen.add(name)
    return names


def _is_openb(text: str, column: str) -> bool:
    return column in [name.strip() for name in text.split("\n", 1)[0].split(",")]


def _check_openb_nodes(table: Table) -> None:
    rows = [RowTaker(table, line, row) for line, row in table.rows]
    _once(rows, "sn")
    for row in rows:
        for column in ("cpu_milli", "memory_mib", "gpu"):
            row.count(column)
        row.text("model")


def _check_openb_jobs(table: Table) -> None:
    rows = [RowTaker(table, line, row) for line, row in table.rows]
    _once(rows, "name")
    for row in rows:
        for column in ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli"):
            row.count(column)
        for column in ("creation_time", "deletion_time"):
            row.seconds(column, is_needed=False)


def _from_openb(jobs: Sequence[openb.TraceJob]) -> tuple[WorkJob, ...]:
    """All of one project, preemptible, because nothing is guaranteed to it. Without times they come a second apart, in
    the order of their rows, and never end."""
    return tuple(
        WorkJob(
            name=job.name,
            project=OPENB_PROJECT,
            submitted_at=order if job.submitted_at is None else job.submitted_at,
            duration_s=job.duration_s,
            ask=job.ask,
            order=order,
        )
        for order, job in enumerate(jobs)
    )
