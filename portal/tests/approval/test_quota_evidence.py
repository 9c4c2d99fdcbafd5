"""What the decision page says of a quota request, against a world that is reckoned by hand."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import transaction
from pytest_django import DjangoDbBlocker

from accounts.tests import factories as people
from approvals.models import Approval
from approvals.services import Ballot, approval_vote
from kernel import clock
from portal.pages.approval.quota.shown import QuotaMore, ShownQuotaRequest
from portal.pages.approval.sight import sight_of
from portal.tests.approval import world
from quotas.models import Claim, QuotaRequest
from quotas.tests import asking

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def where(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[world.World]:
    """One world for all tests: it takes seconds to build. Whatever a test does is undone."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield world.make()
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


def more_of(approval: Approval, where: world.World) -> QuotaMore:
    found = ShownQuotaRequest().evidence(sight_of(where.admin, approval.pk)).more
    assert isinstance(found, QuotaMore)
    return found


def page_of(approval: Approval, person: object, act: str = "") -> str:
    browser = people.browser(person)  # type: ignore[arg-type]
    headers = {"HX-Request": "true"} if act == "/peek" else None
    answer = browser.get(f"/approvals/{approval.pk}{act}", headers=headers)
    assert answer.status_code == 200
    return answer.content.decode().replace("\u202f", " ")


def test_who_loses_what_is_what_the_world_says(where: world.World) -> None:
    effect = more_of(where.ask(16, ends_at=asking.in_days(40)), where).effect
    assert effect is not None
    # 16 less its 2 less the 2 that are free: 12 must come from others; Audit's 8 first, then one job of Weather.
    assert (effect.lost.needed, effect.lost.unmet) == (12, 0)
    rows = [
        (row.project, row.tier, row.loss.guaranteed, row.loss.borrows, row.loss.after, row.stops) for row in effect.rows
    ]
    assert rows == [
        ("Weather at 1 km", "mid", 4, 12, 4, "1 job, 8 GPUs"),
        ("遥感影像分割", "low", 0, 8, 0, "1 job, 8 GPUs"),
    ]


def test_the_promises_over_time(where: world.World) -> None:
    approval = where.ask(16, ends_at=asking.in_days(40))
    effect = more_of(approval, where).effect
    assert effect is not None
    step = effect.seen.tightest
    assert (step.owned, step.reserve, step.usable, step.promised, step.asked, step.left) == (32, 4, 28, 8, 12, 8)
    assert effect.seen.steps[-1].asked == 0


def test_the_page_says_it_in_words(where: world.World) -> None:
    page = page_of(where.ask(16, ends_at=asking.in_days(40), limit=24), where.admin)
    for words in (
        "12 more",
        "for 40 days",
        "It fits. No guarantee is touched; 2 projects lose borrowed GPUs.",
        "this request +12",
        "tightest: 8 left",
        "Fits: 12 of 20 free, 8 left at the tightest",
        "Guarantees stay within 28 usable",
        "Reserve of 4 stays whole",
        "2 projects lose borrowed GPUs; 2 jobs, 16 GPUs would save and stop",
        "used 2",
        "now 4",
        "asked 16",
        "limit 24",
        "by itself, after notice",
        "High",
        "Training",
        "No like case in the last 9 months",
        "Approve, grant",
        "Approve less…",
        "Rule “Up to 32”",
    ):
        assert words in page


def test_what_does_not_fit_names_the_day_and_what_would(where: world.World) -> None:
    approval = where.ask(28)
    page = page_of(approval, where.admin)
    assert "It does not fit: 4 too many on" in page and "Guarantees would exceed 28 usable" in page
    answer = people.browser(where.admin).post(
        f"/approvals/{approval.pk}/vote",
        {"answer": "approve", "version": approval.version, "seen": approval.content, "comment": "As <b>agreed</b>"},
    )
    said = answer.content.decode()
    assert answer.status_code == 422
    assert "It does not fit any more. Nothing was decided." in said and "Approve 24 instead…" in said
    assert "As &lt;b&gt;agreed&lt;/b&gt;</textarea>" in said
    assert not Claim.objects.filter(project=where.protein, guaranteed=28).exists()


