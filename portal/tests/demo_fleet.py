"""The demo organisation with its simulated nodes, for tests: seeded, enrolled, seeded again; and its story."""

from pathlib import Path
from typing import Any

from django.core.management import call_command
from msgspec import json

from accounts.models import Person
from agent import messages
from inventory.services import node_enrol
from projects.models import Project, TierFact
from quotas.models import Claim
from scheduling.models import AttemptMember, Job


def hardware(node: dict[str, Any]) -> messages.Hardware:
    """What a node of the fleet says it has."""
    devices = tuple(
        messages.DeviceReport(f"GPU-SIM-{node['name']}-{index}", index, node["gpu_model"], 80 << 30, is_simulated=True)
        for index in range(node["gpus"])
    )
    return messages.Hardware(
        node["name"], node["cpus"], node["memory_bytes"], node["disk_bytes"], devices, is_simulated=True
    )


def seed_with_fleet(path: Path) -> None:
    """As ``./run`` does it, every node of the fleet enrolling with its own one-time token."""
    call_command("seed_demo", fleet_spec=path)
    for node in json.decode(path.read_bytes())["nodes"]:
        node_enrol(message=messages.Enrol(messages.PROTOCOL, node["token"], "test", hardware(node)))
    call_command("seed_demo")


def story() -> dict[str, Any]:
    """What must be the same every time, without ids and instants."""
    return {
        "people": list(Person.objects.order_by("username").values_list("username", "display_name")),
        "projects": list(
            Project.objects.order_by("name").values_list("name", "state", "stage", "created_by__username")
        ),
        "tiers": list(TierFact.objects.order_by("project__name").values_list("project__name", "tier")),
        "claims": list(
            Claim.objects.order_by("project__name", "gpu_model__name", "guaranteed", "limit").values_list(
                "project__name", "gpu_model__name", "guaranteed", "limit"
            )
        ),
        "jobs": list(
            Job.objects.order_by("project__name", "name", "milli_gpus", "state", "owner__username").values_list(
                "project__name", "name", "milli_gpus", "state", "owner__username"
            )
        ),
        "keys": sorted(AttemptMember.objects.values_list("launch_key", flat=True)),
    }
