"""The audit log: nobody edits it, its chain shows tampering, and acts do not wait for one another."""

import io
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, ProgrammingError, connection, transaction

from kernel import audit, clock
from kernel.advisory import AdvisoryLock
from kernel.models import AuditEntry, AuditSeal, StateChange
from kernel.origin import Origin, origin
from kernel.states import transition
from kernel.tests.doors import Door
from kernel.unit import unit_of_work

Elsewhere = Callable[..., Future[Any]]
WAIT = 20


@pytest.fixture
def door(door_tables: None) -> Door:
    return Door.objects.create(name="front")


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def tampered(statement: str) -> None:
    """What somebody with the owner's password could do: switch the guard off, change, switch it on again."""
    run("SET CONSTRAINTS ALL IMMEDIATE")
    for table in ("kernel_auditentry", "kernel_auditseal"):
        run(f"ALTER TABLE {table} DISABLE TRIGGER append_only_rows")
    run(statement)
    for table in ("kernel_auditentry", "kernel_auditseal"):
        run(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows")


def test_an_entry_says_who_what_when_from_where(door: Door) -> None:
    at = datetime(2026, 3, 2, 12, tzinfo=UTC)
    with clock.frozen(at), origin(Origin("api", "10.1.2.3", "nightly")):
        audit.record("door.painted", actor=None, subject=door, before={"colour": "white"}, after={"at": at})
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.at, entry.via, entry.address, entry.token) == (
        "door.painted", at, "api", "10.1.2.3", "nightly"
    )  # fmt: skip
    assert (entry.before, entry.after) == ({"colour": "white"}, {"at": "2026-03-02T12:00:00Z"})
    assert (entry.subject_type, entry.subject_id) == ("kernel_tests.door", str(door.pk))


def test_an_entry_goes_with_a_refused_act(door: Door) -> None:
    with pytest.raises(RuntimeError), unit_of_work():
        audit.record("door.painted", actor=None, subject=door)
        raise RuntimeError
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["kernel_auditentry", "kernel_auditseal"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET {column} = {column}",
        "DELETE FROM {table}",
        "TRUNCATE {table} CASCADE",
        "INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({key}) DO UPDATE SET {column} = EXCLUDED.{column}",
    ],
)
def test_the_database_refuses_its_owner_to_change_it(door: Door, table: str, statement: str) -> None:
    audit.record("door.painted", actor=None, subject=door)
    audit.seal_pending()
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table")  # asleep in the test database only
    key, column = ("id", "action") if table.endswith("entry") else ("position", "hash")
    before = list(AuditEntry.objects.values()), list(AuditSeal.objects.values())
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run(statement.format(table=table, column=column, key=key))
    assert (list(AuditEntry.objects.values()), list(AuditSeal.objects.values())) == before


@pytest.mark.parametrize("statement", ["UPDATE {t} SET reason = ''", "DELETE FROM {t}", "TRUNCATE {t}"])
def test_the_history_of_states_is_not_rewritten_either(door: Door, statement: str) -> None:
    transition(door, "close", actor=None)
    run("ALTER TABLE kernel_statechange ENABLE ALWAYS TRIGGER append_only_table")  # asleep in the test database only
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run(statement.format(t="kernel_statechange"))
    assert StateChange.objects.get().to_state == door.state


def test_a_replication_role_does_not_switch_the_guard_off(door: Door) -> None:
    """The usual trick to silence triggers: these are ALWAYS. A portal's own role may not even try it."""
    audit.record("door.painted", actor=None, subject=door)
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        is_superuser = cursor.fetchone()[0]
    refusal = IntegrityError if is_superuser else ProgrammingError
    with pytest.raises(refusal), transaction.atomic():
        run("SET LOCAL session_replication_role = replica")
        run("DELETE FROM kernel_auditentry")


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["kernel_auditentry", "kernel_auditseal"])
def test_the_guards_of_rows_fire_whatever_the_session_says(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgenabled FROM pg_trigger WHERE tgrelid = %s::regclass AND tgname = 'append_only_rows'", [table]
        )
        assert cursor.fetchall() == [("A",)]


def test_models_and_querysets_are_refused_too(door: Door) -> None:
    entry = audit.record("door.painted", actor=None, subject=door)
    entry.action = "door.burnt"
    for act in (entry.save, entry.delete, AuditEntry.objects.all().delete):
        with pytest.raises(IntegrityError), transaction.atomic():
            act()


