"""Reading the openb trace: nodes and pods of a public GPU cluster (Weng et al., USENIX ATC 2023) as nodes and jobs.

CPU is counted in thousandths of a core, as in the trace: units need only agree between nodes and asks.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scheduling.engine.model import MILLI, Ask, Device, Node

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One pod. ``submitted_at`` and ``duration_s`` are None where the trace has no times, and ``duration_s`` where the
    pod never ended."""

    name: str
    ask: Ask
    submitted_at: float | None = None
    duration_s: float | None = None


def read_nodes(lines: Iterable[str]) -> tuple[Node, ...]:
    """From the columns ``sn, cpu_milli, memory_mib, gpu, model``. Raises ``KeyError`` or ``ValueError`` at a row that
    lacks one or holds no number."""
    return tuple(_node(number, row) for number, row in enumerate(csv.DictReader(lines), start=1))


def _node(number: int, row: Mapping[str, str]) -> Node:
    devices = tuple(Device(at, row["model"]) for at in range(int(row["gpu"])))
    return Node(number, row["sn"], devices, cpus=int(row["cpu_milli"]), memory_bytes=int(row["memory_mib"]) * _MIB)


def read_jobs(lines: Iterable[str]) -> tuple[TraceJob, ...]:
    """From the columns ``name, cpu_milli, memory_mib, num_gpu, gpu_milli`` and, where there are any, ``gpu_spec``
    (models allowed, ``|`` between), ``creation_time`` and ``deletion_time``. Raises as ``read_nodes``."""
    return tuple(_job(row) for row in csv.DictReader(lines))


def _job(row: Mapping[str, str]) -> TraceJob:
    ask = Ask(
        milli=_milli(int(row["num_gpu"]), int(row["gpu_milli"])),
        gpu_models=frozenset(filter(None, (row.get("gpu_spec") or "").split("|"))),
        cpus=int(row["cpu_milli"]),
        memory_bytes=int(row["memory_mib"]) * _MIB,
    )
    created, deleted = row.get("creation_time") or None, row.get("deletion_time") or None
    submitted = None if created is None else float(created)
    return TraceJob(
        row["name"], ask, submitted, None if submitted is None or deleted is None else float(deleted) - submitted
    )


def _milli(devices: int, milli: int) -> int:
    """Several devices are always whole ones."""
    return devices * MILLI if devices > 1 else devices * milli
