"""What beat starts, and how often. A room adds its entry here; the task itself stands in the room.

Every task is idempotent: a tick that comes late, twice, or after a pause does the work that is due, once.
"""

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "kernel-deliver-outbox": {"task": "kernel.deliver_outbox", "schedule": 5.0},
    "kernel-seal-audit": {"task": "kernel.seal_audit", "schedule": 10.0},
    "kernel-forget-old": {"task": "kernel.forget_old", "schedule": 600.0, "options": {"expires": 600}},
    "accounts-forget-sign-ins": {"task": "accounts.forget_sign_ins", "schedule": 3600.0, "options": {"expires": 3600}},
    "accounts-deliver-notifications": {
        "task": "accounts.deliver_notifications",
        "schedule": 15.0,
        "options": {"expires": 30},
    },
    "accounts-forget-notifications": {
        "task": "accounts.forget_notifications",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "approvals-sweep": {"task": "approvals.sweep", "schedule": 300.0, "options": {"expires": 300}},
    "inventory-mark-silent-nodes": {
        "task": "inventory.mark_silent_nodes",
        "schedule": 10.0,
        "options": {"expires": 20},
    },
    "monitoring-ensure-partitions": {"task": "monitoring.ensure_partitions", "schedule": 3600.0},
    "monitoring-drop-partitions": {"task": "monitoring.drop_partitions", "schedule": 3600.0},
    "portal-demo-submit": {"task": "portal.demo_submit", "schedule": 20.0, "options": {"expires": 20}},
    "projects-imports-resume": {"task": "projects.imports_resume", "schedule": 60.0, "options": {"expires": 60}},
    "projects-imports-forget": {"task": "projects.imports_forget", "schedule": 3600.0, "options": {"expires": 3600}},
    "quotas-tell-crossings": {"task": "quotas.tell_crossings", "schedule": 300.0, "options": {"expires": 300}},
    # The task looks for the organisation's six o'clock itself, on the days on which clocks change too.
    "quotas-tell-ends": {"task": "quotas.tell_ends", "schedule": 900.0, "options": {"expires": 900}},
    "scheduling-tick": {"task": "scheduling.tick", "schedule": 5.0, "options": {"expires": 10}},
    "scheduling-mark-silent": {"task": "scheduling.mark_silent", "schedule": 10.0, "options": {"expires": 20}},
    "scheduling-stop-overdue": {"task": "scheduling.stop_overdue", "schedule": 30.0, "options": {"expires": 60}},
    "scheduling-forget-decisions": {
        "task": "scheduling.forget_decisions",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}
