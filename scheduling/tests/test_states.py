"""Every pair of state and event of every machine, by the table and through ``transition``."""

import pytest
from django.core.management import call_command

from kernel.errors import IllegalTransition
from kernel.models import StateChange
from kernel.states import Machine, transition
from scheduling import services
from scheduling.management.commands.state_diagrams import document, machines
from scheduling.states import ATTEMPT, JOB, MEMBER, AttemptState, JobState
from scheduling.tests import factories as make

MACHINES = (JOB, ATTEMPT, MEMBER)
PAIRS = [
    pytest.param(machine, state, event, id=f"{machine.name}-{state}-{event}")
    for machine in MACHINES
    for state in machine.states
    for event in sorted({event for _state, event in machine.table})
]


class Row:
    """A row of no table: ``transition`` needs a state, a machine and ``save``."""

    def __init__(self, machine: Machine, state: str) -> None:
        self.machine, self.state, self.pk = machine, state, 1
        self.saved: list[str] = []

    class _meta:  # noqa: N801 - Django's name
        label_lower = "scheduling.row"

    def save(self, update_fields: list[str]) -> None:
        self.saved = update_fields


@pytest.mark.django_db
@pytest.mark.parametrize(("machine", "state", "event"), PAIRS)
def test_a_pair_is_in_the_table_or_refused_by_name(machine: Machine, state: str, event: str) -> None:
    row = Row(machine, state)
    target = machine.table.get((state, event))
    if target is None:
        with pytest.raises(IllegalTransition) as refused:
            transition(row, event, actor=None)
        assert refused.value.data["state"] == state
        assert refused.value.data["event"] == event
        assert (row.state, row.saved) == (state, [])
        assert not StateChange.objects.exists()
    else:
        transition(row, event, actor=None)
        assert row.state == target
        change = StateChange.objects.get()
        assert (change.from_state, change.to_state) == (state, target)


def test_final_states_are_the_ends() -> None:
    assert {state for state in JobState if JOB.is_final(state)} == {JobState.SUCCEEDED, JobState.DRAFT}
    assert {state for state in AttemptState if ATTEMPT.is_final(state)} == {AttemptState.ENDED}


def test_every_live_state_can_end_and_be_unknown() -> None:
    for state in AttemptState:
        if state != AttemptState.ENDED:
            assert (state, "end") in ATTEMPT.table
            assert state == AttemptState.UNKNOWN or (state, "lose_sight") in ATTEMPT.table


@pytest.mark.django_db
@pytest.mark.parametrize("act", ["job_pause", "job_resume", "job_requeue"])
def test_an_act_that_the_state_does_not_know_is_a_conflict(act: str) -> None:
    make.node()
    project = make.project()
    job = make.job(project)
    services.job_cancel(actor=project.created_by, job_id=job.pk)
    if act == "job_requeue":
        services.job_requeue(actor=project.created_by, job_id=job.pk)
    with pytest.raises(IllegalTransition):
        getattr(services, act)(actor=project.created_by, job_id=job.pk)


def test_the_drawn_diagrams_are_current() -> None:
    call_command("state_diagrams", check=True)


def test_every_machine_of_every_room_is_drawn() -> None:
    drawn = {machine.name for machine in machines()}
    assert {"job", "attempt", "attempt_member", "node", "project"} <= drawn
    assert "queued --> starting: assign" in document()
