"""Sending what is due: claim, send outside of every transaction, write down.

Each alone: no failure holds up another.
"""

import time

import structlog

from accounts.models import Channel, MailChoice, NotificationDelivery
from accounts.notifications import chat, ledger, mail, recipients
from accounts.notifications.ledger import Claim
from accounts.notifications.recipients import Recipient
from accounts.notifications.topics import known_topic
from kernel import clock
from kernel.calendar import local_day

BUDGET_S = 40
"""After so long a run begins nothing new; the next one goes on."""
MAX_ERROR = 500
UNREACHABLE = "the account is deactivated, or has no mail address"
READ = "read in the portal meanwhile, or no longer wanted"
_log = structlog.get_logger(__name__)


def deliver_due(limit: int = 500) -> int:
    """Send what is due; return how many messages left the house. A server that is away ends its channel's turn."""
    ends = time.monotonic() + BUDGET_S
    away: set[Channel] = set()
    sent = 0
    for _turn in range(limit):
        claim = None if time.monotonic() > ends else ledger.claim_next(without=away)
        if claim is None:
            break
        try:
            sent += _send(claim)
        except Exception as error:  # noqa: BLE001 - the edge of one recipient: kept, logged and tried again
            away |= _failed(claim, error)
    return sent


def _failed(claim: Claim, error: Exception) -> set[Channel]:
    """Write it down; the channels that get no further turn in this run."""
    words = f"{type(error).__name__}: {error}"[:MAX_ERROR]
    ledger.mark_failed(claim.lines, words, is_final=mail.is_final(error))
    _log.error("notification_not_sent", channel=claim.channel, delivery=claim.lines[0].pk, error=words)
    if isinstance(error, chat.ChatAway):
        return {Channel.CHAT}
    return {Channel.MAIL, Channel.DIGEST} if mail.is_away(error) else set()


def _send(claim: Claim) -> bool:
    if claim.channel is Channel.CHAT:
        chat.post(claim.lines[0].notification)
        ledger.mark_sent(claim.lines)
        return True
    to = _recipient(claim)
    if to is None:
        ledger.mark_dropped(claim.lines, UNREACHABLE)
        return False
    return _send_digest(claim, to) if claim.channel is Channel.DIGEST else _send_mail(claim, to)


def _recipient(claim: Claim) -> Recipient | None:
    """Asked again now: somebody may have been deactivated since the line was written."""
    found = [] if claim.person_id is None else [*recipients.reachable([claim.person_id]).values()]
    return found[0] if found and found[0].email else None


def _send_mail(claim: Claim, to: Recipient) -> bool:
    """What was read, or settled for everybody, before the mail left needs none."""
    if claim.lines[0].notification.read_at is not None:
        ledger.mark_dropped(claim.lines, READ)
        return False
    mail.notice(claim.lines[0], to).send()
    ledger.mark_sent(claim.lines)
    return True


def _send_digest(claim: Claim, to: Recipient) -> bool:
    """What was read meanwhile, or is no longer wanted, is left out; a digest of nothing is none."""
    chosen = recipients.choices([to.pk])
    wanted = [line for line in claim.lines if _is_wanted(line, chosen)]
    kept = {line.pk for line in wanted}
    ledger.mark_dropped([line for line in claim.lines if line.pk not in kept], READ)
    if not wanted:
        return False
    mail.digest([line.notification for line in wanted], to, local_day(clock.now())).send()
    ledger.mark_sent(wanted)
    return True


def _is_wanted(line: NotificationDelivery, chosen: dict[tuple[int, str], MailChoice]) -> bool:
    row = line.notification
    if row.read_at is not None:
        return False
    topic = known_topic(row.topic)
    choice = chosen.get((row.person_id, row.group), MailChoice.USUAL)
    return topic is None or recipients.is_at_once(topic, choice) is not None
