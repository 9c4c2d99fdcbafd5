"""What is said to give more gives more: the bound is raised by K granules, and the project's share rises."""

import copy
import random
from collections import Counter
from typing import Any

import pytest

from quotas.engine.plan import Plan, ProjectShare, Reason, Why
from quotas.engine.reading import read
from quotas.engine.solving import solve
from quotas.tests.engine.instances import Shape, ask, instance, model, project, random_instance

_RAISABLE = {Why.OWN_CAP, Why.TOTAL_CAP, Why.CAPACITY}


def _plan(document: dict[str, Any]) -> Plan:
    return solve(read(document)).plan


def _share(plan: Plan, name: str) -> ProjectShare:
    return next(share for share in plan.projects if share.project == name)


def _kinds(plan: Plan, name: str) -> list[tuple[str, str | None]]:
    return [(reason.kind, reason.model) for reason in _share(plan, name).reasons]


def _raised(document: dict[str, Any], name: str, reason: Reason) -> dict[str, Any]:
    """The instance with just this bound raised by K granules of the project."""
    changed = copy.deepcopy(document)
    row = next(row for row in changed["projects"] if row["id"] == name)
    gain = len(changed["gpu_models"]) * row["granularity"]
    if reason.kind is Why.OWN_CAP:
        row["models"][reason.model]["max"] += gain
    elif reason.kind is Why.TOTAL_CAP:
        row["max_total"] += gain
    else:
        next(part for part in changed["gpu_models"] if part["name"] == reason.model)["capacity"] += gain
    return changed


@pytest.mark.parametrize("seed", range(24))
def test_what_is_said_to_give_more_does(seed: int) -> None:
    document = random_instance(seed, Shape(projects=(2, 12), models=(1, 5), tolerance=(0.0, 0.05, 0.1)))
    tried: Counter[str] = Counter()
    for share in _plan(document).projects:
        for reason in (reason for reason in share.reasons if reason.kind in _RAISABLE):
            after = _share(_plan(_raised(document, share.project, reason)), share.project)
            rises = after.exact_level > share.exact_level + 1e-7 or after.entitlement > share.entitlement + 1e-5
            assert rises, f"{share.project}: {reason.text}"
            tried[reason.kind] += 1
    assert tried, "an instance in which nobody could have more shows nothing"


def test_a_model_that_is_used_up_holds_back() -> None:
    plan = _plan(instance([project("a"), project("b")], [model(capacity=10)]))
    assert _kinds(plan, "a") == [("capacity", "h100")]
    assert plan.models[0].price == pytest.approx(1 / 16)
    assert _share(plan, "a").reasons[0].values["price"] == pytest.approx(1 / 16)
    assert "one more GPU of it" in _share(plan, "a").reasons[0].text


def test_a_reserve_above_the_capacity_leaves_nothing_to_promise() -> None:
    """Two more GPUs would all go to the reserve."""
    models = [model(capacity=2, reserve=5), model("a100", 1)]
    rows = [project(name, models={"h100": ask(), "a100": ask()}) for name in "ab"]
    assert _kinds(_plan(instance(rows, models)), "a") == [("capacity", "a100")]
    models[0]["capacity"] = 4
    assert _kinds(_plan(instance(rows, models)), "a") == [("capacity", "h100"), ("capacity", "a100")]


def test_a_total_holds_back() -> None:
    both = {"h100": ask(8), "a100": ask(8)}
    plan = _plan(instance([project("a", max_total=8, models=both)], [model(), model("a100")]))
    assert ("total_cap", None) in _kinds(plan, "a")


def test_a_maximum_holds_back() -> None:
    plan = _plan(instance([project("a", max_total=16)]))
    assert _kinds(plan, "a") == [("own_cap", "h100")]


