"""One table decides what may follow what, and one function writes it down."""

from datetime import UTC, datetime

import pytest

from kernel import clock
from kernel.errors import IllegalTransition
from kernel.models import StateChange
from kernel.states import transition
from kernel.tests.doors import DOOR, Door, DoorState

EVENTS = sorted({event for _state, event in DOOR.table})


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", list(DoorState))
def test_every_pair_is_allowed_by_the_table_or_refused_by_name(state: DoorState, event: str) -> None:
    if (state, event) in DOOR.table:
        assert DOOR.target(state, event) == DOOR.table[(state, event)]
        return
    with pytest.raises(IllegalTransition) as refusal:
        DOOR.target(state, event)
    assert event.replace("_", " ") in refusal.value.message
    assert state.label in refusal.value.message
    assert refusal.value.status == 409
    assert refusal.value.data == {
        "machine": "door", "state": state.value, "event": event, "allowed": DOOR.events(state)
    }  # fmt: skip


def test_what_can_follow_is_listed_and_a_last_state_is_final() -> None:
    assert DOOR.events(DoorState.CLOSED) == ["lock", "open", "take_out"]
    assert [state for state in DoorState if DOOR.is_final(state)] == [DoorState.GONE]


def test_a_transition_writes_state_and_history_together(door_tables: None) -> None:
    door = Door.objects.create(name="front")
    at = datetime(2026, 3, 2, 12, tzinfo=UTC)
    with clock.frozen(at):
        transition(door, "close", actor=None, reason="draught", data={"wind": 7})
    assert Door.objects.get().state == DoorState.CLOSED
    change = StateChange.objects.get()
    assert (change.machine, change.event, change.from_state, change.to_state) == ("door", "close", "open", "closed")
    assert (change.subject_type, change.subject_id) == ("kernel_tests.door", str(door.pk))
    assert (change.actor_type, change.actor_name) == ("portal", "portal")
    assert (change.at, change.reason, change.data) == (at, "draught", {"wind": 7})


def test_a_refused_transition_changes_nothing(door_tables: None) -> None:
    door = Door.objects.create(name="front")
    with pytest.raises(IllegalTransition):
        transition(door, "lock", actor=None)
    assert door.state == Door.objects.get().state == DoorState.OPEN
    assert not StateChange.objects.exists()


def test_only_the_named_fields_are_written_with_the_state(door_tables: None) -> None:
    door = Door.objects.create(name="front")
    door.colour, door.name = "red", "back"
    transition(door, "close", actor=None, fields=["colour"])
    stored = Door.objects.get()
    assert (stored.state, stored.colour, stored.name) == (DoorState.CLOSED, "red", "front")
