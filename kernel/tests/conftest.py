"""Tables of the tests' own, and a second connection for whatever only two can show."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from kernel.tests import doors


@pytest.fixture
def door_tables(db: None) -> Iterator[None]:
    """Inside the test's own transaction."""
    with doors.tables():
        yield


@pytest.fixture
def committed_door_tables(transactional_db: None) -> Iterator[None]:
    """Really there, for other connections too."""
    with doors.tables():
        yield


@pytest.fixture
def elsewhere() -> Iterator[Callable[..., Future[Any]]]:
    """``elsewhere(function, …)`` runs it in a thread with a connection of its own, which is closed after it."""

    def run(function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        yield lambda function, *args: pool.submit(run, function, *args)
