"""Upkeep of many rows: what fails at one row does not keep the others, and leaves nothing half done."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event
from typing import Any

from structlog.testing import capture_logs

from kernel import sweep
from kernel.states import transition
from kernel.tests.doors import Door
from kernel.unit import lock, unit_of_work

Elsewhere = Callable[..., Future[Any]]
WAIT = 20


def close_door(pk: int) -> str:
    """Closes it; of one called ``stuck`` it turns out too late that it cannot be."""
    door: Door = lock({Door: [pk]})[Door][pk]
    transition(door, "close", actor=None)
    if door.name == "stuck":
        raise ValueError("stuck")
    return door.name


def states() -> list[str]:
    return list(Door.objects.order_by("pk").values_list("state", flat=True))


def test_one_that_fails_does_not_keep_the_others(door_tables: None) -> None:
    doors = [Door.objects.create(name=name) for name in ("stuck", "front", "back")]
    with capture_logs() as logs:
        assert sweep.each("close", [door.pk for door in doors], close_door) == ["front", "back"]
    assert states() == ["open", "closed", "closed"]
    assert [(entry["event"], entry["id"], entry["log_level"]) for entry in logs] == [
        ("sweep_failed", doors[0].pk, "error")
    ]


def test_one_that_somebody_holds_is_put_off(committed_door_tables: None, elsewhere: Elsewhere) -> None:
    held, free = Door.objects.create(name="held"), Door.objects.create(name="free")
    is_held, may_go = Event(), Event()

    def hold() -> None:
        with unit_of_work():
            lock({Door: [held.pk]})
            is_held.set()
            may_go.wait(WAIT)

    holder = elsewhere(hold)
    assert is_held.wait(WAIT)
    with capture_logs() as logs:
        assert sweep.each("close", [held.pk, free.pk], close_door) == ["free"]
    may_go.set()
    holder.result(WAIT)
    assert [(entry["event"], entry["id"]) for entry in logs] == [("sweep_put_off", held.pk)]
    assert sweep.each("close", [held.pk], close_door) == ["held"]
