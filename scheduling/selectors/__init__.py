"""Reading jobs, logs, use and nodes. Every query of a screen starts at ``visible_to``."""

from scheduling.selectors.jobs import (
    AttemptView,
    InterruptionView,
    JobDetail,
    JobEvent,
    job_detail,
    job_events,
    job_for,
    listed,
    running,
    visible_to,
    waiting,
)
from scheduling.selectors.logs import LogPart, log_read, log_size
from scheduling.selectors.nodes import DrainImpact, HurtJob, drain_impact, is_silent
from scheduling.selectors.usage import (
    DayUsage,
    ModelUse,
    gpu_hours_by_day,
    milli_by_day,
    used_now,
)

__all__ = [
    "AttemptView",
    "DayUsage",
    "DrainImpact",
    "HurtJob",
    "InterruptionView",
    "JobDetail",
    "JobEvent",
    "LogPart",
    "ModelUse",
    "drain_impact",
    "gpu_hours_by_day",
    "is_silent",
    "job_detail",
    "job_events",
    "job_for",
    "listed",
    "log_read",
    "log_size",
    "milli_by_day",
    "running",
    "used_now",
    "visible_to",
    "waiting",
]
