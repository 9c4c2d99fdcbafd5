"""What people, nodes and the clock do with jobs. One function per intention."""

from scheduling.services.acts import job_cancel, job_pause, job_requeue, job_resume
from scheduling.services.decide import decide_and_apply
from scheduling.services.jobs import job_clone, job_submit, spec_of
from scheduling.services.launches import launch_for
from scheduling.services.logs import log_append
from scheduling.services.nodes import node_declare_lost, node_drain, node_maintain, node_remove, node_undrain
from scheduling.services.overdue import attempts_stop_overdue
from scheduling.services.policy import policy_set
from scheduling.services.silence import members_lose_sight
from scheduling.services.switching import jobs_switch
from scheduling.services.sync import node_sync
from scheduling.services.telling import decisions_forget

__all__ = [
    "attempts_stop_overdue",
    "decide_and_apply",
    "decisions_forget",
    "job_cancel",
    "job_clone",
    "job_pause",
    "job_requeue",
    "job_resume",
    "job_submit",
    "jobs_switch",
    "launch_for",
    "log_append",
    "members_lose_sight",
    "node_declare_lost",
    "node_drain",
    "node_maintain",
    "node_remove",
    "node_sync",
    "node_undrain",
    "policy_set",
    "spec_of",
]
