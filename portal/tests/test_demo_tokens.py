"""The fleet's one-time tokens, when a start of the demo was interrupted while its nodes enrolled."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from accounts.tests import factories as people
from agent import messages
from inventory.errors import EnrolmentTokenSpent
from inventory.models import Node
from inventory.services import node_enrol
from portal.demo.fleet import seed_pools, write_spec
from portal.tests.demo_fleet import hardware

pytestmark = pytest.mark.django_db


def enrols(node: dict[str, Any]) -> messages.Enrolled:
    return node_enrol(message=messages.Enrol(messages.PROTOCOL, node["token"], "test", hardware(node)))


def keeps(home: Path, node: dict[str, Any]) -> None:
    """The simulator has written down who this node is."""
    folder = home / "nodes" / node["name"]
    folder.mkdir(parents=True)
    (folder / "node.json").write_bytes(json.encode(enrols(node)))


def nodes_in(path: Path) -> list[dict[str, Any]]:
    return list(json.decode(path.read_bytes())["nodes"])


def test_what_was_interrupted_gets_a_new_token_and_what_enrolled_keeps_none(tmp_path: Path) -> None:
    admin, path, home = people.admin(), tmp_path / "fleet.json", tmp_path / "fleet"
    seed_pools(admin)
    write_spec(admin, path, home)
    kept, half, untouched, *_ = before = nodes_in(path)
    keeps(home, kept)
    half_id = enrols(half).node_id
    write_spec(admin, path, home)
    after = nodes_in(path)
    assert [node["name"] for node in after] == [node["name"] for node in before]
    assert after[0]["token"] == ""
    assert enrols(after[1]).node_id == half_id
    with pytest.raises(EnrolmentTokenSpent):
        enrols(untouched)
    assert enrols(after[2]).node_name == untouched["name"]
    assert Node.objects.count() == 3


def test_when_all_have_enrolled_the_file_stays(tmp_path: Path) -> None:
    admin, path, home = people.admin(), tmp_path / "fleet.json", tmp_path / "fleet"
    seed_pools(admin)
    write_spec(admin, path, home)
    for node in nodes_in(path):
        keeps(home, node)
    before = path.read_bytes()
    write_spec(admin, path, home)
    assert path.read_bytes() == before