def test_approving_less_grants_less_and_nothing_but_less(where: world.World) -> None:
    approval = where.ask(28)
    browser, there = people.browser(where.admin), f"/approvals/{approval.pk}/less"
    question = browser.get(f"{there}?guaranteed=24", HTTP_HX_REQUEST="true").content.decode()
    assert 'name="guaranteed" value="24"' in question
    given = {"version": approval.version, "seen": approval.content}
    for wrong, said in (("29", "more than the 28"), ("28", "Name less"), ("3", "already"), ("", "required")):
        answer = browser.post(there, {**given, "guaranteed": wrong})
        assert answer.status_code == 422 and said in answer.content.decode(), wrong
    answer = browser.post(there, {**given, "guaranteed": "24", "comment": "So much fits"}, follow=True)
    page = answer.content.decode()
    assert "Approved, less than asked" in page and "So much fits" in page
    assert "24 × " in page and "<dt>Asked</dt><dd>28</dd>" in page
    assert Claim.objects.get(project=where.protein, guaranteed=24)


def test_what_was_asked_until_a_day_can_end_earlier(where: world.World) -> None:
    approval = where.ask(16, ends_at=asking.in_days(40))
    browser, there = people.browser(where.admin), f"/approvals/{approval.pk}/less"
    given = {"version": approval.version, "seen": approval.content, "guaranteed": "16"}
    later, sooner = (asking.in_days(days).strftime("%Y-%m-%dT%H:%M") for days in (50, 20))
    assert browser.post(there, {**given, "ends_at": later}).status_code == 422
    assert browser.post(there, {**given, "ends_at": sooner}).status_code == 302
    claim = Claim.objects.get(project=where.protein, kind="temporary")
    assert claim.effective_to is not None and claim.effective_to < asking.in_days(21)


def test_a_second_grant_of_the_same_is_a_409(where: world.World) -> None:
    approval = where.ask(16)
    browser, there = people.browser(where.admin), f"/approvals/{approval.pk}/vote"
    given = {"answer": "approve", "version": approval.version, "seen": approval.content, "comment": ""}
    assert browser.post(there, given).status_code == 302
    answer = browser.post(there, given)
    assert answer.status_code == 409 and "approved it on" in answer.content.decode()
    assert Claim.objects.filter(project=where.protein, guaranteed=16).count() == 1


def test_who_asked_sees_no_other_project(where: world.World) -> None:
    approval = where.ask(16)
    mine = page_of(approval, where.lead)
    assert "It fits. No guarantee is touched; 2 projects lose borrowed GPUs." in mine
    assert "Weather at 1 km" not in mine and "遥感影像分割" not in mine and "Withdraw…" in mine
    assert "Weather at 1 km" in page_of(approval, where.admin)


def test_a_raise_of_the_limit_alone_takes_nothing(where: world.World) -> None:
    # Granted by the policy at once: it stays readable, with what was granted.
    approval = where.ask(4, limit=30)
    page = page_of(approval, where.admin)
    assert "Granted by the policy" in page and "limit 30" in page


def test_other_requests_that_wait_are_outlined(where: world.World) -> None:
    first = where.ask(16)
    assert "chart-others" not in page_of(first, where.admin)
    where.ask(20, where.weather)
    effect = more_of(first, where).effect
    assert effect is not None and effect.seen.tightest.others == 16
    assert "chart-others" in page_of(first, where.admin)


def test_like_cases_say_who_decided_and_how_much_was_used(where: world.World) -> None:
    given, refused = where.ask(20, where.weather), where.ask(18, where.audit)
    approval_vote(actor=where.admin, approval_id=given.pk, ballot=Ballot("approve", changes={"guaranteed": 16}))
    approval_vote(actor=where.admin, approval_id=refused.pk, ballot=Ballot("reject", comment="Not now"))
    cases = more_of(where.ask(16), where).cases
    assert cases is not None
    assert cases.headline.startswith("1 of 2 like cases approved")
    by_project = {case.project: case for case in cases.rows}
    weather = by_project["Weather at 1 km"]
    assert (weather.before, weather.after, weather.is_approved, weather.is_less, weather.by) == (
        "4, no limit",
        "16, no limit",
        True,
        True,
        "Platform admin",
    )
    assert by_project["遥感影像分割"].is_approved is False


def test_the_panel_says_the_same_in_brief(where: world.World) -> None:
    approval = where.ask(16, reason="Stage 2 <script>alert(1)</script>")
    panel = page_of(approval, where.admin, "/peek")
    for words in ("now 4", "asked 16", "Fits: 12 of 20 free", "No like case", "Stage 2 &lt;script&gt;"):
        assert words in panel
    assert "<script>alert" not in panel and "Weather at 1 km" not in panel


def test_one_whose_time_has_passed_says_so(where: world.World) -> None:
    approval = where.ask(16, ends_at=asking.in_days(2))
    past = clock.now() - timedelta(days=1)
    QuotaRequest.objects.filter(pk=approval.subject_id).update(ends_at=past)
    assert "The time it was asked for has passed." in page_of(approval, where.admin)
