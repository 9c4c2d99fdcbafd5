"""Writing what people are told: into the inbox, and into the ledger of what is to leave the house.

A constant number of statements, however many people and notices.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model

from accounts.models import Channel, MailChoice, Notification, NotificationDelivery
from accounts.notifications import recipients, unread
from accounts.notifications.morning import next_morning
from accounts.notifications.topics import Topic, topic_named
from kernel import clock
from kernel.subject import subject_fields

_PATH = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")
"""A path of this portal, printable ASCII without a backslash: never an address elsewhere, never a line of a header."""
MAX_URL = 500
MAX_ONCE = 200
BATCH = 2000


@dataclass(frozen=True, slots=True)
class Told:
    """One notice to some people. ``once`` non-empty: nobody is told it a second time, ever."""

    topic: str
    to: Iterable[int]
    subject: Model | None = None
    words: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""
    once: str = ""


def notify(
    *,
    topic: str,
    to: Iterable[int],
    subject: Model | None = None,
    words: Mapping[str, Any] | None = None,
    url: str = "",
    once: str = "",
) -> int:
    """Tell these people in the caller's transaction. Returns how many were told: not who is gone or knew it.

    Raises ``LookupError`` for an unknown topic and ``ValueError`` for words, a url or a ``once`` that do not fit.
    """
    return notify_many([Told(topic, to, subject, words or {}, url, once)])


def notify_many(notices: Sequence[Told]) -> int:
    """Tell many people many things, in a constant number of statements. See ``notify``."""
    asked = [(topic_named(notice.topic), notice, sorted(set(notice.to))) for notice in notices]
    for topic, notice, _people in asked:
        _check(topic, notice)
    people = {person for _topic, _notice, to in asked for person in to}
    if not people:
        return 0
    with transaction.atomic(savepoint=False):
        reached = recipients.reachable(people)
        rows = [_row(topic, notice, person) for topic, notice, to in asked for person in to if person in reached]
        fresh = _insert(rows)
        if fresh:
            lines = _owe(fresh, reached)
            unread.forget_on_commit(row.person_id for row in fresh)
            if any(line.channel != Channel.DIGEST for line in lines):
                transaction.on_commit(wake, robust=True)
    return len(fresh)


def settle(*, subject: Model, topics: Collection[str]) -> int:
    """What people were told of this subject in these topics waits for nobody any more: it is read, and what of it is
    not sent yet is not sent. How many notifications. Two statements."""
    rows = unread.unread_rows().filter(topic__in=list(topics), **subject_fields(subject))
    people = list(rows.values_list("person_id", flat=True))
    if people:
        rows.update(read_at=clock.now())
        unread.forget_on_commit(people)
    return len(people)


def _check(topic: Topic, notice: Told) -> None:
    missing = topic.placeholders - notice.words.keys()
    if missing:
        raise ValueError(f"{topic.name}: no word for {', '.join(sorted(missing))}")
    if notice.url and (len(notice.url) > MAX_URL or not _PATH.fullmatch(notice.url)):
        raise ValueError(f"{topic.name}: {notice.url!r} is no path of the portal")
    if len(notice.once) > MAX_ONCE:
        raise ValueError(f"{topic.name}: once is longer than {MAX_ONCE} characters")
    for name, value in notice.words.items():
        _check_word(topic, name, value)


def _check_word(topic: Topic, name: str, value: Any) -> None:
    """What cannot be shown later is refused now, where the mistake is."""
    if not isinstance(value, str | int | float | list | None):
        raise TypeError(f"{topic.name}: {name} is no plain value: {value!r}")
    if value is None:
        return
    if name.endswith("_at") and datetime.fromisoformat(str(value)).tzinfo is None:
        raise ValueError(f"{topic.name}: {name} has no time zone: {value}")
    if name.endswith("_on"):
        date.fromisoformat(str(value))
    if name.endswith("_seconds"):
        float(str(value))


def _row(topic: Topic, notice: Told, person: int) -> Notification:
    return Notification(
        person_id=person,
        topic=topic.name,
        group=topic.group,
        is_blocking=topic.is_blocking,
        words=dict(notice.words),
        url=notice.url,
        once=notice.once,
        created_at=clock.now(),
        **(subject_fields(notice.subject) if notice.subject is not None else {}),
    )


def _insert(rows: list[Notification]) -> list[Notification]:
    """Write what was not told before; return it. Ids are drawn first, so that one knows which rows were new."""
    if not rows:
        return []
    # One order of all writers of equal keys: who waits for another's row never holds one that the other waits for.
    rows.sort(key=lambda row: (row.person_id, row.once))
    for row, pk in zip(rows, _new_ids(len(rows)), strict=True):
        row.pk = pk
    Notification.objects.bulk_create(rows, ignore_conflicts=True, batch_size=BATCH)
    first, last = rows[0].pk, rows[-1].pk
    mine = {row.pk for row in rows}
    written = set(Notification.objects.filter(pk__gte=first, pk__lte=last).values_list("pk", flat=True)) & mine
    return [row for row in rows if row.pk in written]


def _new_ids(count: int) -> list[int]:
    table = Notification._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count])
        return sorted(pk for (pk,) in cursor.fetchall())


def _owe(rows: list[Notification], reached: Mapping[int, recipients.Recipient]) -> list[NotificationDelivery]:
    """The lines of the ledger: by mail at once, in the next digest, and into the chat."""
    now = clock.now()
    morning = next_morning(now)
    chosen = recipients.choices({row.person_id for row in rows})
    lines = []
    for row in rows:
        if not reached[row.person_id].email:
            continue
        choice = chosen.get((row.person_id, row.group), MailChoice.USUAL)
        at_once = recipients.is_at_once(topic_named(row.topic), choice)
        if at_once is not None:
            channel, due_at = (Channel.MAIL, now) if at_once else (Channel.DIGEST, morning)
            lines.append(
                NotificationDelivery(notification=row, person_id=row.person_id, channel=channel, due_at=due_at)
            )
    lines += _chat_lines(rows, now)
    NotificationDelivery.objects.bulk_create(lines, ignore_conflicts=True, batch_size=BATCH)
    return lines


def _chat_lines(rows: list[Notification], now: datetime) -> list[NotificationDelivery]:
    """One line a notice, whoever it is told to: the chat is one place for all."""
    if not settings.CHAT_WEBHOOK:
        return []
    notices: dict[tuple[Any, ...], Notification] = {}
    for row in rows:
        if row.group in settings.CHAT_GROUPS:
            key = (row.topic, row.once) if row.once else (row.topic, row.url, str(sorted(row.words.items())))
            notices.setdefault(key, row)
    return [
        NotificationDelivery(notification=row, channel=Channel.CHAT, once=row.once, due_at=now)
        for row in notices.values()
    ]


def wake() -> None:
    """What is due at once is sent at once; without a broker the next beat sends it."""
    current_app.send_task("accounts.deliver_notifications", queue="dispatch")
