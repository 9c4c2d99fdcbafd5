"""Two small tables of the tests' own: a door with a state, and a lamp that is locked after it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from django.db import connection, models

from kernel.states import Machine
from kernel.unit import LockRank


class DoorState(models.TextChoices):
    OPEN = "open", "open"
    CLOSED = "closed", "closed"
    LOCKED = "locked", "locked"
    GONE = "gone", "gone"


S = DoorState
DOOR = Machine(
    "door",
    DoorState,
    {
        (S.OPEN, "close"): S.CLOSED,
        (S.CLOSED, "open"): S.OPEN,
        (S.CLOSED, "lock"): S.LOCKED,
        (S.LOCKED, "unlock"): S.CLOSED,
        (S.CLOSED, "take_out"): S.GONE,
    },
)


class Door(models.Model):
    lock_rank = LockRank.PROJECT
    machine = DOOR
    name = models.CharField(max_length=40)
    state = models.CharField(max_length=20, default=DoorState.OPEN)
    colour = models.CharField(max_length=20, default="white")
    objects: ClassVar[models.Manager["Door"]] = models.Manager()

    class Meta:
        app_label = "kernel_tests"


class Lamp(models.Model):
    lock_rank = LockRank.JOB
    name = models.CharField(max_length=40)
    objects: ClassVar[models.Manager["Lamp"]] = models.Manager()

    class Meta:
        app_label = "kernel_tests"


@contextmanager
def tables() -> Iterator[None]:
    """The tables exist inside; they are dropped afterwards, so that tests with real commits leave none."""
    with connection.schema_editor() as editor:
        for model in (Door, Lamp):
            editor.create_model(model)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE kernel_tests_door, kernel_tests_lamp")
