"""The scheduler: one pure function from a snapshot to a decision. No Django, no clock, no I/O."""

from scheduling.engine.decide import decide
from scheduling.engine.model import (
    MILLI,
    Decision,
    Device,
    Node,
    Policy,
    Project,
    QueuedJob,
    Quota,
    RunningJob,
    Snapshot,
    Start,
    Wait,
)

__all__ = [
    "MILLI",
    "Decision",
    "Device",
    "Node",
    "Policy",
    "Project",
    "QueuedJob",
    "Quota",
    "RunningJob",
    "Snapshot",
    "Start",
    "Wait",
    "decide",
]
