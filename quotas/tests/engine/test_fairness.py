"""The exact shares against a slow method of its own, and the laws that any fair division keeps."""

import dataclasses
from typing import Any

import highspy
import pytest

from kernel.documents import digest
from quotas.engine.auditing import audit
from quotas.engine.overload import quiet_solver
from quotas.engine.reading import read
from quotas.engine.solving import Warm, solve
from quotas.tests.engine.instances import Shape, ask, instance, model, project, random_instance
from quotas.tests.engine.reference import exact_levels

_SMALL = Shape(projects=(2, 9), models=(1, 4))


def _plan(document: dict[str, Any]) -> Any:
    return solve(read(document)).plan


@pytest.mark.parametrize("seed", range(60))
def test_levels_are_those_of_the_slow_method(seed: int) -> None:
    asked = read(random_instance(seed, _SMALL))
    slow = exact_levels(asked)
    for share in solve(asked).plan.projects:
        assert share.exact_level == pytest.approx(slow[share.project], abs=2e-5)


@pytest.mark.parametrize("seed", range(200))
def test_random_plans_pass_their_audit(seed: int) -> None:
    document = random_instance(seed)
    plan = solve(read(document), sha256=digest(document)).plan
    assert audit(document, plan.document(seconds=0)) == []


@pytest.mark.parametrize("seed", [34, 84, 180])
def test_no_part_of_a_share_of_nothing_is_foregone(seed: int) -> None:
    """Without tolerance nobody misses anything, however small the error that its share consists of."""
    document = random_instance(seed)
    document["rules"]["churn_tolerance"] = 0.0
    assert _plan(document).churn.tolerance_used == 0


@pytest.mark.parametrize("seed", range(15))
def test_the_same_instance_gives_the_same_plan(seed: int) -> None:
    document = random_instance(seed)
    assert solve(read(document)).plan == solve(read(document)).plan


@pytest.mark.parametrize("seed", range(15))
def test_a_warm_solve_has_the_same_exact_levels(seed: int) -> None:
    document = random_instance(seed, Shape(tolerance=(0.05,)))
    warm = solve(read(document)).warm
    document["projects"][0]["score"] = 100 - document["projects"][0]["score"]
    cold, again = _plan(document), solve(read(document), warm=warm).plan
    levels = [share.exact_level for share in cold.projects]
    assert [share.exact_level for share in again.projects] == pytest.approx(levels, abs=1e-7)


@pytest.mark.parametrize("prices", [(), (1.0,), (0.0, 0.0)])
def test_prices_that_do_not_fit_are_not_used(prices: tuple[float, ...]) -> None:
    document = instance([project("a")], [model(), model("a100")])
    assert solve(read(document), warm=Warm(prices)).plan == _plan(document)


@pytest.mark.parametrize("seed", range(25))
def test_more_capacity_never_lowers_the_lowest_levels(seed: int) -> None:
    """Of the turn shared out first: the ordered vector rises or stays."""
    document = random_instance(seed, Shape(projects=(2, 25), floors=0.0))
    first = {"high"} if document["rules"]["tier_order"] == "strict" else {"high", "mid"}
    before = _levels_of(document, first)
    document["gpu_models"][0]["capacity"] += 40
    after = _levels_of(document, first)
    different = [(old, new) for old, new in zip(before, after, strict=True) if abs(old - new) > 1e-6]
    assert not different or different[0][1] > different[0][0]


def _levels_of(document: dict[str, Any], tiers: set[str]) -> list[float]:
    tier = {row["id"]: row["tier"] for row in document["projects"]}
    return sorted(share.exact_level for share in _plan(document).projects if tier[share.project] in tiers)


