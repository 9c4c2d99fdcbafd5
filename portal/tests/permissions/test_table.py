"""The table against the code: nothing is missing, nothing is left over, and every call answers as it says."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve
from pytest_django import DjangoDbBlocker
from rest_framework.views import APIView

from accounts.api.authentication import TokenAuthentication
from accounts.api.permissions import ScopePermission
from accounts.models import Scope
from accounts.tests import factories as people
from portal.tests.permissions import walk, world
from portal.tests.permissions.rows import ALL, ROOMS, ROWS, fits, said
from portal.tests.permissions.table import Row
from portal.tests.permissions.world import World

ROUTES = walk.routes()


def route_of(row: Row) -> str | None:
    """The route that answers the row's address; every ``{id}`` stands for a number or a word."""
    path = row.path
    while "{" in path:
        before, _brace, rest = path.partition("{")
        path = before + "1" + rest.partition("}")[2]
    try:
        return str(resolve(path).route)
    except Resolver404:
        return None


def listed() -> dict[str, set[str]]:
    """Route → methods that have a row."""
    found: dict[str, set[str]] = {}
    for row in ALL:
        found.setdefault(route_of(row) or "", set()).add(row.method)
    return found


# --- completeness


def test_every_address_has_a_row() -> None:
    missing = sorted(set(ROUTES) - set(listed()))
    assert not missing, "\n" + "\n".join(missing)


def test_every_row_has_an_address() -> None:
    assert [f"{row.method} {row.path}" for row in ALL if route_of(row) is None] == []


def test_every_method_of_a_class_has_a_row_and_no_other() -> None:
    have, wrong = listed(), []
    for route, view in sorted(ROUTES.items()):
        declared = walk.declared_methods(view)
        if declared is not None and have.get(route) != declared:
            wrong.append(f"{route} takes {sorted(declared)}, rows for {sorted(have.get(route, set()))}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.django_db
def test_a_function_takes_no_method_without_a_row(here: World) -> None:
    """A function does not say which methods it takes, so each other one is tried: it must be 405."""
    taken = []
    for row in {route_of(row): row for row in ALL}.values():
        route = route_of(row)
        if route is None or walk.declared_methods(ROUTES[route]) is not None:
            continue
        for method in set(walk.METHODS) - listed()[route]:
            other = Row(method, row.path, ("405",) * len(row.callers), callers=row.callers)
            for caller in ("admin", "lead"):
                if here.call(other, caller).status_code != 405:
                    taken.append(f"{method} {row.path} as {caller}")
    assert taken == []


def test_every_view_that_takes_tokens_heeds_their_scopes() -> None:
    careless = []
    for route, view in ROUTES.items():
        kind = getattr(view, "cls", None)
        if not isinstance(kind, type) or not issubclass(kind, APIView):
            continue
        takes_tokens = any(issubclass(c, TokenAuthentication) for c in kind.authentication_classes)
        heeds = any(isinstance(c, type) and issubclass(c, ScopePermission) for c in kind.permission_classes)
        writes = bool((walk.declared_methods(view) or set()) - {"GET"})
        if takes_tokens and writes and not heeds:
            careless.append(route)
    assert careless == []


# --- behaviour


@pytest.fixture(scope="module")
def here(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """One world for all rows: every call is undone, and in the end the world is."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = world.build()
        made.prepare(ALL)
        yield made
        transaction.set_rollback(True)


@pytest.mark.django_db
@pytest.mark.parametrize("room", ROOMS)
def test_every_call_answers_as_the_table_says(here: World, room: str) -> None:
    wrong = []
    for row in ROWS[room]:
        if row.is_stream:
            continue  # test_streams.py
        for caller, expected in zip(row.callers, row.expected, strict=True):
            answer = here.call(row, caller)
            if not fits(answer, expected):
                wrong.append(f"{row.method} {row.path} as {caller}: {said(answer)} instead of {expected}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.django_db
@pytest.mark.parametrize("room", ROOMS)
def test_a_token_writes_only_what_its_scope_covers(here: World, room: str) -> None:
    """For whoever may do it with ``write``: ``read`` never may, ``jobs`` only where the row says so."""
    rows = [row for row in ROWS[room] if row.is_api and row.writes]
    wrong = []
    for row in rows:
        caller = next((c for c, e in zip(row.callers, row.expected, strict=True) if e.startswith("2")), None)
        if caller is None:
            continue
        full = dict(zip(row.callers, row.expected, strict=True))[caller]
        for scope, expected in ((Scope.READ, "403"), (Scope.JOBS, full if row.by_jobs_scope else "403")):
            answer = here.call(row, caller, scopes=(scope,))
            if not fits(answer, expected):
                wrong.append(f"{row.method} {row.path} with {scope}: {said(answer)} instead of {expected}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.django_db
def test_a_session_writes_through_the_api_only_with_its_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.person(), backend=people.BACKEND)
    assert client.post("/api/v1/tokens/", {"name": "x"}, content_type="application/json").status_code == 403


@pytest.mark.django_db
def test_a_nodes_token_opens_nothing_for_people(here: World) -> None:
    for room in ROOMS:
        for row in (r for r in ROWS[room] if r.is_api):
            node = Row(row.method, row.path, ("401",), body=row.body, callers=("node",))
            assert here.call(node, "node").status_code == 401, f"{row.method} {row.path}"
