"""One world for all tests of a module: it is built once and taken away whole at the end."""

from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from pytest_django import DjangoDbBlocker

from portal.tests.api.world import World, build


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield build()
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def application() -> Iterator[object]:
    """The site as a server runs it, but on the tests' own connection: the end of a request must not close it."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield get_wsgi_application()
    for signal in signals:
        signal.connect(close_old_connections)
