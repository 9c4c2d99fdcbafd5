"""Nodes report, fall silent and come back; capacity never moves with it (INV1, INV5)."""

from datetime import datetime, timedelta

import msgspec
import pytest

from accounts.models import Person
from accounts.tests import factories as people
from agent.messages import MAX_DEVICES, Hardware, Sync
from inventory.errors import UnknownNode
from inventory.models import CapacityFact, Device, Node
from inventory.selectors import agents_health, gpu_counts, silent_nodes
from inventory.services import node_mark_silent, node_report
from inventory.states import NodeState
from inventory.tests import factories as make
from kernel import clock
from kernel.models import OutboxEvent, StateChange
from kernel.states import transition

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Person:
    return people.admin()


def states() -> dict[str, str]:
    return dict(Device.objects.values_list("uuid", "state"))


def lacking(hardware: Hardware, *indexes: int) -> Hardware:
    left = tuple(device for device in hardware.devices if device.index not in indexes)
    return msgspec.structs.replace(hardware, devices=left)


def test_a_device_that_is_missing_is_lost_and_comes_back_and_capacity_stays(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 3)
    hardware = make.hardware("n1", 3)
    reported = node_report(node=node, sync=make.sync(lacking(hardware, 1), 1))
    assert (reported.lost, reported.found) == (("GPU-n1-1",), ())
    assert states() == {"GPU-n1-0": "ok", "GPU-n1-1": "lost", "GPU-n1-2": "ok"}
    count = gpu_counts([node])[node.pk]
    assert (count.accepted, count.reported, count.differs) == (3, 2, True)
    assert CapacityFact.objects.get().gpus == 3
    reported = node_report(node=node, sync=make.sync(hardware, 2))
    assert reported.found == ("GPU-n1-1",)
    assert not gpu_counts([node])[node.pk].differs
    topics = OutboxEvent.objects.filter(topic="node.devices_changed").order_by("pk").values_list("data", flat=True)
    assert list(topics) == [{"lost": ["GPU-n1-1"], "found": []}, {"lost": [], "found": ["GPU-n1-1"]}]


def test_a_device_that_the_node_calls_lost_is_lost(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 1)
    hardware = make.hardware("n1", 1)
    broken = msgspec.structs.replace(hardware.devices[0], state="lost")
    node_report(node=node, sync=make.sync(msgspec.structs.replace(hardware, devices=(broken,))))
    assert states() == {"GPU-n1-0": "lost"}


def test_a_new_card_is_shown_and_is_no_capacity(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 2)
    node_report(node=node, sync=make.sync(make.hardware("n1", 4)))
    count = gpu_counts([node])[node.pk]
    assert (count.accepted, count.reported) == (2, 4)
    assert CapacityFact.objects.get().gpus == 2


def test_a_card_moves_with_its_uuid_only_when_its_node_has_lost_it(admin: Person) -> None:
    first, _answer = make.enrolled(admin, "n1", 2)
    second, _answer = make.enrolled(admin, "n2", 1)
    both = msgspec.structs.replace(make.hardware("n2", 1), devices=make.devices("n2", 1) + make.devices("n1", 2)[1:])
    assert node_report(node=second, sync=make.sync(both, 1)).found == ()
    assert Device.objects.get(uuid="GPU-n1-1").node == first
    node_report(node=first, sync=make.sync(lacking(make.hardware("n1", 2), 1)))
    assert node_report(node=second, sync=make.sync(both, 2)).found == ("GPU-n1-1",)
    assert Device.objects.get(uuid="GPU-n1-1").node == second


def test_an_older_message_of_the_same_boot_writes_nothing(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 2)
    hardware = make.hardware("n1", 2)
    assert node_report(node=node, sync=make.sync(hardware, 5)).is_current
    assert not node_report(node=node, sync=make.sync(lacking(hardware, 0), 4)).is_current
    assert set(states().values()) == {"ok"}
    assert node_report(node=node, sync=make.sync(hardware, 5)).is_current
    assert node_report(node=node, sync=make.sync(lacking(hardware, 0), 1, "boot-2")).lost == ("GPU-n1-0",)
    node.refresh_from_db()
    assert (node.boot_id, node.sync_sequence) == ("boot-2", 1)


