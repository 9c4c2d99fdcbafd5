"""How long one may take back what pages offer to undo, and how long its row is kept for that."""

from datetime import timedelta

UNDO_WITHIN = timedelta(hours=1)
KEPT = timedelta(days=1)
