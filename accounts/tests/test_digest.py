"""One digest a day in the organisation's morning, whatever the clocks do; claims that outlive no worker."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from threading import Barrier
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils.translation import gettext_lazy as _
from pytest_django import Settings

from accounts.models import (
    DeliveryOutcome,
    MailChoice,
    Notification,
    NotificationDelivery,
    NotificationPreference,
    Person,
)
from accounts.notifications import Topic, Urgency, ledger, notify, register, sending, topics
from accounts.notifications.morning import morning_of, next_morning, this_morning
from accounts.services import person_create
from accounts.services.notifications import KEPT, notifications_forget, notifications_read
from accounts.tests.mail_server import MailServer, mail_server
from kernel import clock

WAIT = 20


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture(autouse=True)
def _topics(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(topics, "_TOPICS", {})
    register(Topic("test.news", _("News of %(title)s"), _("It changed."), Urgency.NEWS, "quotas"))
    settings.ORGANISATION_TIME_ZONE = "Europe/Berlin"


@pytest.fixture
def post(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


def mailed(name: str) -> Person:
    return person_create(actor=None, username=name, display_name=name.title(), email=f"{name}@example.org")


def tell(at: str, *to: Person, title: str = "Harbour", once: str = "") -> None:
    with clock.frozen(utc(at)):
        notify(topic="test.news", to=[p.pk for p in to], words={"title": title}, url="/", once=once)


def send(at: str) -> int:
    with clock.frozen(utc(at)):
        return sending.deliver_due()


@pytest.mark.parametrize(
    ("now", "morning"),
    [
        ("2026-03-28T12:00", "2026-03-29T05:00"),  # The clocks go forward this night.
        ("2026-03-27T12:00", "2026-03-28T06:00"),
        ("2026-10-24T12:00", "2026-10-25T06:00"),  # And back this night.
        ("2026-10-23T12:00", "2026-10-24T05:00"),
        ("2026-01-10T05:59", "2026-01-10T06:00"),
        ("2026-01-10T06:00", "2026-01-11T06:00"),
        ("2026-01-09T23:30", "2026-01-10T06:00"),  # Past midnight in Berlin already.
    ],
)
def test_the_next_morning_is_the_organisations(now: str, morning: str) -> None:
    assert next_morning(utc(now)) == utc(morning)


def test_a_morning_is_of_its_day_and_comes_once(settings: Settings) -> None:
    settings.DIGEST_TIME = time(2, 30)
    assert morning_of(date(2026, 3, 29)) == utc("2026-03-29T01:30"), "a time that the day lacks"
    assert morning_of(date(2026, 10, 25)) == utc("2026-10-25T00:30"), "a time that the day has twice: the first"
    assert this_morning(utc("2026-10-25T00:29")) is None
    assert this_morning(utc("2026-10-25T01:30")) == utc("2026-10-25T00:30")


@pytest.mark.django_db
def test_a_day_of_news_is_one_mail_in_the_morning(post: MailServer) -> None:
    kim, lee = mailed("kim"), mailed("lee")
    for title in ("Harbour", "Lighthouse", "<b>Pier</b>"):
        tell("2026-03-02T12:00", kim, lee, title=title)
    assert send("2026-03-03T05:59") == 0
    assert send("2026-03-03T06:00") == 2
    assert send("2026-03-03T06:01") == send("2026-03-03T23:30") == 0
    [mail] = post.to("kim@example.org")
    assert mail["Subject"] == "[Sluice] 3 notifications"
    assert mail["Message-ID"].startswith(f"<sluice-digest-{kim.pk}-2026-03-03@")
    text, html = (part.get_content() for part in mail.iter_parts())
    assert text.index("Harbour") < text.index("Lighthouse") < text.index("<b>Pier</b>")
    assert "&lt;b&gt;Pier&lt;/b&gt;" in html


@pytest.mark.django_db
@pytest.mark.parametrize("first", [date(2026, 3, 27), date(2026, 10, 23)])
def test_there_is_one_a_day_over_the_change_of_the_clocks(post: MailServer, first: date) -> None:
    """News every three hours, and the task every twenty minutes, over four days."""
    kim = mailed("kim")
    at = datetime.combine(first, time(0), UTC)
    sent: list[datetime] = []
    for _turn in range(4 * 24 * 3):
        with clock.frozen(at):
            if at.minute == 0 and at.hour % 3 == 0:
                notify(topic="test.news", to=[kim.pk], words={"title": "A"}, url="/")
            sent += [at] * sending.deliver_due()
        at += timedelta(minutes=20)
    zone = ZoneInfo("Europe/Berlin")
    assert [(s.astimezone(zone).day - first.day, s.astimezone(zone).hour) for s in sent] == [
        (0, 7),
        (1, 7),
        (2, 7),
        (3, 7),
    ]


@pytest.mark.django_db
def test_missed_mornings_are_made_up_for_once(post: MailServer) -> None:
    kim = mailed("kim")
    tell("2026-03-02T12:00", kim, title="A")
    tell("2026-03-03T12:00", kim, title="B")
    assert send("2026-03-05T03:00") == 0, "in the night nothing is made up for: the morning is near"
    assert send("2026-03-05T15:00") == 1
    tell("2026-03-05T16:00", kim, title="C")
    assert send("2026-03-05T22:00") == 0
    assert send("2026-03-06T06:00") == 1
    assert [mail["Subject"] for mail in post.to("kim@example.org")] == [
        "[Sluice] 2 notifications",
        "[Sluice] 1 notification",
    ]


@pytest.mark.django_db
def test_what_was_read_or_is_not_wanted_is_left_out(post: MailServer) -> None:
    kim, lee = mailed("kim"), mailed("lee")
    tell("2026-03-02T12:00", kim, lee, title="A")
    tell("2026-03-02T13:00", kim, title="B")
    notifications_read(actor=kim, ids=[Notification.objects.filter(person=kim).order_by("pk")[0].pk])
    NotificationPreference.objects.create(person=lee, group="quotas", mail=MailChoice.NONE)
    assert send("2026-03-03T06:00") == 1
    [mail] = post.to("kim@example.org")
    assert mail["Subject"] == "[Sluice] 1 notification"
    outcomes = NotificationDelivery.objects.order_by("pk").values_list("outcome", flat=True)
    assert list(outcomes) == ["dropped", "dropped", "sent"]
    assert send("2026-03-03T06:01") == 0


@pytest.mark.django_db
def test_who_is_gone_by_the_morning_gets_no_digest(post: MailServer) -> None:
    kim = mailed("kim")
    tell("2026-03-02T12:00", kim)
    Person.objects.update(is_active=False)
    assert send("2026-03-03T06:00") == 0
    assert NotificationDelivery.objects.get().outcome == DeliveryOutcome.DROPPED


@pytest.mark.django_db
def test_a_digest_that_failed_goes_again_whole(post: MailServer) -> None:
    kim, lee = mailed("kim"), mailed("lee")
    tell("2026-03-02T12:00", kim, lee, title="A")
    tell("2026-03-02T13:00", kim, lee, title="B")
    post.refuses = {"kim@example.org": "450 come again"}
    assert send("2026-03-03T06:00") == 1
    post.refuses = {}
    assert send("2026-03-03T06:00") == 0, "not before its time"
    assert send("2026-03-03T06:05") == 1
    assert [mail["Subject"] for mail in post.to("kim@example.org")] == ["[Sluice] 2 notifications"]
    assert len(post.to("lee@example.org")) == 1


@pytest.mark.django_db
def test_what_is_written_too_late_for_the_digest_waits_a_day(post: MailServer) -> None:
    """An act that began before the morning may commit after the digest has left."""
    kim = mailed("kim")
    tell("2026-03-02T12:00", kim, title="A")
    assert send("2026-03-03T06:00") == 1
    tell("2026-03-03T05:59", kim, title="B")
    assert send("2026-03-03T06:30") == send("2026-03-04T05:30") == 0
    assert send("2026-03-04T06:00") == 1


@pytest.mark.django_db
def test_what_could_not_be_sent_goes_with_what_is_due_first(post: MailServer) -> None:
    kim = mailed("kim")
    tell("2026-03-02T12:00", kim, title="A")
    post.refuses = {"kim@example.org": "450 come again"}
    assert send("2026-03-03T06:00") == 0
    post.refuses = {}
    tell("2026-03-03T05:59", kim, title="B")
    assert send("2026-03-03T06:00:10") == 1
    assert [mail["Subject"] for mail in post.to("kim@example.org")] == ["[Sluice] 2 notifications"]


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_take_the_same_line() -> None:
    """Eight workers at once, over connections of their own: every line and every digest is claimed by one."""
    folk = [mailed(f"p{n}") for n in range(12)]
    NotificationPreference.objects.bulk_create(
        NotificationPreference(person=p, group="quotas", mail=MailChoice.AT_ONCE) for p in folk[:6]
    )
    for title in ("A", "B", "C"):
        tell("2026-03-02T12:00", *folk, title=title)
    together = Barrier(8)

    def work() -> list[tuple[int, ...]]:
        together.wait(WAIT)
        try:
            with clock.frozen(utc("2026-03-03T06:00")):
                return [tuple(line.pk for line in claim.lines) for claim in iter(ledger.claim_next, None)]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(work) for _worker in range(8)]
        claims = [claim for future in futures for claim in future.result(WAIT)]
    assert sorted(len(claim) for claim in claims) == [1] * 18 + [3] * 6
    assert len({pk for claim in claims for pk in claim}) == 36


@pytest.mark.django_db
def test_the_claim_of_a_killed_worker_runs_out_by_the_databases_clock(post: MailServer) -> None:
    kim = mailed("kim")
    tell("2026-03-02T12:00", kim)
    with clock.frozen(utc("2026-03-03T06:00")):
        claim = ledger.claim_next()
    assert claim is not None
    until = claim.lines[0].claimed_until
    assert until is not None
    assert ledger.LEASE - timedelta(seconds=30) < until - clock.database_now() <= ledger.LEASE
    assert send("2026-03-04T06:00") == 0, "claimed, however late this process believes it to be"
    NotificationDelivery.objects.update(claimed_until=clock.database_now())
    assert send("2026-03-03T07:00") == 1
    assert len(post.to("kim@example.org")) == 1


@pytest.mark.django_db
def test_who_was_overtaken_writes_no_failure_but_the_truth() -> None:
    tell("2026-03-02T12:00", mailed("kim"))
    with clock.frozen(utc("2026-03-03T06:00")):
        slow = ledger.claim_next()
        NotificationDelivery.objects.update(claimed_until=clock.database_now())
        quick = ledger.claim_next()
        assert slow is not None
        assert quick is not None
        ledger.mark_failed(slow.lines, "too late", is_final=True)
        assert NotificationDelivery.objects.get().outcome == DeliveryOutcome.DUE
        ledger.mark_sent(slow.lines)
        ledger.mark_failed(quick.lines, "the other was quicker", is_final=True)
    row = NotificationDelivery.objects.get()
    assert (row.outcome, row.error) == (DeliveryOutcome.SENT, "")


@pytest.mark.django_db
def test_a_worker_that_dies_each_time_is_given_up_too(post: MailServer) -> None:
    """A claim counts as a try, so that a mail that kills whoever sends it does not come round for ever."""
    tell("2026-03-02T12:00", mailed("kim"))
    NotificationDelivery.objects.update(tries=ledger.MAX_TRIES - 1)
    post.refuses = {"kim@example.org": "450 come again"}
    assert send("2026-03-03T06:00") == 0
    assert NotificationDelivery.objects.get().outcome == DeliveryOutcome.FAILED


@pytest.mark.django_db
def test_what_is_old_is_forgotten_but_never_told_again() -> None:
    kim = mailed("kim")
    tell("2026-03-02T12:00", kim, title="A")
    tell("2026-03-02T12:00", kim, title="B", once="quota:1:80")
    tell("2026-03-02T12:00", kim, title="C")
    read = utc("2026-03-02T13:00")
    with clock.frozen(read):
        notifications_read(actor=kim, ids=[row.pk for row in Notification.objects.exclude(words={"title": "C"})])
    assert notifications_forget(read + KEPT) == 0
    assert notifications_forget(read + KEPT + timedelta(seconds=1)) == 2
    assert list(Notification.objects.order_by("pk").values_list("words", "once")) == [
        ({}, "quota:1:80"),
        ({"title": "C"}, ""),
    ]
    tell("2026-09-02T12:00", kim, title="B", once="quota:1:80")
    assert Notification.objects.count() == 2
    assert notifications_forget(read + KEPT + timedelta(seconds=1)) == 0


@pytest.mark.django_db
def test_what_was_sent_long_ago_leaves_the_ledger(post: MailServer) -> None:
    kim = mailed("kim")
    tell("2026-03-02T12:00", kim)
    sent = utc("2026-03-03T06:00")
    assert send("2026-03-03T06:00") == 1
    assert notifications_forget(sent + KEPT) == 0
    assert notifications_forget(sent + KEPT + timedelta(seconds=1)) == 1
    assert not NotificationDelivery.objects.exists()
    assert Notification.objects.count() == 1, "what nobody has read stays"
