"""What happens to a node's samples."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agent.messages import SampleBatch, SampleReply
from inventory.models import Device, Node
from kernel import clock
from monitoring.errors import MalformedBatch
from monitoring.models import GpuLatest, GpuSample, HostLatest
from monitoring.services import samples_ingest
from monitoring.tests import factories
from monitoring.tests.factories import NOON

pytestmark = pytest.mark.django_db


def uuids(node: Node) -> list[str]:
    return list(node.devices.values_list("uuid", flat=True))


def ingest(node: Node, batch: SampleBatch, at: datetime | None = None) -> SampleReply:
    with clock.frozen(at or batch.sent_at + timedelta(milliseconds=250)):
        return samples_ingest(node=node, batch=batch)


def test_new_samples_are_kept_with_the_time_of_receipt_and_the_skew() -> None:
    node = factories.node()
    first, second = uuids(node)
    batch = factories.batch([factories.columns(first, [10.0, None]), factories.columns(second, [90.0, 80.0])])
    assert ingest(node, batch) == SampleReply(accepted=4, duplicates=0, refused=0)
    rows = GpuSample.objects.order_by("device_id", "at")
    assert [row.utilisation_pct for row in rows] == [10.0, None, 90.0, 80.0]
    assert {(row.skew_ms, row.received_at) for row in rows} == {(250, batch.sent_at + timedelta(milliseconds=250))}
    assert (rows[0].power_mw, rows[0].temperature_c, rows[0].clock_mhz) == (300_000, 60, 1700)


def test_the_same_batch_again_changes_nothing() -> None:
    node = factories.node(gpus=1)
    batch = factories.batch([factories.columns(uuids(node)[0], [1.0, 2.0])])
    ingest(node, batch)
    again = ingest(node, batch, at=batch.sent_at + timedelta(seconds=30))
    assert again == SampleReply(accepted=0, duplicates=2, refused=0)
    assert {row.skew_ms for row in GpuSample.objects.all()} == {250}


def test_only_a_newer_sample_becomes_the_latest() -> None:
    node = factories.node(gpus=1)
    uuid = uuids(node)[0]
    ingest(node, factories.batch([factories.columns(uuid, [50.0])], start=NOON))
    late = factories.batch([factories.columns(uuid, [7.0])], start=NOON - timedelta(minutes=5), sent_at=NOON)
    assert ingest(node, late).accepted == 1
    assert (GpuLatest.objects.get().utilisation_pct, GpuLatest.objects.get().at) == (50.0, NOON)
    ingest(node, factories.batch([factories.columns(uuid, [None])], start=NOON + timedelta(seconds=10)))
    assert GpuLatest.objects.get().utilisation_pct is None


def test_the_latest_of_a_batch_is_its_newest_instant_whatever_the_order() -> None:
    node = factories.node(gpus=1)
    plain = factories.batch([factories.columns(uuids(node)[0], [1.0, 2.0])], sent_at=NOON + timedelta(seconds=20))
    turned = SampleBatch(
        protocol=plain.protocol,
        boot_id=plain.boot_id,
        sent_at=plain.sent_at,
        is_simulated=False,
        at=tuple(reversed(plain.at)),
        devices=plain.devices,
    )
    ingest(node, turned)
    assert GpuLatest.objects.get().utilisation_pct == 1.0


def test_a_stranger_s_device_is_refused_and_the_rest_is_kept() -> None:
    node, other = factories.node(gpus=1), factories.node(gpus=1)
    batch = factories.batch(
        [
            factories.columns(uuids(node)[0], [10.0]),
            factories.columns(uuids(other)[0], [99.0]),
            factories.columns("GPU-nobody", [99.0]),
        ]
    )
    assert ingest(node, batch) == SampleReply(accepted=1, duplicates=0, refused=2)
    assert GpuSample.objects.get().device.node == node


def test_the_future_and_the_forgotten_are_refused_at_their_bounds() -> None:
    node = factories.node(gpus=1)
    columns = factories.columns(uuids(node)[0], [1.0, 2.0])
    ahead = factories.batch([columns], start=NOON + timedelta(minutes=5), step_s=1, sent_at=NOON)
    assert ingest(node, ahead, at=NOON) == SampleReply(accepted=1, duplicates=0, refused=1)
    old = factories.batch([columns], start=NOON - timedelta(hours=48, seconds=1), step_s=1, sent_at=NOON)
    assert ingest(node, old, at=NOON) == SampleReply(accepted=1, duplicates=0, refused=1)


def test_a_batch_all_from_the_future_is_refused_and_moves_no_latest() -> None:
    node = factories.node(gpus=1)
    batch = factories.batch(
        [factories.columns(uuids(node)[0], [1.0])],
        start=NOON + timedelta(hours=1),
        host=factories.host_columns(1),
    )
    assert ingest(node, batch, at=NOON) == SampleReply(accepted=0, duplicates=0, refused=1)
    assert not GpuLatest.objects.exists()
    assert not HostLatest.objects.exists()


def test_simulated_is_said_by_the_device_and_not_by_the_batch() -> None:
    real, fake = factories.node(gpus=1), factories.node(gpus=1, is_simulated=True)
    ingest(real, factories.batch([factories.columns(uuids(real)[0], [1.0])], is_simulated=True))
    ingest(fake, factories.batch([factories.columns(uuids(fake)[0], [1.0])], is_simulated=False))
    assert dict(GpuLatest.objects.values_list("device__node_id", "is_simulated")) == {real.pk: False, fake.pk: True}
    assert dict(GpuSample.objects.values_list("device__node_id", "is_simulated")) == {real.pk: False, fake.pk: True}


def test_host_values_are_kept_only_if_newer() -> None:
    node = factories.node(gpus=0)
    ingest(node, factories.batch([], host=factories.host_columns(2, cpu_pct=20.0)))
    ingest(node, factories.batch([], start=NOON - timedelta(minutes=1), host=factories.host_columns(2, cpu_pct=99.0)))
    latest = HostLatest.objects.get()
    assert (latest.cpu_pct, latest.memory_used_bytes, latest.network_rx_bytes) == (20.0, 1 << 30, None)
    assert latest.at == NOON + timedelta(seconds=10)


def test_columns_of_another_length_are_refused_by_path() -> None:
    node = factories.node(gpus=2)
    first, second = uuids(node)
    good, short = factories.columns(first, [1.0, 2.0]), factories.columns(second, [1.0])
    with pytest.raises(MalformedBatch) as caught:
        ingest(node, factories.batch([good, short], host=factories.host_columns(3)))
    assert set(caught.value.errors) == {
        *(f"devices.1.{name}" for name in short.__struct_fields__ if name != "uuid"),
        *(f"host.{name}" for name in factories.host_columns(0).__struct_fields__),
    }
    assert "1 values; 2 are expected" in caught.value.errors["devices.1.power_mw"][0]
    assert not GpuSample.objects.exists()


def test_the_number_of_statements_does_not_depend_on_the_size() -> None:
    def statements(gpus: int, instants: int) -> int:
        node = factories.node(gpus=gpus)
        columns = [factories.columns(uuid, [5.0] * instants) for uuid in uuids(node)]
        batch = factories.batch(columns, host=factories.host_columns(instants))
        with CaptureQueriesContext(connection) as captured:
            ingest(node, batch)
        return len(captured)

    statements(1, 1)  # Makes the partition.
    small, large = statements(1, 1), statements(16, 360)
    assert small == large <= 8


def test_a_batch_across_midnight_loses_no_row() -> None:
    node = factories.node(gpus=1)
    midnight = NOON.replace(hour=0)
    values: list[float | None] = [float(index) for index in range(6)]
    batch = factories.batch([factories.columns(uuids(node)[0], values)], start=midnight - timedelta(seconds=30))
    assert ingest(node, batch).accepted == 6
    assert GpuSample.objects.filter(at__gte=midnight).count() == 3
    assert Device.objects.count() == 1
