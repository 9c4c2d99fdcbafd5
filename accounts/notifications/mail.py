"""Mails: one notification at once, or the digest of a day. Text and HTML, in the reader's language."""

from collections.abc import Sequence
from datetime import date
from smtplib import SMTPConnectError, SMTPException, SMTPRecipientsRefused, SMTPServerDisconnected
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from accounts.models import Notification, NotificationDelivery
from accounts.notifications import strict
from accounts.notifications.recipients import Recipient
from accounts.notifications.strict import Names
from accounts.notifications.wording import strict_wording

MAX_SUBJECT = 180
MAX_LINES = 100
"""More would be cut by mail programs; the inbox has the rest."""


def absolute(path: str) -> str:
    """The address of a page as a mail names it."""
    return f"{settings.BASE_URL}{path}"


def notice(line: NotificationDelivery, to: Recipient) -> EmailMultiAlternatives:
    """The mail of one notification. Its Message-ID is the same however often it is tried."""
    with override(_language(to)):
        names = Names(_frame(to), **_line(line.notification))
        return _message("notice", names, to, key=f"delivery-{line.pk}")


def digest(rows: Sequence[Notification], to: Recipient, day: date) -> EmailMultiAlternatives:
    """The one digest of this day, what was told first at the top."""
    with override(_language(to)):
        count = len(rows)
        title = ngettext("%(count)s notification", "%(count)s notifications", count) % {"count": count}
        lines = [Names(_line(row)) for row in rows[:MAX_LINES]]
        names = Names(_frame(to), title=title, lines=lines, more=max(0, count - MAX_LINES))
        return _message("digest", names, to, key=f"digest-{to.pk}-{day.isoformat()}")


def is_final(error: Exception) -> bool:
    """Whether the mail server has refused this recipient for good: trying again is no use."""
    if not isinstance(error, SMTPRecipientsRefused):
        return False
    return all(code >= 500 for code, _answer in error.recipients.values())


def is_away(error: Exception) -> bool:
    """Whether the server did not answer at all: then the other mails wait too, and lose no try."""
    if isinstance(error, SMTPServerDisconnected | SMTPConnectError):
        return True
    return isinstance(error, OSError) and not isinstance(error, SMTPException)


def _language(to: Recipient) -> str:
    return to.language or settings.LANGUAGE_CODE


def _frame(to: Recipient) -> dict[str, object]:
    return {
        "name": to.name,
        "language": _language(to),
        "inbox_url": absolute(reverse("accounts:inbox")),
        "preferences_url": absolute(reverse("accounts:inbox-preferences")),
    }


def _line(row: Notification) -> dict[str, object]:
    said = strict_wording(row)
    return {"title": said.title, "text": said.text, "url": absolute(_open_path(row))}


def _open_path(row: Notification) -> str:
    """Through the inbox, which marks it as read and goes on to what it is about."""
    return reverse("accounts:inbox-open", args=[row.pk])


def _message(kind: str, names: Names, to: Recipient, *, key: str) -> EmailMultiAlternatives:
    host = urlsplit(settings.BASE_URL).hostname or "localhost"
    message = EmailMultiAlternatives(
        subject=_("[Sluice] %(title)s") % {"title": names["title"]},
        body=strict.render(f"accounts/mail/{kind}.txt", names),
        to=[to.email],
        headers={
            "Message-ID": f"<sluice-{key}@{host}>",
            "Auto-Submitted": "auto-generated",
            "List-Unsubscribe": f"<{names['preferences_url']}>",
        },
    )
    message.subject = message.subject[:MAX_SUBJECT]
    message.attach_alternative(strict.render(f"accounts/mail/{kind}.html", names), "text/html")
    return message
