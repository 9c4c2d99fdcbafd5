"""The first minute of an installation: people, and nothing else. No page and no call breaks on what is not there."""

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from accounts.models import Role
from accounts.tests import factories as people
from portal.tests.permissions.rows import ALL
from portal.tests.permissions.table import CALLERS
from portal.tests.permissions.world import World

pytestmark = pytest.mark.django_db

ROWS = [row for row in ALL if row.method == "GET" and row.callers == CALLERS and row.path != "/readyz"]
"""Whether the instance is ready is asked in another place."""
ROWS = [row for row in ROWS if not row.is_stream]


@pytest.fixture(scope="module")
def empty(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    names = {name for row in ROWS for text in (row.path, *row.query.values()) for name in re.findall(r"{(\w+)}", text)}
    with django_db_blocker.unblock(), transaction.atomic():
        roles = {role.value: people.person(role.value, role) for role in Role}
        world = World({**roles, "stranger": people.person("stranger")}, dict.fromkeys(names, 1), {})
        world.prepare(ROWS)
        yield world
        transaction.set_rollback(True)


@pytest.mark.parametrize("caller", ["anonymous", "stranger", "director", "admin", "auditor"])
def test_nothing_breaks_on_nothing(empty: World, caller: str) -> None:
    broken = [row.path for row in ROWS if empty.call(row, caller).status_code >= 500]
    assert broken == []
