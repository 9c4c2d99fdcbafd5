"""No page costs more statements than the committed ceiling, nor more when there are more rows."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker

from accounts import announcements
from accounts.models import Person, Role
from accounts.tests import factories as people
from accounts.tests.told import told
from approvals.models import Approval
from portal.tests.pages import world
from projects.content import REGISTRATION
from projects.models import Project
from projects.states import ProjectState

_FILE = tomllib.loads((Path(__file__).parents[1] / "query_ceilings.toml").read_text())
CEILINGS: dict[str, int] = {**_FILE["pages"], **_FILE["admin"]}
"""Pages that a lead and an admin open, and those that only an admin may."""
LONGER_THAN_THE_TEST_S = 3600


@dataclass(frozen=True)
class Cost:
    """``statements`` of one request of a browser that was here before, and what it answered then and now."""

    status: tuple[int, int]
    statements: int


Costs = dict[str, dict[str, Cost]]
"""By page, then by who asks."""


@pytest.fixture(scope="module")
def costs(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[Costs, Costs]]:
    """Of every page with few rows and with more: two worlds for all pages, because reading changes neither."""
    with django_db_blocker.unblock(), transaction.atomic():
        # Read anew once a minute, by whichever page comes then: that is no page's own cost.
        cache.set(announcements.CACHE_KEY, [], LONGER_THAN_THE_TEST_S)
        where = world.make()
        admin = people.person("busy-admin", Role.ADMIN, Role.DIRECTOR)
        told(admin)
        few = _costs(where, admin)
        world.grow(where)
        yield few, _costs(where, admin)
        transaction.set_rollback(True)
    cache.delete(announcements.CACHE_KEY)


def _costs(where: world.World, admin: Person) -> Costs:
    submitted = Project.objects.filter(state=ProjectState.SUBMITTED).earliest("pk").pk
    places = {
        "project": where.project.pk,
        "submitted": submitted,
        "job": where.running.pk,
        "node": where.node.node.pk,
        "approval": Approval.objects.get(kind=REGISTRATION, subject_id=submitted).pk,
    }
    places["lead"] = where.lead.pk
    lead_browser, admin_browser = people.browser(where.lead), people.browser(admin)
    found: Costs = {}
    for page in CEILINGS:
        address = page.format(**places)
        found[page] = {"admin": _cost(admin_browser, address)}
        if page in _FILE["pages"]:
            found[page]["lead"] = _cost(lead_browser, address)
    return found


def _cost(browser: Client, address: str) -> Cost:
    before = browser.get(address)
    with CaptureQueriesContext(connection) as captured:
        answer = browser.get(address)
    return Cost((before.status_code, answer.status_code), len(captured))


@pytest.mark.parametrize("page", CEILINGS)
def test_a_page_stays_below_its_ceiling_and_does_not_grow(page: str, costs: tuple[Costs, Costs]) -> None:
    few, many = costs
    assert {cost.status for cost in many[page].values()} == {(200, 200)}
    assert max(cost.statements for cost in many[page].values()) <= CEILINGS[page]
    assert many[page] == few[page]