def test_rules_are_named() -> None:
    rows = [
        project("pin", models={"h100": ask(8), "a100": ask(8)}, pinned={"a100": 2}, max_total=16),
        project("low", tier="low"),
        project("none", models={"h100": ask(8, suitability=0.0)}),
        project("floor", models={"h100": ask(8, least=8)}),
    ]
    plan = _plan(instance(rows, [model(capacity=12), model("a100", 2)]))
    assert ("pinned", "a100") in _kinds(plan, "pin")
    assert ("tier_without_guarantee", None) in _kinds(plan, "low")
    assert _kinds(plan, "none") == [("no_suitable_model", None)]
    assert ("floor", "h100") in _kinds(plan, "floor")


def test_whole_nodes_cost_their_remainder() -> None:
    row = project("a", granularity=8, max_total=16, models={"h100": ask(8), "a100": ask(8)})
    plan = _plan(instance([row], [model(capacity=7), model("a100", 2)]))
    assert plan.exceptions == ("a",)
    assert ("granularity", None) in _kinds(plan, "a")


def test_who_stays_below_its_share_so_that_fewer_gpus_move_is_told() -> None:
    rows = [
        project("a", max_total=16, models={"h100": ask(16, previous=9)}),
        project("b", max_total=16, models={"h100": ask(16, previous=7)}),
    ]
    plan = _plan(instance(rows, churn_tolerance=0.2))
    assert ("movement", None) in _kinds(plan, "b")
    assert plan.churn.moved_gpus == 0
    assert plan.churn.tolerance_used == pytest.approx(0.125, abs=1e-6)


def test_of_a_model_with_cut_floors_nothing_is_promised() -> None:
    rows = [project("a", tier="high", models={"h100": ask(8, least=8)}), project("b", models={"h100": ask(8, least=8)})]
    plan = _plan(instance(rows, [model(capacity=10)]))
    assert plan.status == "infeasible_floors"
    assert _kinds(plan, "b") == [("floor", "h100")]
    assert "The floor of 8 GPUs of h100 is cut to 2" in _share(plan, "b").reasons[0].text


def test_who_waits_behind_cut_floors_is_told() -> None:
    """All of a model is gone to floors, and not even these are kept: one more GPU would not be this project's."""
    rows = [project("a", tier="high", models={"h100": ask(8, least=8)}), project("b")]
    plan = _plan(instance(rows, [model(capacity=4)]))
    assert _kinds(plan, "b") == [("floor", "h100")]
    assert "floors of h100 could not be kept" in _share(plan, "b").reasons[0].text


def test_a_pin_that_cannot_be_kept_says_what_can_be_had() -> None:
    plan = _plan(instance([project("a", pinned={"h100": 8})], [model(capacity=5)]))
    assert "set h100 to 8 GPUs, of which 5 can be had." in _share(plan, "a").reasons[0].text


@pytest.mark.parametrize("seed", range(12))
def test_who_gets_less_than_it_asks_for_is_told_why(seed: int) -> None:
    document = random_instance(seed, Shape(floors=0.6, supply=(0.05, 0.2)))
    for share in _plan(document).projects:
        assert share.reasons or share.summary.startswith("Its fair share is all"), share


def test_who_has_more_than_its_share_is_promised_nothing_for_a_higher_bound() -> None:
    """It keeps an A100 that is not its by right, and could lose it when it may have more of the H100."""
    rows = [
        project("a", tier="high", max_total=10, models={"a100": ask(10)}),
        project(
            "b", max_total=1, models={"h100": ask(2, suitability=0.24), "a100": ask(2, suitability=1.39, previous=1)}
        ),
    ]
    plan = _plan(instance(rows, [model(capacity=12), model("a100", 5)], tier_order="strict", churn_tolerance=0.2))
    assert _share(plan, "b").entitlement > 1 > 0.24
    assert not _RAISABLE & {reason.kind for reason in _share(plan, "b").reasons}


@pytest.mark.parametrize(
    ("pinned", "changes"),
    [
        ({"h100": 10}, {"max_total": 16, "models": {"h100": ask(8), "a100": ask(8, suitability=0.5)}}),
        ({"h100": 10}, {"max_total": 9, "models": {"h100": ask(10), "a100": ask(8)}}),
    ],
)
def test_a_bound_that_pins_go_beyond_promises_nothing(pinned: dict[str, int], changes: dict[str, Any]) -> None:
    """A higher total would still be less than the pins; a higher maximum allows what the pin gives already."""
    row = project("a", **{"models": {"h100": ask(8), "a100": ask(8)}, "pinned": pinned, **changes})
    document = instance([row], [model(capacity=40), model("a100", 40)])
    for reason in _share(_plan(document), "a").reasons:
        assert reason.kind not in _RAISABLE, reason.text


