"""Announcements and maintenance windows: what is shown when, to whom, and who may change it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connection, transaction
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts import announcements
from accounts.models import Announcement, AnnouncementKind, Person, Role
from accounts.services import AnnouncementSpec, announcement_edit, announcement_publish, announcement_withdraw
from accounts.tests import factories as people
from kernel import clock
from kernel.errors import Conflict, Forbidden, Invalid
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
FORM = {"kind": "maintenance", "title": "Storage", "text": "Jobs go on.", "level": "info"}


@pytest.fixture(autouse=True)
def _own_cache(settings: Settings) -> Iterator[None]:
    """Nobody else reads pages through the same cache: it would be filled between a change and its look."""
    own = {**settings.CACHES["default"], "KEY_PREFIX": f"announcements-{uuid4()}"}
    settings.CACHES = {"default": own}
    yield
    cache.delete(announcements.CACHE_KEY)


def publish(title: str = "News", **more: Any) -> Announcement:
    """As a request would: what waits for the commit is done."""
    given = {"kind": AnnouncementKind.ANNOUNCEMENT, "title": title, **more}
    row = announcement_publish(actor=people.admin(), spec=AnnouncementSpec(**given))
    cache.delete(announcements.CACHE_KEY)
    return row


def window(hours: float = 4, starts_at: datetime = NOON, **more: Any) -> Announcement:
    ends_at = starts_at + timedelta(hours=hours)
    return publish("Storage", kind=AnnouncementKind.MAINTENANCE, starts_at=starts_at, ends_at=ends_at, **more)


def looks(at: datetime, person: object = None, cookies: dict[str, str] | None = None) -> list[str]:
    cache.delete(announcements.CACHE_KEY)
    with clock.frozen(at):
        found = announcements.banners(announcements.notices(), person, cookies or {})
        return [f"{banner.look} {banner.notice.title}" for banner in found]


# --- time bounds


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (timedelta(hours=-72, microseconds=-1), []),
        (timedelta(hours=-72), ["is-warning Storage"]),
        (timedelta(microseconds=-1), ["is-warning Storage"]),
        (timedelta(0), ["is-strong Storage"]),
        (timedelta(hours=4, microseconds=-1), ["is-strong Storage"]),
        (timedelta(hours=4), []),
    ],
)
def test_maintenance_is_announced_three_days_before_and_ends_at_its_end(after: timedelta, shown: list[str]) -> None:
    with clock.frozen(NOON - timedelta(days=9)):
        window()
    assert looks(NOON + after) == shown


def test_news_are_shown_from_their_start_and_for_ever_without_an_end() -> None:
    with clock.frozen(NOON - timedelta(days=9)):
        publish(starts_at=NOON)
    assert looks(NOON - timedelta(microseconds=1)) == []
    assert looks(NOON) == looks(NOON + timedelta(days=900)) == ["is-info News"]


def test_what_matters_most_comes_first() -> None:
    with clock.frozen(NOON):
        publish("Note")
        publish("Careful", level="warning")
        window()
    assert looks(NOON) == ["is-strong Storage", "is-warning Careful", "is-info Note"]


def test_a_banner_says_how_soon_and_how_long() -> None:
    with clock.frozen(NOON - timedelta(days=2)):
        window(hours=30)
    for at, words in (
        (NOON - timedelta(hours=3, minutes=20), "Maintenance in 3 h 20 m, from 12:00 to Tue 2 Jun, 18:00."),
        (NOON + timedelta(hours=1), "Maintenance now, until Tue 2 Jun, 18:00."),
    ):
        with clock.frozen(at):
            (banner,) = announcements.banners(announcements.notices(), None, {})
            assert banner.when == words


# --- who is told


def test_roles_are_told_what_is_for_them_alone() -> None:
    publish("For admins", audience=(Role.ADMIN,))
    now = clock.now()
    assert looks(now, people.admin()) == ["is-info For admins"]
    assert looks(now, people.director()) == looks(now, people.person()) == looks(now) == []


def test_the_page_for_signing_in_shows_what_is_for_everybody() -> None:
    publish("For all")
    publish("Secret", audience=(Role.ADMIN,))
    page = Client().get("/accounts/login").content.decode()
    assert "For all" in page
    assert 'role="status"' in page
    assert "Secret" not in page


# --- closing a banner


def test_who_closes_a_banner_does_not_see_it_until_it_is_changed() -> None:
    row = publish()
    browser = people.browser(people.person())
    assert "News" in browser.get("/tokens").content.decode()
    answer = browser.post("/announcements/dismiss", {"key": f"{row.pk}.1.now", "next": "/tokens"})
    assert answer["Location"] == "/tokens"
    assert "News" not in browser.get("/tokens").content.decode()
    spec = AnnouncementSpec("announcement", "News", "More of it")
    announcement_edit(actor=people.admin(), announcement_id=row.pk, spec=spec)
    cache.delete(announcements.CACHE_KEY)
    assert "More of it" in browser.get("/tokens").content.decode()


def test_maintenance_cannot_be_closed_while_it_lasts() -> None:
    with clock.frozen(NOON - timedelta(hours=1)):
        row = window()
    cookies = {announcements.COOKIE: f"{row.pk}.1.coming-{row.pk}.1.now"}
    assert looks(NOON - timedelta(minutes=1), None, cookies) == []
    assert looks(NOON, None, cookies) == ["is-strong Storage"]


@pytest.mark.parametrize("key", ["", "-", "1.1.now; Path=/", "<script>", "a" * 400, "é.1"])
def test_a_key_that_is_none_breaks_nothing(key: str) -> None:
    browser = Client()
    assert browser.post("/announcements/dismiss", {"key": key}).status_code == 302
    assert browser.get("/accounts/login").status_code == 200


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_the_way_back_stays_here(elsewhere: str) -> None:
    answer = Client().post("/announcements/dismiss", {"key": "1.1.now", "next": elsewhere})
    assert answer["Location"] == "/"


def test_only_the_newest_closed_banners_are_remembered() -> None:
    cookies: dict[str, str] = {}
    for number in range(100):
        cookies[announcements.COOKIE] = announcements.dismiss(cookies, f"{number}.1.now")
    assert len(announcements.dismissed(cookies)) == announcements.COOKIE_MAX
    assert announcements.dismissed(cookies)[-1] == "99.1.now"


# --- cost and cache


def test_a_page_asks_the_database_once_a_minute_at_most() -> None:
    publish()
    browser = people.browser(people.person())
    browser.get("/tokens")
    with CaptureQueriesContext(connection) as captured:
        assert "News" in browser.get("/tokens").content.decode()
    assert not [entry for entry in captured if "accounts_announcement" in entry["sql"]]


@pytest.mark.django_db(transaction=True)
def test_every_change_is_seen_at_once() -> None:
    admin, browser = people.admin(), Client()

    def shown() -> bool:
        return "News" in browser.get("/accounts/login").content.decode()

    assert not shown()
    row = announcement_publish(actor=admin, spec=AnnouncementSpec("announcement", "News"))
    assert shown()
    announcement_edit(actor=admin, announcement_id=row.pk, spec=AnnouncementSpec("announcement", "Newer"))
    assert "Newer" in browser.get("/accounts/login").content.decode()
    announcement_withdraw(actor=admin, announcement_id=row.pk)
    assert not shown()


DOWN = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:9/0"}}


def test_a_cache_that_is_down_hides_nothing() -> None:
    publish()
    with override_settings(CACHES=DOWN):
        assert "News" in Client().get("/accounts/login").content.decode()


@pytest.mark.parametrize("kept", [[{"other": "version"}], ["text"], "text", {"pk": 1}])
def test_what_another_version_left_in_the_cache_is_read_anew(kept: object) -> None:
    publish()
    cache.set(announcements.CACHE_KEY, kept)
    assert [notice.title for notice in announcements.notices()] == ["News"]


# --- changing


def test_an_announcement_is_published_edited_and_withdrawn_on_its_pages() -> None:
    browser = people.browser(people.admin())
    times = {"starts_at": "2031-05-01T20:00", "ends_at": "2031-05-01T23:30"}
    assert browser.post("/announcements/new", FORM | times)["Location"] == "/announcements"
    row = Announcement.objects.get()
    assert (row.starts_at, row.ends_at) == (
        datetime(2031, 5, 1, 20, tzinfo=UTC),
        datetime(2031, 5, 1, 23, 30, tzinfo=UTC),
    )
    page = browser.get("/announcements").content.decode()
    assert "Planned" in page
    form = browser.get(f"/announcements/{row.pk}").content.decode()
    assert 'value="2031-05-01T20:00"' in form
    changed = FORM | times | {"title": "Network", "revision": "1"}
    assert browser.post(f"/announcements/{row.pk}", changed).status_code == 302
    stale = browser.post(f"/announcements/{row.pk}", changed | {"title": "Late"})
    assert stale.status_code == 409
    assert 'value="Late"' in stale.content.decode()
    assert "Withdraw “Network”?" in browser.get(f"/announcements/{row.pk}/withdraw").content.decode()
    assert browser.post(f"/announcements/{row.pk}/withdraw").status_code == 302
    assert browser.post(f"/announcements/{row.pk}/withdraw").status_code == 409
    assert '<form class="form"' not in browser.get(f"/announcements/{row.pk}").content.decode()
    acts = AuditEntry.objects.filter(action__startswith="announcement.").order_by("id")
    assert [entry.action.split(".")[1] for entry in acts] == ["published", "edited", "withdrawn"]


@override_settings(ORGANISATION_TIME_ZONE="Europe/Berlin")
def test_the_forms_times_are_the_organisations_and_a_skipped_one_is_refused() -> None:
    browser = people.browser(people.admin())
    gap = browser.post("/announcements/new", FORM | {"starts_at": "2031-03-30T02:30", "ends_at": "2031-03-30T06:00"})
    assert gap.status_code == 422
    assert "Clocks skip this time." in gap.content.decode()
    fold = FORM | {"starts_at": "2031-10-26T02:30", "ends_at": "2031-10-26T03:30"}
    assert browser.post("/announcements/new", fold).status_code == 302
    row = Announcement.objects.get()
    assert row.starts_at == datetime(2031, 10, 26, 0, 30, tzinfo=UTC)
    assert row.ends_at == datetime(2031, 10, 26, 2, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"title": " "}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"text": "x" * 2001}, "text"),
        ({"kind": "party"}, "kind"),
        ({"level": "loud"}, "level"),
        ({"audience": ("lead",)}, "audience"),
        ({"kind": "maintenance"}, "ends_at"),
        ({"starts_at": NOON, "ends_at": NOON}, "ends_at"),
        ({"starts_at": NOON - timedelta(days=2), "ends_at": NOON}, "ends_at"),
    ],
)
def test_what_cannot_be_announced(given: dict[str, Any], field: str) -> None:
    admin = people.admin()
    with clock.frozen(NOON), pytest.raises(Invalid) as refused:
        announcement_publish(actor=admin, spec=AnnouncementSpec(**{"kind": "announcement", "title": "News", **given}))
    assert list(refused.value.errors) == [field]
    assert not Announcement.objects.exists()


def test_what_is_over_or_withdrawn_stays_as_it_was() -> None:
    admin = people.admin()
    with clock.frozen(NOON):
        over, withdrawn = window(hours=1), publish()
        announcement_withdraw(actor=admin, announcement_id=withdrawn.pk)
    for row in (over, withdrawn):
        with clock.frozen(NOON + timedelta(hours=1)), pytest.raises(Conflict):
            announcement_withdraw(actor=admin, announcement_id=row.pk)
        spec = AnnouncementSpec("announcement", "Else")
        with clock.frozen(NOON + timedelta(hours=1)), pytest.raises(Conflict):
            announcement_edit(actor=admin, announcement_id=row.pk, spec=spec)


def test_editing_a_running_one_keeps_its_start() -> None:
    row = publish()
    edited = announcement_edit(
        actor=people.admin(), announcement_id=row.pk, spec=AnnouncementSpec("announcement", "Else")
    )
    assert (edited.starts_at, edited.revision) == (row.starts_at, 2)


@pytest.mark.parametrize("make", [people.person, people.director, people.auditor])
def test_only_admins_tell_everybody(make: Any) -> None:
    someone: Person = make()
    with pytest.raises(Forbidden):
        announcement_publish(actor=someone, spec=AnnouncementSpec("announcement", "News"))


def test_the_database_refuses_maintenance_without_an_end_and_an_end_before_the_start() -> None:
    given: dict[str, Any] = {"created_by": people.admin(), "created_at": NOON, "title": "x", "starts_at": NOON}
    for wrong in ({"kind": "maintenance"}, {"kind": "announcement", "ends_at": NOON}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Announcement.objects.create(**given, **wrong)


def test_people_read_over_the_api_what_they_are_told_and_no_more() -> None:
    publish("Later", starts_at=clock.now() + timedelta(days=1))
    window(starts_at=clock.now() + timedelta(hours=70))
    publish("For admins", audience=(Role.ADMIN,))

    def titles(person: Person) -> list[str]:
        return sorted(row["title"] for row in people.api_client(person).get("/api/v1/announcements/").json()["results"])

    assert titles(people.person()) == ["Storage"]
    assert titles(people.auditor()) == ["For admins", "Later", "Storage"]
