"""The inbox in the browser and over the API: one's own, in one's language, and read when it is opened."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils.translation import gettext_lazy as _
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from accounts.models import DeliveryOutcome, MailChoice, Notification, NotificationPreference, Person
from accounts.notifications import Topic, Urgency, register, unread
from accounts.services import language_choose, role_grant
from accounts.tests import factories as people
from accounts.tests.told import failed, told
from kernel import clock
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db
SCRIPT = '"><script>alert(1)</script>'
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def page(browser: Client, address: str = "/inbox") -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_an_empty_inbox_says_what_will_be_here() -> None:
    html = page(people.browser(people.person()))
    assert "Nothing here yet" in html
    assert "/inbox/preferences" in html
    assert "top-count" not in html


def test_unread_first_by_day_and_the_badge_counts() -> None:
    kim = people.person("kim")
    with clock.frozen(NOON - timedelta(days=1)):
        old = told(kim, "Auditor")
    with clock.frozen(NOON):
        new = told(kim, "Director")
        newest = told(kim, "Platform admin")
        Notification.objects.filter(pk=newest.pk).update(read_at=clock.now())
        cache.delete(f"unread:{kim.pk}")
        html = page(people.browser(kim))
    places = [html.index(f"/inbox/{row.pk}/open") for row in (new, old, newest)]
    assert places == sorted(places), "unread before read, whatever their age"
    assert html.index("Today") < html.index("Yesterday") < html.rindex("Today")
    assert '<span class="top-count" aria-hidden="true">2</span>' in html
    assert "Inbox, 2 unread" in html


def test_opening_marks_it_read_and_goes_on() -> None:
    kim = people.person("kim")
    row = told(kim)
    answer = people.browser(kim).get(f"/inbox/{row.pk}/open")
    assert (answer.status_code, answer["Location"]) == (302, "/projects")
    row.refresh_from_db()
    assert row.read_at is not None


def test_another_persons_is_not_there() -> None:
    row = told(people.person("kim"))
    other = people.admin()
    assert people.browser(other).get(f"/inbox/{row.pk}/open").status_code == 404
    people.browser(other).post("/inbox/mark", {"act": "read", "id": row.pk})
    row.refresh_from_db()
    assert row.read_at is None
    assert page(people.browser(other)).count("/open") == 0


def test_marking_some_all_and_back() -> None:
    kim = people.person("kim")
    first, second, third = told(kim), told(kim), told(kim)
    browser = people.browser(kim)

    def left() -> set[int]:
        return set(Notification.objects.filter(read_at__isnull=True).values_list("pk", flat=True))

    answer = browser.post("/inbox/mark", {"act": "read", "id": [first.pk, "x", "9" * 40], "next": "/inbox?show=unread"})
    assert answer["Location"] == "/inbox?show=unread"
    assert left() == {second.pk, third.pk}
    browser.post("/inbox/mark", {"act": "all", "group": "jobs"})
    assert left() == {second.pk, third.pk}
    browser.post("/inbox/mark", {"act": "all", "next": "https://elsewhere.example/"})
    assert left() == set()
    browser.post("/inbox/mark", {"act": "unread", "id": third.pk})
    assert left() == {third.pk}


def test_filters_are_the_address_and_an_unknown_one_shows_all() -> None:
    kim = people.person("kim")
    register(Topic("test.jobs", _("Job %(name)s ended"), _("It did."), Urgency.NEWS, "jobs"))
    row = told(kim)
    browser = people.browser(kim)
    assert f"/inbox/{row.pk}/open" in page(browser, "/inbox?group=people&show=unread")
    assert "Nothing fits" in page(browser, "/inbox?group=jobs")
    assert f"/inbox/{row.pk}/open" in page(browser, "/inbox?group=nothing")


def test_each_reads_in_the_language_of_the_page() -> None:
    kim = people.person("kim")
    told(kim, role="Platform admin")
    language_choose(actor=kim, language="zh-hans")
    html = page(people.browser(Person.objects.get(pk=kim.pk)))
    assert "平台管理员" in html, "a word that is kept as a message is read in the reader's language"


def test_hostile_text_is_text() -> None:
    kim = people.person("kim")
    failed(told(kim, role=SCRIPT, actor=SCRIPT), error=SCRIPT)
    for browser, address in ((people.browser(kim), "/inbox"), (people.browser(people.admin()), "/inbox/deliveries")):
        html = page(browser, address)
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert" in html


def test_a_sentence_that_asks_for_more_than_was_kept_has_a_dash() -> None:
    kim = people.person("kim")
    row = told(kim)
    Notification.objects.filter(pk=row.pk).update(words={})
    assert "You are – now" in page(people.browser(kim))
    Notification.objects.filter(pk=row.pk).update(topic="people.was_once_known")
    assert "people.was_once_known" in page(people.browser(kim))


def test_the_badge_is_right_at_once_and_costs_nothing_when_kept(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    kim = people.person("kim")
    with django_capture_on_commit_callbacks(execute=True):
        row = told(kim)
    assert unread.unread_count(kim) == 1
    with django_assert_num_queries(0):
        assert unread.unread_count(kim) == 1
    with django_capture_on_commit_callbacks(execute=True):
        people.browser(kim).get(f"/inbox/{row.pk}/open")
    assert unread.unread_count(kim) == 0


def test_preferences_are_kept_audited_and_shown() -> None:
    kim = people.person("kim")
    browser = people.browser(kim)
    assert browser.post("/inbox/preferences", {"quotas": "none", "jobs": "usual"}).status_code == 302
    assert list(NotificationPreference.objects.values_list("group", "mail")) == [("quotas", "none")]
    entry = AuditEntry.objects.get(action="person.notifications_chosen")
    assert (entry.before, entry.after) == ({"quotas": "usual"}, {"quotas": "none"})
    browser.post("/inbox/preferences", {"quotas": "none"})
    assert AuditEntry.objects.filter(action="person.notifications_chosen").count() == 1
    assert '<option value="none" selected>' in page(browser, "/inbox/preferences")
    assert browser.post("/inbox/preferences", {"quotas": "loudly"}).status_code == 422


def test_the_api_reads_marks_and_chooses() -> None:
    kim = people.person("kim")
    row = told(kim)
    client = people.api_client(kim)
    [shown] = client.get("/api/v1/notifications?unread=true&group=people").json()["results"]
    assert (shown["id"], shown["title"], shown["url"]) == (row.pk, "You are Director now", "/projects")
    assert client.post(f"/api/v1/notifications/{row.pk}/read").json()["read_at"] is not None
    assert client.get("/api/v1/notifications?unread=true").json()["count"] == 0
    assert client.post(f"/api/v1/notifications/{row.pk}/unread").json()["read_at"] is None
    assert client.post("/api/v1/notifications/read-all", {}).json() == {"read": 1}
    assert (
        client.patch("/api/v1/notifications/preferences", {"mail": {"jobs": "digest"}}).json()["mail"]["jobs"]
        == "digest"
    )
    assert client.get("/api/v1/notifications/preferences").json()["mail"]["quotas"] == MailChoice.USUAL
    for wrong in ({"mail": {"weather": "none"}}, {"mail": {"jobs": "loudly"}}, {}):
        assert client.patch("/api/v1/notifications/preferences", wrong).status_code == 422
    assert client.get("/api/v1/notifications?group=weather").status_code == 422
    assert client.get("/api/v1/notifications?unread=perhaps").status_code == 422


def test_what_failed_is_shown_with_its_error_and_put_back_once() -> None:
    line = failed(told(people.person("kim")))
    admin = people.admin()
    browser = people.browser(admin)
    html = page(browser, "/inbox/deliveries?outcome=failed")
    assert "450 come again" in html
    assert f"/inbox/deliveries/{line.pk}/retry" in html
    assert f"/inbox/deliveries/{line.pk}/retry" not in page(people.browser(people.auditor()), "/inbox/deliveries")
    assert browser.post(f"/inbox/deliveries/{line.pk}/retry").status_code == 302
    line.refresh_from_db()
    assert (line.outcome, line.tries, line.error, line.done_at) == (DeliveryOutcome.DUE, 0, "", None)
    assert browser.post(f"/inbox/deliveries/{line.pk}/retry").status_code == 409
    client = people.api_client(admin)
    assert client.get("/api/v1/notification-deliveries?outcome=failed").json()["count"] == 0
    assert client.get("/api/v1/notification-deliveries?outcome=lost").status_code == 422


def test_who_gets_a_role_by_an_admin_is_told() -> None:
    kim = people.person("kim")
    role_grant(actor=people.admin(), person_id=kim.pk, role="director")
    assert "You are Director now" in page(people.browser(kim))
