"""The dated tier: one at a time, without a gap at a change, never set for an own project."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from accounts.tests import factories as people
from kernel.errors import Conflict, Invalid
from projects import selectors, services
from projects.errors import NotEditable, OwnProject
from projects.models import Tier, TierFact
from projects.tests import factories

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
Freeze = Callable[[datetime], None]


def test_intervals_meet_and_tier_at_reads_them(freeze: Freeze) -> None:
    freeze(START)
    project, other = factories.active_project(), factories.active_project()
    admin = factories.admin()
    for hours, tier in ((1, Tier.LOW), (2, Tier.HIGH)):
        freeze(START + hours * HOUR)
        services.tier_set(actor=admin, project_id=project.pk, tier=tier, reason="Round")
    moments = [START, START + HOUR, START + 2 * HOUR - timedelta(microseconds=1), START + 2 * HOUR, START + 99 * HOUR]
    found = [selectors.tier_at([project.pk, other.pk], at).get(project.pk) for at in moments]
    assert found == [None, Tier.LOW, Tier.LOW, Tier.HIGH, Tier.HIGH]
    assert other.pk not in selectors.tier_at([project.pk, other.pk], moments[-1])


def test_a_second_change_in_the_same_instant_replaces_what_was_never_in_force(freeze: Freeze) -> None:
    freeze(START)
    project = factories.active_project(tier=Tier.LOW)
    services.tier_set(actor=factories.admin(), project_id=project.pk, tier="mid", reason="A slip")
    assert [fact.tier for fact in TierFact.objects.filter(project=project)] == ["mid"]


def test_the_database_refuses_two_tiers_at_once() -> None:
    project = factories.active_project(tier=Tier.LOW)
    fact = TierFact.objects.get(project=project)
    with pytest.raises(IntegrityError), transaction.atomic():
        TierFact.objects.create(project=project, tier="high", during=fact.during, set_by=fact.set_by)


def test_what_is_refused() -> None:
    admin = people.admin()
    own = factories.active_project(lead=admin)
    project = factories.active_project(tier=Tier.LOW)
    with pytest.raises(OwnProject):
        services.tier_set(actor=admin, project_id=own.pk, tier="high", reason="Mine")
    with pytest.raises(Conflict):
        services.tier_set(actor=admin, project_id=project.pk, tier="low", reason="Again")
    with pytest.raises(Invalid):
        services.tier_set(actor=admin, project_id=project.pk, tier="best", reason="So")
    with pytest.raises(Invalid):
        services.tier_set(actor=admin, project_id=project.pk, tier="high", reason=" ")
    with pytest.raises(NotEditable):
        services.tier_set(actor=admin, project_id=factories.draft_project().pk, tier="high", reason="Early")


def test_over_the_api() -> None:
    lead, admin = people.person(), people.api_client(people.admin())
    project = factories.active_project(lead=lead)
    url = f"/api/v1/projects/{project.pk}/tier/"
    assert people.api_client(lead).post(url, {"tier": "high", "reason": "Mine"}).status_code == 403
    assert admin.post(url, {"tier": "high"}).status_code == 422
    assert admin.post(url, {"tier": "high", "reason": "Round 3"}).json()["tier"] == "high"
    assert admin.get(f"/api/v1/projects/{project.pk}/").json()["tier"] == "high"
