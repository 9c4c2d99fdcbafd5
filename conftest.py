"""What every room's tests stand on: a database that can be emptied, no outside network, a clock that can stop."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import datetime
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import translation
from hypothesis import settings
from pytest_django import DjangoDbBlocker
from redis.exceptions import RedisError

from accounts import announcements
from kernel import clock

LONGER_THAN_A_TEST_S = 3600
# Chosen by ``./run check --fast``; a test that names a number of its own says it through kernel.tests.examples.
settings.register_profile("fast", max_examples=10, deadline=None)

LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Transactional tests are cleaned by TRUNCATE, which the append-only tables refuse.

    That one trigger sleeps in the test database only; UPDATE and DELETE stay refused, and a test in
    kernel/tests/test_audit.py wakes it in a transaction to prove that it works.
    """
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'append_only_table'")
        for (table,) in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER append_only_table")


@pytest.fixture(autouse=True, scope="session")
def no_outside_network() -> Iterator[None]:
    """A test that reaches beyond this machine fails at once instead of passing only where there is a network."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def refuse_outside(sock: socket.socket, address: Any) -> None:
        if sock.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(LOOPBACK):
            raise PermissionError(f"tests stay on this machine; {address!r} is outside")

    def guarded(sock: socket.socket, address: Any) -> None:
        refuse_outside(sock, address)
        connect(sock, address)

    def guarded_ex(sock: socket.socket, address: Any) -> int:
        refuse_outside(sock, address)
        return connect_ex(sock, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        patch.setattr(socket.socket, "connect_ex", guarded_ex)
        yield


@pytest.fixture(autouse=True)
def nothing_announced(request: pytest.FixtureRequest) -> None:
    """A test begins as on a portal that runs and announces nothing: its first page costs what its second does.

    What a test announces is undone without a commit, so nothing else would forget it in the cache.
    """
    if request.node.get_closest_marker("django_db"):
        with suppress(RedisError):
            cache.set(announcements.CACHE_KEY, [], LONGER_THAN_A_TEST_S)


@pytest.fixture(autouse=True)
def no_language_left() -> None:
    """A test begins in the language of the settings. A request leaves its own behind until the next one comes."""
    translation.deactivate()


@pytest.fixture
def freeze() -> Iterator[Callable[[datetime], None]]:
    """``freeze(at)`` stops the clock for the rest of the test; calling it again moves it."""
    with ExitStack() as stack:

        def at(instant: datetime) -> None:
            stack.enter_context(clock.frozen(instant))

        yield at
