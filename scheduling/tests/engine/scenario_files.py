"""Scenarios as documents: those of the data folder, and short ways to write one."""

import json
from pathlib import Path
from typing import Any

from kernel.documents import parse
from scheduling.engine.scenario import Scenario, read

FOLDER = Path(__file__).parent / "data" / "scenarios"


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.json"))


def document_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = parse(path.read_text(encoding="utf-8"), is_exact=True)
    return found


def read_again(document: dict[str, Any]) -> Scenario:
    """As it would be read from a file: fractions as decimals."""
    return read(parse(json.dumps(document), is_exact=True))


def small() -> dict[str, Any]:
    """Two nodes, a group, two projects, something that runs, stops and waits; without a fault."""
    return {
        "schema": "scenario/1",
        "now": 100,
        "nodes": [
            {"name": "n0", "gpu_model": "gpu-a", "gpus": 4, "cpus": 64, "memory_mb": 1000, "gpu_memory_mb": 80},
            {"name": "n1", "gpu_model": "gpu-b", "gpus": 4, "state": "draining", "interconnect": "nvlink"},
        ],
        "reserve": {"gpu-a": 1},
        "groups": [{"name": "area", "guaranteed": {"gpu-a": 3}}, {"name": "part", "parent": "area"}],
        "projects": [
            {"name": "q0", "group": "part", "guaranteed": {"gpu-a": 1}, "limit": {"gpu-a": None, "gpu-b": 2.5}},
            {"name": "q1", "weight": 0.5, "rank": -1, "past_use": {"gpu-a": 0.25}, "created_order": 3},
        ],
        "jobs": [
            {"id": "r0", "project": "q0", "gpu_model": "gpu-a", "gpus": 1, "state": "running", "placement": {"n0": 1}},
            {"id": "s0", "project": "q1", "gpus": 0.5, "state": "stopping", "placement": {"n0": 0.5}},
            {"id": "p0", "project": "q1", "gpu_models": ["gpu-a", "gpu-b"], "gpus": 4, "nodes_exact": 2},
        ],
        "windows": [{"id": "w0", "project": "q0", "gpu_model": "gpu-a", "gpus": 1, "start": 200, "end": 300}],
        "earmarks": [{"job": "p0", "node": "n0", "gpus": 1}],
        "policy": {"starvation_after_s": 60, "grace_s": 30, "interruptions_per_day": 1},
        "usage_sensitivity": 0.5,
    }