def test_reasons_are_data_with_one_sentence() -> None:
    for seed in range(12):
        for share in _plan(random_instance(seed)).projects:
            for reason in share.document()["reasons"]:
                assert reason["kind"] in set(Why)
                assert reason["text"].endswith(".")
            assert share.summary.endswith(".")


def test_a_later_turn_is_told_that_more_of_the_model_would_reach_it() -> None:
    rows = [project("a", tier="high"), project("b", models={"h100": ask(4)}, max_total=4)]
    plan = _plan(instance(rows, [model(capacity=8)], tier_order="strict"))
    assert _kinds(plan, "b") == [("capacity", "h100")]
    rows[0] = project("a", tier="high", max_total=80, models={"h100": ask(80)})
    plan = _plan(instance(rows, [model(capacity=8)], tier_order="strict"))
    assert _kinds(plan, "b") == [("no_suitable_model", "h100")]
    assert "no more of it is left" in _share(plan, "b").reasons[0].text


def test_who_finds_a_model_used_up_at_a_lower_level_is_told() -> None:
    """B has the A100 for itself and rises past A, who needs the H100: more of that is A's until it catches up."""
    both = {"h100": ask(4), "a100": ask(2)}
    rows = [project("a", max_total=16, models={"h100": ask(16)}), project("b", max_total=6, models=both)]
    plan = _plan(instance(rows, [model(capacity=2), model("a100", 2)]))
    assert _share(plan, "b").exact_level > _share(plan, "a").exact_level
    assert _kinds(plan, "b") == [("no_suitable_model", "h100")]
    plan = _plan(instance(rows, [model(capacity=5), model("a100", 2)]))
    assert _kinds(plan, "b") == [("capacity", "h100")]


@pytest.mark.parametrize("seed", range(200))
def test_nobody_below_its_request_is_without_a_reason(seed: int) -> None:
    """Odd instances: hardly any capacity, whole models missing, floors and pins everywhere, tiers in strict turns."""
    document = _odd(seed)
    plan = _plan(document)
    for share in plan.projects:
        assert share.reasons or share.summary.startswith(("Its fair share is all", "It asks for nothing")), share


@pytest.mark.parametrize("seed", range(24))
def test_what_would_reach_who_comes_late_does(seed: int) -> None:
    document = _odd(seed)
    for share in _plan(document).projects:
        for reason in (reason for reason in share.reasons if reason.kind is Why.CAPACITY):
            after = _share(_plan(_raised(document, share.project, reason)), share.project)
            assert after.exact_level > share.exact_level * (1 + 1e-9), f"{share.project}: {reason.text}"


def _odd(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    shape = Shape((2, 14), (1, 5), chance.choice((0.0, 0.3, 0.8)), chance.choice((0.0, 0.3)), (0.05, 0.3, 1.0))
    document = random_instance(seed, shape)
    document["rules"]["tier_order"] = chance.choice(("strict", "strict", "weighted"))
    document["rules"]["guarantee"]["low"] = True
    for part in document["gpu_models"]:
        if chance.random() < 0.2:
            part["capacity"] = chance.randint(0, 3)
    return document


def test_of_a_far_better_model_that_there_is_none_of_nothing_is_promised() -> None:
    """The little that is asked for on trial is then next to nothing in GPUs of that model, but there is none."""
    models = {"h100": ask(1, suitability=0.001), "a100": ask(0)}
    document = instance([project("a", tier="high", max_total=1, models=models)], [model(), model("a100", 0)])
    assert not _RAISABLE & {reason.kind for reason in _share(_plan(document), "a").reasons}
    document["gpu_models"][1]["capacity"] = 4
    assert _kinds(_plan(document), "a") == [("own_cap", "a100")]
