"""Rows and messages for tests, as they come into being in life."""

from datetime import UTC, datetime

from accounts.models import Person
from agent.messages import PROTOCOL, DeviceReport, Enrol, Enrolled, Hardware, Sync
from inventory.models import Node, Pool, Source
from inventory.services import EnrolmentSpec, enrolment_token_issue, node_enrol

GIB = 2**30


def pool(name: str = "shared", **fields: object) -> Pool:
    return Pool.objects.get_or_create(name=name, defaults={"title": name.capitalize(), **fields})[0]


def devices(node: str, gpus: int, model: str = "NVIDIA H100 80GB HBM3") -> tuple[DeviceReport, ...]:
    return tuple(DeviceReport(f"GPU-{node}-{i}", i, model, 80 * GIB, False) for i in range(gpus))


def hardware(node: str, gpus: int = 8, model: str = "NVIDIA H100 80GB HBM3") -> Hardware:
    return Hardware(node, 96, 1024 * GIB, 4096 * GIB, devices(node, gpus, model), is_simulated=False)


def enrol_message(secret: str, hw: Hardware) -> Enrol:
    return Enrol(PROTOCOL, secret, "1.0", hw)


def token(actor: Person, name: str, where: Pool | None = None, source: str = Source.OWNED) -> str:
    spec = EnrolmentSpec(name, (where or pool()).pk, source)
    return enrolment_token_issue(actor=actor, spec=spec)[1]


def enrolled(
    actor: Person, name: str, gpus: int = 8, model: str = "NVIDIA H100 80GB HBM3", source: str = Source.OWNED
) -> tuple[Node, Enrolled]:
    """A node that has enrolled, and the answer it got."""
    answer = node_enrol(message=enrol_message(token(actor, name, source=source), hardware(name, gpus, model)))
    return Node.objects.get(pk=answer.node_id), answer


def sync(hw: Hardware, sequence: int = 1, boot_id: str = "boot-1", *, is_leaving: bool = False) -> Sync:
    return Sync(PROTOCOL, boot_id, sequence, datetime.now(UTC), "1.0", hw, is_leaving=is_leaving)
