"""What beat starts, and how often. A room adds its entry here; the task itself stands in the room.

Every task is idempotent: a tick that comes late, twice, or after a pause does the work that is due, once.
"""

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {}
