"""The audit finds what is wrong with a plan, rule by rule."""

from collections.abc import Callable
from typing import Any

import pytest

from kernel.documents import BadInput, digest
from quotas.engine.auditing import audit
from quotas.engine.reading import read
from quotas.engine.solving import solve
from quotas.tests.engine.instances import Shape, ask, instance, model, project, random_instance

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def document() -> dict[str, Any]:
    rows = [
        project("a", models={"h100": ask(8, least=2), "a100": ask(4, suitability=0.5)}, max_total=10),
        project("b", tier="low"),
        project("n", granularity=8, max_total=16, models={"a100": ask(16)}),
        project("p", pinned={"h100": 3}),
        project("f", tier="high", models={"b200": ask(8, least=6)}),
        project("g", tier="high", score=40, models={"b200": ask(8, least=6)}),
    ]
    return instance(rows, [model(capacity=14), model("a100", 20), model("b200", 8)])


@pytest.fixture
def plan(document: dict[str, Any]) -> dict[str, Any]:
    return solve(read(document), sha256=digest(document)).plan.document(seconds=0.1)


def _quota(plan: dict[str, Any], who: str, name: str = "h100") -> dict[str, Any]:
    return next(row for row in plan["quotas"] if (row["project"], row["model"]) == (who, name))


def _share(plan: dict[str, Any], who: str) -> dict[str, Any]:
    return next(row for row in plan["projects"] if row["project"] == who)


def _more(who: str, by: int, name: str = "h100") -> Change:
    def change(plan: dict[str, Any]) -> None:
        _quota(plan, who, name)["gpus"] += by

    return change


def _give_nothing(plan: dict[str, Any]) -> None:
    for row in plan["quotas"]:
        row["gpus"] = row["guaranteed"] = 0


_BROKEN: list[tuple[Change, str]] = [
    (_more("a", 20), "h100: 34 GPUs given, 14 usable"),
    (_more("a", -7), "below the floor of 2"),
    (_more("b", 9), "above the maximum of 8"),
    (_more("p", 1), "above the maximum of 3"),
    (_more("p", -1), "below the floor of 3"),
    (_more("n", 1, "a100"), "are no multiple of 8"),
    (_more("a", 4, "a100"), "a: "),
    (lambda plan: _quota(plan, "a").update(guaranteed=0), "a, h100: guaranteed 0"),
    (lambda plan: _quota(plan, "b").update(guaranteed=1), "b, h100: guaranteed 1"),
    (lambda plan: _quota(plan, "a").update(limit=99), "a, h100: limit 99"),
    (lambda plan: plan["quotas"].remove(_quota(plan, "b")), "b, h100: missing in quotas"),
    (lambda plan: plan["quotas"].append(dict(_quota(plan, "b"), model="a100")), "does not ask for this model"),
    (lambda plan: plan["projects"].remove(_share(plan, "b")), "b: not in the plan's projects"),
    (lambda plan: _share(plan, "b").update(project="zz"), "zz: no project of the instance"),
    (lambda plan: _share(plan, "a").update(effective=1.0), "a: effective 1.0"),
    (lambda plan: _share(plan, "a").update(level=0.01), "a: level 0.01"),
    (lambda plan: _share(plan, "a").update(exact_level=50.0), "above 1 / weight"),
    (lambda plan: _share(plan, "a").update(entitlement=0.0), "a: entitlement 0.0 is below what is owed"),
    (lambda plan: _share(plan, "a").update(entitlement=20.0), "more than one GPU"),
    (lambda plan: _share(plan, "n").update(entitlement=30.0), "not named as an exception"),
    (lambda plan: _share(plan, "a")["reasons"].append({"kind": "luck", "text": "."}), "unknown kind of reason"),
    (lambda plan: plan["exceptions"].append({"project": "n", "reason": "granularity"}), "within one granule"),
    (lambda plan: plan["exceptions"].append({"project": "n", "reason": "luck"}), "not granularity"),
    (lambda plan: plan["relaxed_floors"].clear(), "g, b200: relaxed floor None"),
    (lambda plan: plan.update(status="optimal"), "status: optimal with 1 relaxed floors"),
    (lambda plan: plan["models"][0].update(given=1), "h100: usable 14 and given"),
    (lambda plan: plan["churn"].update(moved_gpus=0), "churn: "),
    (lambda plan: plan.update(instance_sha256="0" * 64), "made for another instance"),
    (_give_nothing, "could take 1 more"),
    (lambda plan: plan["exceptions"].append({"project": "zz", "reason": "granularity"}), "zz: no project"),
    (lambda plan: plan["models"].append({"model": "t4", "usable": 4, "given": 0}), "t4: no GPU model"),
    (lambda plan: plan["fairness"].update(min_exact_level=0.9), "fairness: min_exact_level 0.9"),
    (lambda plan: plan["fairness"].update(min_level=None), "fairness: min_level None"),
    (lambda plan: plan["churn"].update(tolerance_used=0.3), "churn: tolerance_used 0.3, not within 0.0"),
    (lambda plan: plan.update(status="feasible"), "status: feasible without a gap"),
    (lambda plan: plan.update(status="optimal", gap=0.1), "status: optimal with a gap"),
]


def test_a_plan_of_the_solver_passes(document: dict[str, Any], plan: dict[str, Any]) -> None:
    assert plan["status"] == "infeasible_floors"
    assert audit(document, plan) == []


@pytest.mark.parametrize(("change", "said"), _BROKEN, ids=[said for _, said in _BROKEN])
def test_what_is_wrong_is_found(document: dict[str, Any], plan: dict[str, Any], change: Change, said: str) -> None:
    change(plan)
    assert any(said in line for line in audit(document, plan)), audit(document, plan)


