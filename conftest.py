"""Set-up of the test database."""

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

APPEND_ONLY = ("kernel_auditentry", "kernel_auditseal")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Let tests with real commits empty the tables behind them, the append-only ones too.

    Only the trigger against TRUNCATE rests, and only here; a test of that trigger wakes it for itself
    (``ALTER TABLE … ENABLE ALWAYS TRIGGER append_only_table``).
    """
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for table in APPEND_ONLY:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER append_only_table")
