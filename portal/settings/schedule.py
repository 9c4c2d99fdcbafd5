"""What beat starts, and how often. A room adds its entry here; the task itself stands in the room.

Every task is idempotent: a tick that comes late, twice, or after a pause does the work that is due, once.
"""

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "monitoring-ensure-partitions": {"task": "monitoring.ensure_partitions", "schedule": 3600.0},
    "monitoring-drop-partitions": {"task": "monitoring.drop_partitions", "schedule": 3600.0},
}
