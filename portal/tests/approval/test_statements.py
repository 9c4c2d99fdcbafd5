"""A decision page costs no more statements when there is more of everything that it shows."""

from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import announcements
from accounts.tests import factories as people
from approvals.models import Approval
from approvals.services import Ballot, approval_comment, approval_vote
from portal.tests.approval import world
from projects.content import REGISTRATION
from projects.tests import factories as registry
from quotas.tests import asking
from scheduling.tests import factories

pytestmark = pytest.mark.django_db
CEILING = 25
"""Session and frame included, for somebody whose browser was here before."""


def cost(where: world.World, approval: Approval, act: str = "") -> int:
    browser = people.browser(where.admin)
    headers = {"HX-Request": "true"} if act else None
    cache.clear()
    # Read anew once a minute, by whichever page comes then: that is no page's own cost.
    cache.set(announcements.CACHE_KEY, [], 3600)
    assert browser.get(f"/approvals/{approval.pk}{act}", headers=headers).status_code == 200
    with CaptureQueriesContext(connection) as captured:
        browser.get(f"/approvals/{approval.pk}{act}", headers=headers)
    return len(captured)


@pytest.fixture
def where() -> world.World:
    return world.make()


def more(where: world.World, approval: Approval) -> None:
    """More claims, borrowers, comments, requests that wait, and decided ones that are alike."""
    for index in range(3):
        other = factories.project(gpus=1, limit=None, name=f"Other {index}", stage="training")
        factories.job(other, name="small", milli_gpus=1000, is_preemptible=True)
        decided = where.ask(5 + index, other, ends_at=asking.in_days(40))
        if decided.is_open:
            approval_vote(actor=where.admin, approval_id=decided.pk, ballot=Ballot("reject", comment="No"))
        where.ask(12, other, ends_at=asking.in_days(60))
        registry.submitted_project(name=f"Registered {index}")
        approval_comment(actor=where.admin, approval_id=approval.pk, text=f"Said {index}", is_private=True)
    factories.decide()


def the_request(where: world.World) -> Approval:
    registry.submitted_project(name="Registered before")
    return where.ask(16, ends_at=asking.in_days(40))


def the_registration(where: world.World) -> Approval:
    where.ask(16, ends_at=asking.in_days(40))
    registry.submitted_project(name="Registered by another")
    project = registry.submitted_project(name="Registered before")
    return Approval.objects.get(kind=REGISTRATION, subject_id=project.pk)


@pytest.mark.parametrize("of", [the_request, the_registration])
def test_page_and_panel_cost_the_same_for_many(where: world.World, of: Callable[[world.World], Approval]) -> None:
    approval = of(where)
    few = cost(where, approval), cost(where, approval, "/peek")
    more(where, approval)
    many = cost(where, approval), cost(where, approval, "/peek")
    assert many == few
    assert max(many) <= CEILING