def silent_at(node: Node) -> datetime:
    heard = node.last_seen_at or node.registered_at
    return heard + timedelta(seconds=node.pool.lost_after_s + 1)


def test_silence_makes_a_node_down_and_its_next_word_brings_it_back(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 2)
    other, _answer = make.enrolled(admin, "n2", 2)
    node_report(node=node, sync=make.sync(make.hardware("n1", 2), 1))
    node.refresh_from_db()
    assert node.last_seen_at is not None
    assert node_mark_silent(node.last_seen_at + timedelta(seconds=30)) == []
    Node.objects.filter(pk=other.pk).update(last_seen_at=silent_at(node))
    assert node_mark_silent(silent_at(node)) == [node]
    assert node_mark_silent(silent_at(node)) == []
    reported = node_report(node=node, sync=make.sync(make.hardware("n1", 2), 2))
    assert (reported.node.state, reported.state_changed) == (NodeState.UP, True)
    events = [change.event for change in StateChange.objects.order_by("pk")]
    assert events == ["lose", "return"]
    news = OutboxEvent.objects.filter(topic="node.state_changed").order_by("pk").values_list("data", flat=True)
    assert list(news) == [{"from": "up", "to": "down"}, {"from": "down", "to": "up"}]


def test_each_pool_has_its_own_patience_and_a_draining_node_stays_draining(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 2)
    node.pool.lost_after_s = 600
    node.pool.save(update_fields=["lost_after_s"])
    now = node.registered_at
    assert not silent_nodes(now + timedelta(seconds=599)).exists()
    assert silent_nodes(now + timedelta(seconds=601)).exists()
    transition(node, "drain", actor=admin)
    assert node_mark_silent(now + timedelta(seconds=601)) == []


def test_an_agent_that_leaves_takes_its_node_down_at_once(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 2)
    hardware = make.hardware("n1", 2)
    left = node_report(node=node, sync=make.sync(hardware, 1, is_leaving=True))
    assert left.node.state == NodeState.DOWN
    assert node_report(node=node, sync=make.sync(hardware, 2)).node.state == NodeState.UP


def test_a_removed_node_is_not_listened_to(admin: Person) -> None:
    node, _answer = make.enrolled(admin, "n1", 2)
    for event in ("drain", "remove"):
        transition(node, event, actor=admin)
    with pytest.raises(UnknownNode):
        node_report(node=node, sync=make.sync(make.hardware("n1", 2)))


def test_health_counts_the_nodes_and_is_well_without_any(admin: Person) -> None:
    assert agents_health().ok
    node, _answer = make.enrolled(admin, "n1", 2)
    assert (agents_health().ok, agents_health().detail) == (False, "0 of 1 up nodes heard")
    node_report(node=node, sync=make.sync(make.hardware("n1", 2)))
    down, _answer = make.enrolled(admin, "n2", 2)
    transition(down, "lose", actor=None)
    assert (agents_health().ok, agents_health().detail) == (True, "1 of 1 up nodes heard; 1 down")
    Node.objects.filter(pk=node.pk).update(last_seen_at=clock.database_now() - timedelta(minutes=5))
    assert not agents_health().ok


def test_a_report_of_what_is_known_costs_few_queries(admin: Person, django_assert_max_num_queries: object) -> None:
    node, _answer = make.enrolled(admin, "n1", 8)
    hardware = make.hardware("n1", 8)
    node_report(node=node, sync=make.sync(hardware, 1))
    with django_assert_max_num_queries(7):  # type: ignore[operator]
        node_report(node=node, sync=make.sync(hardware, 2))


def test_a_report_of_more_devices_than_a_node_can_have_is_no_report() -> None:
    """Each new one is a row, and its model a row of the catalogue, written while the node is locked."""
    most = msgspec.json.encode(make.sync(make.hardware("n1", MAX_DEVICES)))
    assert len(msgspec.json.decode(most, type=Sync).hardware.devices) == MAX_DEVICES
    with pytest.raises(msgspec.ValidationError, match=r"hardware\.devices"):
        msgspec.json.decode(msgspec.json.encode(make.sync(make.hardware("n1", MAX_DEVICES + 1))), type=Sync)
