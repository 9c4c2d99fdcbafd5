"""The rail shows the rooms that exist and that a role has business in."""

import pytest
from django.urls import path
from django.views import View

from accounts.models import Role
from portal import navigation
from portal.navigation import Room

urlpatterns = [
    path("", View.as_view(), name="front"),
    path("plants/", View.as_view(), name="plants"),
    path("plants/<int:pk>/", View.as_view(), name="plant"),
    path("ledger/", View.as_view(), name="ledger"),
]
ROOMS = (
    Room("front", "Front", "home"),
    Room("plants", "Plants", "projects"),
    Room("ledger", "Ledger", "audit", frozenset({Role.ADMIN, Role.AUDITOR})),
    Room("nowhere:list", "Nowhere", "jobs"),
)
pytestmark = pytest.mark.urls(__name__)


def labels(roles: set[Role], path: str = "/") -> list[str]:
    return [str(item.label) for item in navigation.visible_rooms(ROOMS, roles, path)]


def test_a_room_without_an_address_is_left_out() -> None:
    assert "Nowhere" not in labels({Role.ADMIN})


@pytest.mark.parametrize(
    ("roles", "sees"), [(set(), False), ({Role.DIRECTOR}, False), ({Role.AUDITOR}, True), ({Role.ADMIN}, True)]
)
def test_a_room_of_some_roles(roles: set[Role], sees: bool) -> None:
    assert ("Ledger" in labels(roles)) is sees


@pytest.mark.parametrize(
    ("path", "current"), [("/", "Front"), ("/plants/", "Plants"), ("/plants", "Plants"), ("/plants/7/", "Plants")]
)
def test_one_room_is_current(path: str, current: str) -> None:
    items = navigation.visible_rooms(ROOMS, {Role.ADMIN}, path)
    assert [str(item.label) for item in items if item.is_current] == [current]


def test_a_longer_word_is_not_below_a_room() -> None:
    assert not navigation.is_within("/plantsoup/", "/plants/")
