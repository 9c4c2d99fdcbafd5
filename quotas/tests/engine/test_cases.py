"""Every instance of the data folder gives what it is expected to give."""

import json
from pathlib import Path

import pytest

from kernel.documents import digest
from quotas.engine.auditing import audit
from quotas.engine.reading import read
from quotas.engine.solving import solve

_FOLDER = Path(__file__).parents[1] / "data" / "instances"
_CASES = sorted(path.name.removesuffix(".instance.json") for path in _FOLDER.glob("*.instance.json"))


@pytest.mark.parametrize("name", _CASES)
def test_the_plan_passes_its_audit(name: str) -> None:
    document = json.loads((_FOLDER / f"{name}.instance.json").read_text())
    plan = solve(read(document), sha256=digest(document)).plan
    assert audit(document, plan.document(seconds=0)) == []


@pytest.mark.parametrize("name", [name for name in _CASES if (_FOLDER / f"{name}.expect.json").exists()])
def test_the_plan_is_the_expected_one(name: str) -> None:
    plan = solve(read(json.loads((_FOLDER / f"{name}.instance.json").read_text()))).plan.document(seconds=0)
    expected = json.loads((_FOLDER / f"{name}.expect.json").read_text())
    rows = {(row["project"], row["model"]): row for row in plan["quotas"]}
    given = {pair: row["gpus"] for pair, row in rows.items() if row["gpus"]}
    assert given == {(who, model): gpus for who, part in expected["quotas"].items() for model, gpus in part.items()}
    assert [row["project"] for row in plan["exceptions"]] == expected.get("exceptions", [])
    assert plan["status"] == expected.get("status", "optimal")
    assert plan["relaxed_floors"] == expected.get("relaxed_floors", [])
    for key in ("guaranteed", "limit"):
        for who, part in expected.get(key, {}).items():
            assert {model: rows[who, model][key] for model in part} == part


def test_there_are_cases() -> None:
    assert len(_CASES) >= 10
