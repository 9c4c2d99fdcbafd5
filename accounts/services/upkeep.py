"""What signing in leaves behind, and how long it is kept."""

from datetime import datetime, timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session

KEPT = timedelta(days=90)
"""How long it is known from which address somebody signed in or failed to."""


def sign_ins_forget(now: datetime) -> int:
    """Delete sessions that are over and notes of sign-ins that are too old; return how many rows."""
    gone = Session.objects.filter(expire_date__lt=now).delete()[0]
    for notes in (AccessAttempt, AccessFailureLog, AccessLog):
        gone += notes.objects.filter(attempt_time__lt=now - KEPT).delete()[0]
    return gone