@pytest.mark.parametrize("seed", range(15))
def test_weights_count_by_their_ratio_only(seed: int) -> None:
    document = random_instance(seed)
    before = _plan(document)
    weights = document["rules"]["tier_weight"]
    document["rules"]["tier_weight"] = {tier: weight * 8 for tier, weight in weights.items()}
    after = _plan(document)
    exact = [share.exact_level for share in before.projects]
    assert [share.exact_level for share in after.projects] == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_equal_projects_get_equal_shares_up_to_a_granule(seed: int) -> None:
    document = random_instance(seed, Shape(projects=(2, 20), pins=0.0, tolerance=(0.0,)))
    twin = dict(document["projects"][0], id="zz-twin")
    document["projects"].append(twin)
    plan = _plan(document)
    shares = {share.project: share for share in plan.projects}
    one, other = shares[document["projects"][0]["id"]], shares["zz-twin"]
    cut = {floor.project for floor in plan.relaxed_floors}
    if not cut & {one.project, other.project}:
        assert one.exact_level == pytest.approx(other.exact_level, abs=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e4])
@pytest.mark.parametrize("seed", range(10))
def test_the_unit_of_a_projects_suitabilities_does_not_count(seed: int, unit: float) -> None:
    document = random_instance(seed, Shape(projects=(2, 20)))
    before = _plan(document)
    for part in (part for row in document["projects"][::2] for part in row["models"].values()):
        part["suitability"] *= unit
    after = _plan(document)
    assert after.status == before.status
    assert after.gap is None
    exact = [share.exact_level for share in before.projects]
    assert [share.exact_level for share in after.projects] == pytest.approx(exact, abs=1e-6)
    assert audit(document, after.document(seconds=0)) == []


def test_among_equal_levels_the_first_id_gets_the_rest_wherever_it_stands() -> None:
    """Levels that differ by an error of the arithmetic only are equal."""
    rows = [project(name, max_total=size, models={"h100": ask(size)}) for name, size in (("b", 9), ("c", 3), ("a", 9))]
    given = {row.project: row.gpus for row in _plan(instance(rows, [model(capacity=8)])).quotas}
    assert given == {"a": 4, "b": 3, "c": 1}


def test_a_whole_request_is_met_when_there_is_enough() -> None:
    plan = _plan(instance([project("a"), project("b", tier="high")]))
    assert {row.project: row.gpus for row in plan.quotas} == {"a": 8, "b": 8}
    assert plan.projects[0].summary.startswith("Its fair share is all")


@pytest.mark.parametrize(
    "document",
    [
        instance([]),
        instance([], [model(capacity=0)]),
        instance([project("a")], [model(capacity=0)]),
        instance([project("a")], [model(capacity=4, reserve=9)]),
        instance([project("a", models={})]),
        instance([project("a", models={"h100": ask(suitability=0.0)})]),
        instance([project("a", max_total=0)]),
        instance(
            [project("a", max_total=0, models={"h100": ask(), "a100": ask()}, pinned={"a100": 8})],
            [model(), model("a100", 0)],
        ),
        instance([project("a", models={"h100": ask(0)})]),
        instance([project("a", models={"h100": ask(8)}, pinned={"h100": 40})]),
        instance([project("a", tier="low")], churn_tolerance=1.0),
    ],
)
def test_edges_give_an_answer(document: dict[str, Any]) -> None:
    plan = solve(read(document), sha256=digest(document)).plan
    assert plan.gap is None, "nothing is too small to be solved exactly"
    assert audit(document, plan.document(seconds=0)) == []


def test_what_is_greedy_says_so_and_how_far_it_may_be_off() -> None:
    for seed in range(20):
        document = random_instance(seed, Shape(floors=0.0, pins=0.0))
        exact, greedy = _plan(document), solve(read(document), is_late=lambda: True).plan
        assert greedy.status == "feasible"
        assert greedy.gap is not None
        assert 0 <= greedy.gap <= 1
        assert audit(document, greedy.document(seconds=0)) == []
        first = _first_turn(document)
        lowest = min((s.level for s in greedy.projects if s.project in first), default=0.0)
        best = min((s.exact_level for s in exact.projects if s.project in first), default=0.0)
        assert lowest >= best * (1 - greedy.gap) - 1e-6, "the gap is a bound"


def _first_turn(document: dict[str, Any]) -> set[str]:
    useful = {
        row["id"]
        for row in document["projects"]
        if any(part["suitability"] > 0 and part["max"] for part in row["models"].values())
    }
    tiers = [row["tier"] for row in document["projects"]]
    first = {"high", "mid"} if document["rules"]["tier_order"] == "weighted" else {"high" if "high" in tiers else "mid"}
    return {row["id"] for row in document["projects"] if row["tier"] in first} & useful


