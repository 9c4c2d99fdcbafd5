"""No page costs more statements than the committed ceiling, nor more when there are more rows."""

import tomllib
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Person, Role
from accounts.tests import factories as people
from portal.tests.pages import world

CEILINGS: dict[str, int] = tomllib.loads((Path(__file__).parents[1] / "query_ceilings.toml").read_text())["pages"]

pytestmark = pytest.mark.django_db


def cost(person: Person, address: str, where: world.World) -> int:
    """Statements of one request of a browser that was here before."""
    browser: Client = people.browser(person)
    filled = address.format(project=where.project.pk, job=where.running.pk, node=where.node.node.pk)
    assert browser.get(filled).status_code == 200
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(filled).status_code == 200
    return len(captured)


@pytest.mark.parametrize("address", CEILINGS)
def test_a_page_stays_below_its_ceiling_and_does_not_grow(address: str) -> None:
    where = world.make()
    admin = people.person("busy-admin", Role.ADMIN, Role.DIRECTOR)
    few = {person: cost(person, address, where) for person in (where.lead, admin)}
    world.grow(where)
    many = {person: cost(person, address, where) for person in (where.lead, admin)}
    assert max(many.values()) <= CEILINGS[address]
    assert many == few
