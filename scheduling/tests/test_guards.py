"""What the database refuses, whoever asks."""

import threading
import uuid

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError

from kernel import clock
from scheduling.models import Attempt, AttemptMember, Charge, DeviceAllocation
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def member_on(fake: make.FakeNode) -> AttemptMember:
    """A member that holds nothing yet."""
    project = make.project()
    job = make.job(project)
    assert fake.node.gpu_model is not None
    attempt = Attempt.objects.create(
        job=job, number=1, launcher="agent", gpu_model=fake.node.gpu_model, assigned_at=clock.now()
    )
    return AttemptMember.objects.create(attempt=attempt, node=fake.node, rank=0, launch_key=uuid.uuid4())


def allocate(member: AttemptMember, device: int, milli: int) -> DeviceAllocation:
    return DeviceAllocation.objects.create(member=member, device_id=device, milli=milli, allocated_at=clock.now())


def test_a_device_is_never_given_more_than_once() -> None:
    fake = make.node()
    device = fake.node.devices.first()
    assert device is not None
    allocate(member_on(fake), device.pk, 600)
    second = member_on(fake)
    with pytest.raises(IntegrityError, match="holds 600 milli-GPU: 500 more"), transaction.atomic():
        allocate(second, device.pk, 500)
    allocate(second, device.pk, 400)


def test_what_was_released_is_free_again() -> None:
    fake = make.node()
    device = fake.node.devices.first()
    assert device is not None
    first = allocate(member_on(fake), device.pk, 1000)
    first.released_at = clock.now()
    first.save(update_fields=["released_at"])
    allocate(member_on(fake), device.pk, 1000)


@pytest.mark.parametrize("changes", [{"milli": 1}, {"device_id": 1}, {"released_at": None}])
def test_an_allocation_changes_by_its_release_alone(changes: dict[str, object]) -> None:
    fake = make.node()
    device = fake.node.devices.last()
    assert device is not None
    allocation = allocate(member_on(fake), device.pk, 500)
    rows = DeviceAllocation.objects.filter(pk=allocation.pk)
    if "released_at" in changes:
        rows.update(released_at=clock.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(**changes)


def test_an_allocation_is_released_once_and_never_deleted() -> None:
    fake = make.node()
    device = fake.node.devices.first()
    assert device is not None
    allocation = allocate(member_on(fake), device.pk, 500)
    rows = DeviceAllocation.objects.filter(pk=allocation.pk)
    rows.update(released_at=clock.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(released_at=clock.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.delete()


def test_charges_are_never_changed_deleted_or_written_twice() -> None:
    fake = make.node()
    job = make.running_job(make.project(), [fake])
    [member] = make.members_of(job)
    fake.end(member.pk)
    fake.sync()
    charge = Charge.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        Charge.objects.update(milli_gpu_seconds=0)
    with pytest.raises((IntegrityError, ProtectedError)), transaction.atomic():
        charge.delete()
    charge.pk = None
    with pytest.raises(IntegrityError, match="charge_once"), transaction.atomic():
        charge.save()


@pytest.mark.parametrize("table", ["scheduling_deviceallocation", "scheduling_charge"])
def test_history_cannot_be_truncated(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table")
        with pytest.raises(IntegrityError, match="refused"), transaction.atomic():
            cursor.execute(f"TRUNCATE {table} CASCADE")


@pytest.mark.django_db(transaction=True)
def test_two_transactions_cannot_both_take_the_same_device() -> None:
    """Each looks alone at a free device; the second waits for the first, and then sees what it took."""
    fake = make.node()
    device = fake.node.devices.first()
    assert device is not None
    first, second = member_on(fake), member_on(fake)
    refused: list[Exception] = []

    def take_too() -> None:
        try:
            allocate(second, device.pk, 600)
        except IntegrityError as error:
            refused.append(error)
        finally:
            connection.close()

    with transaction.atomic():
        allocate(first, device.pk, 600)
        other = threading.Thread(target=take_too)
        other.start()
        make.wait_until_someone_waits_for_a_lock()
    other.join(10)
    assert len(refused) == 1
    assert DeviceAllocation.objects.count() == 1
