"""Which floors are kept when not all can be: by rank, named, never silently."""

from typing import Any

from quotas.engine.auditing import audit
from quotas.engine.floors import Bounds, Relaxed, bounds_of
from quotas.engine.reading import read
from quotas.engine.solving import solve
from quotas.tests.engine.instances import ask, instance, model, project


def _bounds(projects: list[dict[str, Any]], *models: dict[str, Any]) -> Bounds:
    return bounds_of(read(instance(projects, list(models) or None)))


def _floor(name: str, least: int, **changes: Any) -> dict[str, Any]:
    return project(name, max_total=64, models={"h100": ask(64, least=least)}, **changes)


def test_floors_that_fit_are_kept() -> None:
    bounds = _bounds([_floor("a", 10), _floor("b", 6)])
    assert bounds.least == {("a", "h100"): 10, ("b", "h100"): 6}
    assert bounds.relaxed == ()


def test_a_pin_comes_before_any_floor() -> None:
    pinned = project("z", tier="low", models={"h100": ask(8)}, pinned={"h100": 12})
    bounds = _bounds([_floor("a", 10, tier="high"), pinned])
    assert bounds.least == {("a", "h100"): 4, ("z", "h100"): 12}
    assert bounds.relaxed == (Relaxed("a", "h100", 10, 4),)
    assert bounds.relaxed[0].shortfall == 6


def test_rank_is_tier_then_score_then_id() -> None:
    rows = [
        _floor("d", 6, tier="mid", score=90),
        _floor("c", 6, tier="high", score=10),
        _floor("b", 6, tier="high", score=50),
        _floor("a", 6, tier="high", score=50),
    ]
    kept = _bounds(rows).least
    assert [kept[name, "h100"] for name in "abcd"] == [6, 6, 4, 0]


def test_later_floors_use_what_whole_nodes_leave() -> None:
    node = project("n", tier="high", granularity=8, max_total=64, models={"h100": ask(64, least=24)})
    bounds = _bounds([node, _floor("u", 5)], model(capacity=20))
    assert bounds.least == {("n", "h100"): 16, ("u", "h100"): 4}


def test_pins_leave_the_other_floors_from_best_suitability_down() -> None:
    models = {"h100": ask(8, least=3, suitability=0.5), "a100": ask(8, least=3, suitability=0.9), "b200": ask(8)}
    row = project("a", max_total=8, models=models, pinned={"b200": 4})
    bounds = _bounds([row], model(), model("a100"), model("b200"))
    assert bounds.least == {("a", "b200"): 4, ("a", "a100"): 3, ("a", "h100"): 1}
    assert bounds.total == {"a": 8}


def test_pins_above_the_total_raise_it() -> None:
    row = project("a", max_total=8, models={"h100": ask(8, least=2), "a100": ask(8)}, pinned={"a100": 12})
    bounds = _bounds([row], model(), model("a100"))
    assert bounds.total == {"a": 12}
    assert bounds.least == {("a", "a100"): 12, ("a", "h100"): 0}
    assert bounds.relaxed == (Relaxed("a", "h100", 2, 0),)


def test_a_cut_pin_stays_an_upper_bound() -> None:
    row = project("a", models={"h100": ask(8)}, pinned={"h100": 40})
    bounds = _bounds([row])
    assert (bounds.least["a", "h100"], bounds.most["a", "h100"]) == (16, 40)


def test_what_is_of_no_use_is_given_by_pins_only() -> None:
    useless = {"h100": ask(8, suitability=0.0)}
    bounds = _bounds([project("a", models=useless), project("b", models=useless, pinned={"h100": 3})])
    assert bounds.most == {("a", "h100"): 0, ("b", "h100"): 3}


def test_equally_suitable_models_are_taken_in_the_order_of_the_instance() -> None:
    models = {"a100": ask(8, least=3), "h100": ask(8, least=3), "b200": ask(8)}
    row = project("a", max_total=8, models=models, pinned={"b200": 4})
    bounds = _bounds([row], model("h100"), model("a100"), model("b200"))
    assert bounds.least == {("a", "b200"): 4, ("a", "h100"): 3, ("a", "a100"): 1}
    kept = {(cut.project, cut.model) for cut in bounds.relaxed}
    document = instance([row], [model("h100"), model("a100"), model("b200")])
    plan = solve(read(document)).plan
    assert {(cut.project, cut.model) for cut in plan.relaxed_floors} == kept == {("a", "a100")}
    assert audit(document, plan.document(seconds=0)) == []
