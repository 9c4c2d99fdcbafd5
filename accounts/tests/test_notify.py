"""What is written when people are told something: once, whole, and in few statements."""

from collections.abc import Iterator

import pytest
from celery import current_app
from django.db import transaction
from django.utils.translation import gettext_lazy as _
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from accounts.models import Channel, MailChoice, Notification, NotificationDelivery, NotificationPreference, Person
from accounts.notifications import Told, Topic, Urgency, notify, notify_many, register, topics
from accounts.services import person_create
from accounts.tests import factories as people

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _topics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(topics, "_TOPICS", {})
    register(Topic("test.blocks", _("Decide on %(title)s"), _("It waits."), Urgency.BLOCKS, "approvals"))
    register(Topic("test.news", _("News of %(title)s"), _("Changed %(changed_at)s."), Urgency.NEWS, "quotas"))
    yield


def tell(*to: Person, title: str = "Harbour", once: str = "") -> int:
    return notify(topic="test.blocks", to=[p.pk for p in to], words={"title": title}, url="/approvals/12", once=once)


def mailed(name: str) -> Person:
    return person_create(actor=None, username=name, display_name=name.title(), email=f"{name}@example.org")


def test_each_person_has_a_row_and_a_line_of_the_ledger() -> None:
    kim, lee = mailed("kim"), mailed("lee")
    assert tell(kim, lee, kim) == 2
    assert set(Notification.objects.values_list("person", "url")) == {
        (kim.pk, "/approvals/12"),
        (lee.pk, "/approvals/12"),
    }
    assert list(NotificationDelivery.objects.values_list("channel", flat=True)) == [Channel.MAIL, Channel.MAIL]


def test_the_same_is_told_once_ever() -> None:
    kim, lee = mailed("kim"), mailed("lee")
    assert tell(kim, once="approval:12:step:0") == 1
    assert tell(kim, lee, once="approval:12:step:0") == 1, "who joined later is told, who knew it is not"
    assert tell(kim) == tell(kim) == 1, "without a name each call is news"
    assert NotificationDelivery.objects.count() == 4


def test_one_call_that_says_the_same_twice_tells_once() -> None:
    kim = mailed("kim")
    twice = [Told("test.blocks", [kim.pk], words={"title": title}, once="a") for title in ("A", "B")]
    assert notify_many(twice) == 1


def test_nobody_is_told_who_cannot_be() -> None:
    assert tell(people.deactivated(), people.service_account()) == 0
    assert not Notification.objects.exists()


def test_somebody_without_an_address_has_the_inbox_only() -> None:
    assert tell(people.person()) == 1
    assert not NotificationDelivery.objects.exists()


@pytest.mark.parametrize(
    ("topic", "words", "url", "error"),
    [
        ("test.blocks", {}, "", ValueError),
        ("test.nothing", {"title": "A"}, "", LookupError),
        ("test.blocks", {"title": object()}, "", TypeError),
        ("test.blocks", {"title": "A"}, "//elsewhere.example", ValueError),
        ("test.blocks", {"title": "A"}, "/\\elsewhere.example", ValueError),
        ("test.blocks", {"title": "A"}, "https://elsewhere.example", ValueError),
        ("test.blocks", {"title": "A"}, "/a\nBcc: all@example.org", ValueError),
        ("test.news", {"title": "A", "changed_at": "2026-03-02T12:00:00"}, "", ValueError),
        ("test.news", {"title": "A", "changed_at": "yesterday"}, "", ValueError),
    ],
)
def test_a_mistake_of_the_program_is_raised_at_once(
    topic: str, words: dict[str, object], url: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        notify(topic=topic, to=[people.person().pk], words=words, url=url)
    with pytest.raises(error):
        notify(topic=topic, to=[], words=words, url=url)
    assert not Notification.objects.exists()


def test_an_unknown_group_is_refused_when_it_is_registered() -> None:
    with pytest.raises(LookupError, match="no group weather"):
        register(Topic("test.odd", "A", "B", Urgency.NEWS, "weather"))


def test_what_the_act_takes_back_was_never_told() -> None:
    kim = mailed("kim")
    with pytest.raises(RuntimeError), transaction.atomic():
        tell(kim)
        raise RuntimeError
    assert not Notification.objects.exists()


@pytest.mark.parametrize(
    ("mail", "blocking", "news"),
    [
        (MailChoice.USUAL, [Channel.MAIL], [Channel.DIGEST]),
        (MailChoice.AT_ONCE, [Channel.MAIL], [Channel.MAIL]),
        (MailChoice.DIGEST, [Channel.DIGEST], [Channel.DIGEST]),
        (MailChoice.NONE, [Channel.DIGEST], []),
    ],
)
def test_what_one_has_chosen_decides_how_one_hears(mail: MailChoice, blocking: list[str], news: list[str]) -> None:
    kim = mailed("kim")
    for group in ("approvals", "quotas"):
        NotificationPreference.objects.create(person=kim, group=group, mail=mail)
    lines = NotificationDelivery.objects.values_list("channel", flat=True)
    tell(kim)
    assert list(lines) == blocking
    NotificationDelivery.objects.all().delete()
    notify(topic="test.news", to=[kim.pk], words={"title": "A", "changed_at": "2026-03-02T12:00:00+00:00"})
    assert list(lines.all()) == news


def crowd(count: int) -> list[int]:
    made = Person.objects.bulk_create(
        Person(username=f"p{n}", display_name=f"P {n}", email=f"p{n}@example.org") for n in range(count)
    )
    return [person.pk for person in made]


@pytest.mark.parametrize("count", [1, 400])
def test_the_statements_do_not_grow_with_people_or_notices(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    to = crowd(count)
    notices = [Told("test.blocks", to, words={"title": f"{n}"}, once=f"quota:{n}") for n in range(3)]
    with transaction.atomic(), django_assert_num_queries(6):
        assert notify_many(notices) == 3 * count
    assert NotificationDelivery.objects.count() == 3 * count


def test_the_nightly_job_tells_four_hundred_people_of_a_thousand_quotas(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    to = crowd(400)
    notices = [
        Told("test.blocks", [to[n % 400], to[(n + 7) % 400]], words={"title": f"{n}"}, once=f"quota:{n}")
        for n in range(1000)
    ]
    with transaction.atomic(), django_assert_max_num_queries(10):
        assert notify_many(notices) == 2000
    with transaction.atomic(), django_assert_max_num_queries(10):
        assert notify_many(notices) == 0


def test_only_what_is_due_at_once_wakes_a_worker(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    kim = mailed("kim")
    woken: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **_more: woken.append(name))
    with django_capture_on_commit_callbacks(execute=True):
        notify(topic="test.news", to=[kim.pk], words={"title": "A", "changed_at": "2026-03-02T12:00:00+00:00"})
    assert woken == []
    with django_capture_on_commit_callbacks(execute=True):
        tell(kim, once="a")
        assert woken == [], "not before the act has committed"
    assert woken == ["accounts.deliver_notifications"]
    with django_capture_on_commit_callbacks(execute=True):
        assert tell(kim, once="a") == 0
    assert len(woken) == 1