def test_too_many_exceptions_and_too_large_ones(document: dict[str, Any], plan: dict[str, Any]) -> None:
    plan["exceptions"] = [{"project": name, "reason": "granularity"} for name in "abnp"]
    _share(plan, "n")["entitlement"] = 100.0
    lines = audit(document, plan)
    assert "exceptions: 4, more than the 3 models" in lines
    assert any("more than a granule of each model" in line for line in lines)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda plan: plan.update(schema="plan/2"), "$.schema"),
        (lambda plan: plan.update(status="fine"), "$.status"),
        (lambda plan: plan.pop("quotas"), "$.quotas"),
        (lambda plan: plan["quotas"].append(plan["quotas"][0]), "$.quotas[7]"),
        (lambda plan: plan["projects"].append(plan["projects"][0]), "$.projects[6]"),
        (lambda plan: plan["models"].append(plan["models"][0]), "$.models[3]"),
        (lambda plan: plan["relaxed_floors"].append(plan["relaxed_floors"][0]), "$.relaxed_floors[1]"),
        (lambda plan: plan["exceptions"].extend([{"project": "n", "reason": "granularity"}] * 2), "$.exceptions[1]"),
        (lambda plan: plan["fairness"].pop("min_level"), "$.fairness.min_level"),
        (lambda plan: plan["projects"][0].update(level="high"), "$.projects[0].level"),
    ],
)
def test_what_is_no_plan_is_refused(document: dict[str, Any], plan: dict[str, Any], change: Change, path: str) -> None:
    change(plan)
    with pytest.raises(BadInput) as refusal:
        audit(document, plan)
    assert path in [fault.path for fault in refusal.value.faults]


def test_what_is_missing_in_a_plan_is_said_once(document: dict[str, Any], plan: dict[str, Any]) -> None:
    del plan["status"]
    plan["projects"] = [{}, {}]
    with pytest.raises(BadInput) as refusal:
        audit(document, plan)
    paths = [fault.path for fault in refusal.value.faults]
    assert paths[0] == "$.status"
    assert len(paths) == len(set(paths)) == 13


def test_where_a_gpu_is_worth_little_a_granule_is_still_one() -> None:
    document = instance([project("a", models={"h100": ask(8, suitability=1e-6)})])
    plan = solve(read(document), sha256=digest(document)).plan.document(seconds=0)
    assert audit(document, plan) == []
    _quota(plan, "a").update(gpus=0, guaranteed=0)
    _share(plan, "a").update(effective=0.0, level=0.0)
    assert "a: 8e-06 effective GPUs below its entitlement, more than one GPU" in audit(document, plan)


def test_an_answer_within_a_rounding_error_of_a_granule_is_no_exception() -> None:
    """Nine digits of what little a node is worth."""
    row = project(
        "a", granularity=8, max_total=16, models={"h100": ask(8, suitability=1e-5), "a100": ask(8, suitability=1e-5)}
    )
    document = instance([row], [model(capacity=7), model("a100", 2)])
    plan = solve(read(document), sha256=digest(document)).plan
    assert plan.exceptions == ("a",)
    assert audit(document, plan.document(seconds=0)) == []


def _shared(shares: dict[str, int], level: Callable[[int], float]) -> list[str]:
    """The audit of a plan for three alike on 12 GPUs, 8 asked by each, made elsewhere."""
    document = instance([project(name) for name in shares], [model(capacity=12)])
    plan = solve(read(document), sha256=digest(document)).plan.document(seconds=0)
    for name, gpus in shares.items():
        _quota(plan, name).update(gpus=gpus, guaranteed=gpus)
        _share(plan, name).update(effective=gpus, level=gpus / 8, entitlement=gpus, exact_level=level(gpus))
    lowest = min(shares.values())
    plan["fairness"] = {"min_exact_level": level(lowest), "min_level": lowest / 8, "p10_level": lowest / 8}
    return audit(document, plan)


def test_an_unfair_plan_is_found_though_its_numbers_agree() -> None:
    assert _shared({"a": 4, "b": 4, "c": 4}, lambda gpus: gpus / 8) == []
    lines = _shared({"a": 6, "b": 3, "c": 3}, lambda gpus: gpus / 8)
    assert lines
    assert all("exact_level 0.375 could be higher at no lower one's cost" in line for line in lines)
    assert any("exact_level 0.0 could be higher" in line for line in _shared({"a": 4, "b": 4, "c": 4}, lambda _: 0.0))


def test_levels_that_cannot_be_had_together_are_found(document: dict[str, Any], plan: dict[str, Any]) -> None:
    lines = _shared({"a": 4, "b": 4, "c": 4}, lambda _gpus: 0.51)
    assert "exact_level: 0.24 GPUs are lacking for all levels together" in lines


@pytest.mark.parametrize("seed", range(30))
def test_a_level_moved_from_one_project_to_another_is_found(seed: int) -> None:
    document = random_instance(seed, Shape(projects=(2, 12), models=(1, 4), tolerance=(0.0,)))
    plan = solve(read(document), sha256=digest(document)).plan.document(seconds=0)
    row = max(plan["projects"], key=lambda share: share["exact_level"])
    row["exact_level"] *= 0.8
    found = [line for line in audit(document, plan) if "could be higher" in line]
    assert bool(found) == (row["exact_level"] > 0), "it could have what it has"


def test_no_document_is_no_plan(document: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        audit(document, [])
