"""The kind that this room's tests decide about is registered for each test alone."""

import pytest

from approvals import kinds
from approvals.tests.wish import Cast, Wish, cast


@pytest.fixture
def wish(monkeypatch: pytest.MonkeyPatch) -> Wish:
    kind = Wish()
    monkeypatch.setitem(kinds._kinds, kind.name, kind)
    return kind


@pytest.fixture
def who() -> Cast:
    return cast()
