"""Sending to a real mail server and a real chat: each alone, once, again after a failure, and not for ever."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from pytest_django import Settings

from accounts.models import Channel, DeliveryOutcome, Notification, NotificationDelivery, Person
from accounts.notifications import Topic, Urgency, ledger, notify, register, sending, settle, strict, topics
from accounts.notifications.strict import Names, Undefined
from accounts.services import person_create
from accounts.services.notifications import delivery_retry
from accounts.tests import factories as people
from accounts.tests.mail_server import Chat, MailServer, chat_server, mail_server
from kernel import clock

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\r\nBcc: all@example.org @channel"


@pytest.fixture(autouse=True)
def _topics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "_TOPICS", {})
    register(Topic("test.blocks", _("Decide on %(title)s"), _("Until %(until_at)s."), Urgency.BLOCKS, "approvals"))
    register(Topic("test.alert", _("Alert: %(title)s"), _("Look at it."), Urgency.NEWS, "monitoring"))


@pytest.fixture
def post(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.BASE_URL = "https://sluice.example.org"
        yield server


@pytest.fixture
def chat(settings: Settings) -> Iterator[Chat]:
    with chat_server() as server:
        settings.CHAT_WEBHOOK, settings.CHAT_GROUPS = server.url, ["monitoring"]
        settings.BASE_URL = "https://sluice.example.org"
        yield server


def mailed(name: str, language: str = "") -> Person:
    someone = person_create(actor=None, username=name, display_name=name.title(), email=f"{name}@example.org")
    Person.objects.filter(pk=someone.pk).update(language=language)
    return Person.objects.get(pk=someone.pk)


def tell(*to: Person, title: str = "Harbour", topic: str = "test.blocks", **more: Any) -> None:
    words = {"title": title, "until_at": "2026-03-03T09:30:00+00:00"}
    notify(topic=topic, to=[p.pk for p in to], words=words, url="/approvals/12", **more)


def lines(outcome: DeliveryOutcome) -> list[NotificationDelivery]:
    return list(NotificationDelivery.objects.filter(outcome=outcome).order_by("pk"))


def test_a_mail_says_what_waits_where_and_how_to_hear_less(post: MailServer, settings: Settings) -> None:
    settings.ORGANISATION_TIME_ZONE = "Europe/Berlin"
    tell(mailed("kim"))
    assert sending.deliver_due() == 1
    [mail] = post.to("kim@example.org")
    row = Notification.objects.get()
    assert mail["Subject"] == "[Sluice] Decide on Harbour"
    assert mail["Message-ID"] == f"<sluice-delivery-{lines(DeliveryOutcome.SENT)[0].pk}@sluice.example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Unsubscribe"] == "<https://sluice.example.org/inbox/preferences>"
    text, html = (part.get_content() for part in mail.iter_parts())
    for body in (text, html):
        assert f"https://sluice.example.org/inbox/{row.pk}/open" in body
        assert "Tue 3 March 2026, 10:30 UTC+1" in body
        assert "https://sluice.example.org/inbox/preferences" in body
    assert sending.deliver_due() == 0


def test_a_run_whose_time_is_over_claims_nothing_more(post: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(mailed("kim"))
    monkeypatch.setattr(sending, "BUDGET_S", -1)
    assert sending.deliver_due() == 0
    [line] = lines(DeliveryOutcome.DUE)
    assert (line.tries, line.claimed_until) == (0, None)


def test_each_reads_it_in_the_own_language(post: MailServer) -> None:
    tell(mailed("kim"), mailed("li", language="zh-hans"))
    with translation.override("zh-hans"):
        sending.deliver_due()
    assert 'lang="en"' in str(post.to("kim@example.org")[0])
    [chinese] = post.to("li@example.org")
    html = list(chinese.iter_parts())[1].get_content()
    assert 'lang="zh-hans"' in html
    assert "2026 年 3 月 3 日 星期二 09:30" in html.replace("\u202f", " "), html


def test_hostile_text_is_text(post: MailServer, chat: Chat) -> None:
    kim = mailed("kim")
    tell(kim, title=HOSTILE)
    tell(kim, title=HOSTILE, topic="test.alert")
    sending.deliver_due()
    [mail] = post.to("kim@example.org")
    assert mail["Bcc"] is None
    assert mail["Subject"] == "[Sluice] Decide on <script>alert(1)</script> Bcc: all@example.org @channel"
    html = list(mail.iter_parts())[1].get_content()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    [said] = chat.posted
    assert "<" not in said["text"]
    assert "@channel" not in said["text"]
    assert said["text"].splitlines()[-1] == "https://sluice.example.org/approvals/12"


def test_a_refused_recipient_holds_up_nobody(post: MailServer) -> None:
    kim, lee, max_ = mailed("kim"), mailed("lee"), mailed("max")
    post.refuses = {"lee@example.org": "550 no such user"}
    tell(kim, lee, max_)
    assert sending.deliver_due() == 2
    assert post.addresses == ["kim@example.org", "max@example.org"]
    [failed] = lines(DeliveryOutcome.FAILED)
    assert failed.person_id == lee.pk
    assert "550" in failed.error
    assert "no such user" in failed.error


def test_a_passing_refusal_is_tried_again_later_and_given_up_at_last(post: MailServer) -> None:
    tell(mailed("kim"))
    post.refuses = {"kim@example.org": "450 come again"}
    at = clock.now()
    for tries in range(1, ledger.MAX_TRIES):
        with clock.frozen(at):
            assert sending.deliver_due() == sending.deliver_due() == 0
        [line] = lines(DeliveryOutcome.DUE)
        assert (line.tries, line.claimed_until) == (tries, None)
        at = line.due_at
    assert timedelta(days=1) < at - clock.now() < timedelta(days=3)
    with clock.frozen(at):
        sending.deliver_due()
    [failed] = lines(DeliveryOutcome.FAILED)
    assert failed.tries == ledger.MAX_TRIES
    assert "450" in failed.error


def test_an_admin_has_it_tried_again(post: MailServer) -> None:
    kim = mailed("kim")
    post.refuses = {"kim@example.org": "550 no such user"}
    tell(kim)
    sending.deliver_due()
    post.refuses = {}
    delivery_retry(actor=people.admin(), delivery_id=lines(DeliveryOutcome.FAILED)[0].pk)
    assert sending.deliver_due() == 1
    assert post.addresses == ["kim@example.org"]


def test_a_server_that_is_away_costs_one_try_a_run(settings: Settings) -> None:
    with mail_server() as gone:
        pass
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", gone.port
    tell(*(mailed(f"p{n}") for n in range(5)))
    assert sending.deliver_due() == 0
    assert sorted(line.tries for line in lines(DeliveryOutcome.DUE)) == [0, 0, 0, 0, 1]


def test_who_was_deactivated_meanwhile_gets_nothing(post: MailServer) -> None:
    kim, lee = mailed("kim"), mailed("lee")
    tell(kim, lee)
    Person.objects.filter(pk=kim.pk).update(is_active=False)
    assert sending.deliver_due() == 1
    assert post.addresses == ["lee@example.org"]
    [dropped] = lines(DeliveryOutcome.DROPPED)
    assert (dropped.person_id, dropped.error) == (kim.pk, sending.UNREACHABLE)


def test_what_was_settled_before_the_mail_left_is_not_mailed(post: MailServer) -> None:
    kim, lee = mailed("kim"), mailed("lee")
    tell(kim, lee, subject=kim)
    tell(lee, subject=lee)
    assert settle(subject=kim, topics=["test.blocks"]) == 2
    assert sending.deliver_due() == 1
    assert post.addresses == ["lee@example.org"]
    assert {row.error for row in lines(DeliveryOutcome.DROPPED)} == {sending.READ}
    assert settle(subject=kim, topics=["test.blocks"]) == 0


def test_the_chat_is_told_once_of_chosen_groups_only(chat: Chat) -> None:
    tell(people.person(), people.person(), topic="test.alert", once="alert:1")
    tell(people.person(), topic="test.alert", once="alert:1")
    tell(people.person(), topic="test.blocks")
    sending.deliver_due()
    assert [said["text"].splitlines()[0] for said in chat.posted] == ["Alert: Harbour"]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_chat_that_fails_holds_up_no_mail_and_tells_no_secret(post: MailServer, chat: Chat, status: int) -> None:
    kim = mailed("kim")
    chat.status = status
    tell(kim, topic="test.alert")
    tell(kim)
    assert sending.deliver_due() == 1
    assert post.addresses == ["kim@example.org"]
    line = NotificationDelivery.objects.get(channel=Channel.CHAT)
    assert f"HTTP {status}" in line.error
    assert "secret-part" not in line.error
    chat.status = 200
    with clock.frozen(line.due_at):
        assert sending.deliver_due() == 1
    assert len(chat.posted) == 1


def test_a_chat_that_is_away_tells_no_secret(settings: Settings) -> None:
    with chat_server() as gone:
        pass
    settings.CHAT_WEBHOOK, settings.CHAT_GROUPS = gone.url, ["monitoring"]
    tell(people.person(), topic="test.alert")
    assert sending.deliver_due() == 0
    [line] = lines(DeliveryOutcome.DUE)
    assert (line.tries, line.error) == (1, "ChatAway: ConnectionError")


@pytest.mark.parametrize("kind", ["notice.txt", "notice.html", "digest.txt", "digest.html"])
def test_a_mail_with_a_hole_is_an_error(kind: str) -> None:
    line = Names(title="A", text="B", url="/c")
    whole = Names(
        title="A", text="B", url="/c", name="Kim", language="en", inbox_url="/", preferences_url="/p", lines=[line]
    )
    whole["more"] = 3
    assert "A" in strict.render(f"accounts/mail/{kind}", whole)
    used = []
    for name in whole:
        try:
            strict.render(f"accounts/mail/{kind}", Names({n: v for n, v in whole.items() if n != name}))
        except Undefined as error:
            assert str(error) == name
            used.append(name)
    assert {"title", "preferences_url"} <= set(used)
    if kind.startswith("digest"):
        assert {"lines", "more", "inbox_url"} <= set(used), "in a loop and in a condition too"
        with pytest.raises(Undefined):
            strict.render(f"accounts/mail/{kind}", Names(whole, lines=[Names(title="A", text="B")]))


def test_a_word_that_a_newer_sentence_asks_for_is_not_mailed_as_a_hole(post: MailServer) -> None:
    tell(mailed("kim"))
    register(Topic("test.blocks", _("Decide on %(title)s"), _("For %(amount)s."), Urgency.BLOCKS, "approvals"))
    assert sending.deliver_due() == 0
    assert lines(DeliveryOutcome.DUE)[0].error == "WordMissing: amount"


def test_a_topic_that_is_no_longer_known_is_not_mailed_by_its_name(post: MailServer) -> None:
    tell(mailed("kim"))
    Notification.objects.update(topic="test.was_once_known")
    assert sending.deliver_due() == 0
    assert "no topic test.was_once_known" in lines(DeliveryOutcome.DUE)[0].error