# --- the chain


def record(door: Door, times: int) -> None:
    for number in range(times):
        audit.record("door.painted", actor=None, subject=door, after={"coat": number})


def test_entries_are_sealed_in_order_each_on_the_one_before(door: Door) -> None:
    record(door, 3)
    assert audit.seal_pending() == 3
    record(door, 2)
    assert audit.seal_pending(limit=1) == 1
    assert audit.seal_pending() == 1
    assert audit.seal_pending() == 0
    seals = list(AuditSeal.objects.order_by("position"))
    assert [s.position for s in seals] == [1, 2, 3, 4, 5]
    assert [s.previous_hash for s in seals] == [audit.GENESIS, *(s.hash for s in seals[:-1])]
    assert audit.broken_links() == []


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE kernel_auditentry SET actor_name = 'somebody else' WHERE id = {second}", "entry {second} was altered"),
        ("UPDATE kernel_auditentry SET after = '{{}}' WHERE id = {second}", "entry {second} was altered"),
        ("UPDATE kernel_auditentry SET at = at + '1 s' WHERE id = {second}", "entry {second} was altered"),
        ("DELETE FROM kernel_auditseal WHERE entry_id = {second}", "position 2 is missing"),
        ("UPDATE kernel_auditseal SET hash = repeat('a', 64) WHERE entry_id = {second}", "position 3 does not follow"),
        (
            "UPDATE kernel_auditseal s SET entry_id = o.entry_id FROM kernel_auditseal o"
            " WHERE s.position IN (2, 3) AND o.position = 5 - s.position",
            "was altered",
        ),
    ],
)  # fmt: skip
def test_tampering_is_found(door: Door, statement: str, fault: str) -> None:
    record(door, 3)
    audit.seal_pending()
    second = AuditSeal.objects.get(position=2).entry_id
    if "o.position" in statement:
        run("SET CONSTRAINTS ALL IMMEDIATE")
        run("ALTER TABLE kernel_auditseal DROP CONSTRAINT kernel_auditseal_entry_id_key")
    tampered(statement.format(second=second))
    assert any(fault.format(second=second) in sentence for sentence in audit.broken_links())
    out = io.StringIO()
    with pytest.raises(CommandError) as error:
        call_command("verify_audit", stdout=out)
    assert error.value.returncode == 1
    assert fault.format(second=second) in out.getvalue()


def test_the_command_says_that_the_chain_holds(door: Door) -> None:
    record(door, 2)
    audit.seal_pending()
    record(door, 1)
    out = io.StringIO()
    call_command("verify_audit", stdout=out)
    head = AuditSeal.objects.get(position=2).hash
    assert out.getvalue() == f"2 entries are sealed, head {head}; 1 wait to be\n"


def test_acts_do_not_wait_for_one_another(committed_door_tables: None, elsewhere: Elsewhere) -> None:
    """Two open transactions both record; neither has committed when the other does."""
    door = Door.objects.create(name="front")
    both_recorded = Barrier(2, timeout=WAIT)

    def act() -> None:
        with unit_of_work():
            audit.record("door.painted", actor=None, subject=door)
            both_recorded.wait()

    for done in (elsewhere(act), elsewhere(act)):
        done.result(WAIT)
    assert audit.seal_pending() == 2
    assert audit.broken_links() == []


def test_one_writer_seals_at_a_time(committed_door_tables: None, elsewhere: Elsewhere) -> None:
    record(Door.objects.create(name="front"), 3)
    with transaction.atomic():
        run(f"SELECT pg_advisory_xact_lock({AdvisoryLock.AUDIT_CHAIN:d})")
        assert elsewhere(audit.seal_pending).result(WAIT) == 0
    assert audit.seal_pending() == 3


def test_an_entry_that_commits_late_is_sealed_late(committed_door_tables: None, elsewhere: Elsewhere) -> None:
    door = Door.objects.create(name="front")
    with transaction.atomic():
        early = audit.record("door.painted", actor=None, subject=door)
        elsewhere(record, door, 1).result(WAIT)
        assert elsewhere(audit.seal_pending).result(WAIT) == 1
    assert audit.seal_pending() == 1
    assert AuditSeal.objects.get(position=2).entry_id == early.pk
    assert audit.broken_links() == []