def test_ten_thousand_projects_give_an_answer() -> None:
    """Each alike, so that the solve is short: the size is what is tried."""
    names = ("h100", "a100", "l40s")
    rows = [project(f"p{place:05d}", max_total=2, models={name: ask(2) for name in names}) for place in range(10_000)]
    plan = _plan(instance(rows, [model(name, 4_115) for name in names]))
    given: dict[str, int] = {}
    for row in plan.quotas:
        given[row.project] = given.get(row.project, 0) + row.gpus
    assert sum(given.values()) == 12_345
    assert set(given.values()) == {1, 2}


def test_the_largest_counts_are_shared_to_the_gpu() -> None:
    """Where a float cannot tell overload from its own error, the search still ends."""
    most = 10**7
    rows = [project(name, max_total=most, models={"h100": ask(most, suitability=0.37)}) for name in "abc"]
    plan = _plan(instance(rows, [model(capacity=most - 1)]))
    assert sum(row.gpus for row in plan.quotas) == most - 1
    assert max(row.gpus for row in plan.quotas) - min(row.gpus for row in plan.quotas) <= 1


def test_small_levels_keep_their_digits() -> None:
    """Three GPUs for a million asked for: a level of 1e-6, which the audit multiplies by the request again."""
    rows = [
        project(name, max_total=most, models={"h100": ask(most)}) for name, most in (("a", 658_400), ("b", 717_160))
    ]
    document = instance(rows, [model(capacity=3), model("a100", 9)])
    plan = _plan(document)
    level = 3 / (658_400 + 717_160)
    assert [share.exact_level for share in plan.projects] == pytest.approx([level, level], rel=1e-9)
    assert audit(document, plan.document(seconds=0)) == []


def test_the_whole_of_a_large_request_is_within_reach() -> None:
    """What a project can attain at most is a sum, whose last digit may be beyond what can be given."""
    names = ("h100", "a100", "l40s")
    asked = [
        (5_019_743, [(1_617_082, 1.04), (2_044_300, 1.36), (1_243_598, 0.93)]),
        (3_160_985, [(1_221_940, 0.27), (2_286_887, 1.36), (1_421_947, 0.29)]),
    ]
    rows = [
        project(
            f"p{total}",
            max_total=total,
            models={name: ask(most, 0, worth) for name, (most, worth) in zip(names, parts, strict=True)},
        )
        for total, parts in asked
    ]
    plan = _plan(instance(rows, [model("h100", 4_494_727), model("a100", 7_234_220), model("l40s", 8_448_641)]))
    assert plan.status == "optimal"


@pytest.mark.parametrize("calls", range(4))
def test_the_time_may_end_at_any_step(calls: int) -> None:
    document, asked = instance([project("a"), project("b")], [model(capacity=10)]), iter(range(99))
    plan = solve(read(document), is_late=lambda: next(asked) >= calls).plan
    assert audit(document, plan.document(seconds=0)) == []


def test_a_plan_is_a_value() -> None:
    plan = _plan(instance([project("a")]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.status = "feasible"


def test_numbers_that_defeat_the_solver_give_a_greedy_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real solver, allowed no step at all."""

    def tired() -> highspy.Highs:
        solver = quiet_solver()
        solver.setOptionValue("simplex_iteration_limit", 0)
        return solver

    monkeypatch.setattr("quotas.engine.overload.quiet_solver", tired)
    document = instance([project("a"), project("b")], [model(capacity=10)])
    plan = _plan(document)
    assert plan.status == "feasible"
    assert audit(document, plan.document(seconds=0)) == []


def test_where_nobody_can_use_anything_a_greedy_plan_has_no_gap() -> None:
    row = project("a", models={"h100": ask(8, suitability=0.0)})
    plan = solve(read(instance([row])), is_late=lambda: True).plan
    assert (plan.status, plan.gap) == ("feasible", 0.0)
