"""The import contract names every room: a new one cannot stand outside it."""

import tomllib
from typing import Any

from django.conf import settings

from portal.setup.places import ROOT

CONTRACTS: dict[str, dict[str, Any]] = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}


def test_every_room_has_its_layer() -> None:
    rooms = {app for app in settings.INSTALLED_APPS if (ROOT / app).is_dir()}
    assert set(CONTRACTS["layers"]["layers"]) == rooms


def test_the_agent_is_kept_from_every_room() -> None:
    assert set(CONTRACTS["layers"]["layers"]) <= set(CONTRACTS["agent"]["forbidden_modules"])
    assert set(CONTRACTS["messages"]["source_modules"]) == set(CONTRACTS["layers"]["layers"])


def test_every_engine_is_held_to_the_rules_of_engines() -> None:
    engines = {f"{path.parent.parent.name}.engine" for path in ROOT.glob("*/engine/__init__.py")}
    assert set(CONTRACTS["engines"]["source_modules"]) == engines
