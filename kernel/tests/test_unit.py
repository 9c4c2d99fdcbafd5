"""Locks: once in a unit, in one order, and never waited for longer than three seconds. Two real connections."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Barrier, Event
from typing import Any

import pytest
from django.db import DataError, connection
from django.test.utils import CaptureQueriesContext

from kernel import unit
from kernel.errors import Forbidden, LockOrderError, LockTimeout, NotFound
from kernel.tests.doors import Door, Lamp
from kernel.unit import lock, unit_of_work

Elsewhere = Callable[..., Future[Any]]
WAIT = 20


def test_a_lock_outside_of_a_unit_is_an_error_of_ours(door_tables: None) -> None:
    with pytest.raises(LockOrderError):
        lock({Door: [1]})


def test_a_unit_locks_once_even_through_an_inner_one(door_tables: None) -> None:
    door = Door.objects.create(name="front")
    with pytest.raises(LockOrderError), unit_of_work():
        lock({Door: [door.pk]})
        with unit_of_work():
            lock({Door: [door.pk]})


def test_the_next_unit_may_lock_again(door_tables: None) -> None:
    door = Door.objects.create(name="front")
    for _ in range(2):
        with unit_of_work():
            assert lock({Door: [door.pk]})[Door][door.pk] == door


def test_rows_are_locked_in_the_one_order_whatever_was_asked(door_tables: None) -> None:
    doors = [Door.objects.create(name=str(n)) for n in range(3)]
    lamp = Lamp.objects.create(name="hall")
    with (
        CaptureQueriesContext(
            connection,
        ) as queries,
        unit_of_work(),
    ):
        lock({Lamp: [lamp.pk], Door: [doors[2].pk, doors[0].pk]})
    statements = [q["sql"] for q in queries if "FOR NO KEY UPDATE" in q["sql"]]
    assert ["kernel_tests_door" in s for s in statements] == [True, False]
    assert all('ORDER BY "kernel_tests_' in s for s in statements)
    assert f"({doors[0].pk}, {doors[2].pk})" in statements[0]


def test_a_row_that_is_gone_is_not_found_unless_it_may_be(door_tables: None) -> None:
    with pytest.raises(NotFound), unit_of_work():
        lock({Door: [999]})
    with unit_of_work():
        assert lock({Door: [999]}, must_exist=False) == {Door: {}}


def test_a_refusal_ends_the_outermost_unit_and_changes_nothing(door_tables: None) -> None:
    with pytest.raises(Forbidden), unit_of_work():
        Door.objects.create(name="front")
        with unit_of_work():
            raise Forbidden
    assert not Door.objects.exists()


def test_three_seconds_is_the_rule() -> None:
    assert unit.LOCK_TIMEOUT_MS == 3000


def test_the_time_limit_is_set_in_the_database_and_ends_with_the_unit(committed_door_tables: None) -> None:
    def limit() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            return str(cursor.fetchone()[0])

    before = limit()
    with unit_of_work():
        assert limit() == "3s"
    assert limit() == before


def test_a_held_row_is_a_named_refusal_and_nothing_is_changed(
    committed_door_tables: None, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unit, "LOCK_TIMEOUT_MS", 200)
    door = Door.objects.create(name="front")
    held, tried = Event(), Event()

    def hold() -> None:
        with unit_of_work():
            lock({Door: [door.pk]})
            held.set()
            assert tried.wait(WAIT)

    holder = elsewhere(hold)
    assert held.wait(WAIT)
    try:
        with pytest.raises(LockTimeout) as refusal, unit_of_work():
            Lamp.objects.create(name="hall")
            lock({Door: [door.pk]})
    finally:
        tried.set()
    holder.result(WAIT)
    assert refusal.value.status == 409
    assert not Lamp.objects.exists()


def test_who_waits_sees_what_the_first_has_committed(committed_door_tables: None, elsewhere: Elsewhere) -> None:
    door = Door.objects.create(name="0")
    start = Barrier(4, timeout=WAIT)

    def add_one() -> None:
        start.wait()
        with unit_of_work():
            row = lock({Door: [door.pk]})[Door][door.pk]
            row.name = str(int(row.name) + 1)
            row.save(update_fields=["name"])

    for done in [elsewhere(add_one) for _ in range(4)]:
        done.result(WAIT)
    assert Door.objects.get().name == "4"


def test_opposite_wishes_do_not_deadlock(committed_door_tables: None, elsewhere: Elsewhere) -> None:
    doors = [Door.objects.create(name=str(n)) for n in range(2)]
    start = Barrier(2, timeout=WAIT)

    def take(ids: list[int]) -> int:
        start.wait()
        for _ in range(20):
            with unit_of_work():
                lock({Door: ids})
        return len(ids)

    ids = [door.pk for door in doors]
    assert [f.result(WAIT) for f in (elsewhere(take, ids), elsewhere(take, ids[::-1]))] == [2, 2]


def test_another_error_of_the_database_is_not_called_a_lock(door_tables: None) -> None:
    with pytest.raises(DataError, match="division by zero"), unit_of_work(), connection.cursor() as cursor:
        cursor.execute("SELECT 1/0")
