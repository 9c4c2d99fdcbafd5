"""What a plan costs: ``python -m benchmarks.allocation [--runs 5] [--large] [--kind grown|random]`` prints one JSON
line per instance.

Two kinds, both fixed by their seed. ``grown`` are the two published random instances, and larger ones that are drawn
from the projects of the second: new ids and scores, suitabilities up to a tenth higher or lower, capacities in
proportion. ``random`` are those of the solver's tests, which are harder: most models run out one after the other, so
there are more bottlenecks, in several turns. ``plain_lp`` is one linear programme that only maximises the lowest level:
the floor of any way to an exact plan that uses a linear programme at all. Times are medians of CPU seconds of this
process; of ten thousand projects it is one run.
"""

import argparse
import copy
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kernel.documents import digest
from quotas.engine.auditing import audit
from quotas.engine.fairness import fair_shares
from quotas.engine.floors import bounds_of
from quotas.engine.instance import Instance
from quotas.engine.overload import OverloadProgram, quiet_solver
from quotas.engine.program import Program, program_of
from quotas.engine.reading import read
from quotas.engine.solving import Solved, solve
from quotas.tests.engine.instances import Shape, random_instance

SIZES = ((300, 5), (1000, 5), (3000, 5), (10_000, 8))
LARGE = 3000
SEEDS = (0, 1, 2)
PUBLISHED = Path(__file__).parents[1] / "quotas" / "tests" / "data" / "instances"

Document = dict[str, Any]


def documents(kind: str, projects: int, models: int) -> Iterator[tuple[int, Document]]:
    """The instances of this kind and size, each with its seed."""
    if kind == "random":
        shape = Shape((projects, projects), (models, models), 0.02, 0.005, (0.5, 0.8), (0.05,), 0.4)
        yield from ((seed, random_instance(seed, shape)) for seed in SEEDS)
    elif projects < LARGE:
        yield 0, _published(f"random-{projects}x{models}")
    else:
        yield from ((seed, grown(_published("random-1000x5"), projects, models, seed)) for seed in SEEDS)


def _published(name: str) -> Document:
    document: Document = json.loads((PUBLISHED / f"{name}.instance.json").read_text())
    return document


def grown(document: Document, projects: int, models: int, seed: int) -> Document:
    """An instance of the same kind: projects drawn again and again; where there are to be more models, the first ones
    have a twin, and what a project asks for is drawn from all.
    """
    chance, grown = random.Random(seed), copy.deepcopy(document)
    parts = grown["gpu_models"]
    share = projects / len(grown["projects"]) * len(parts) / models
    twins = [{**part, "name": f"{part['name']}-2"} for part in parts[: models - len(parts)]]
    parts += twins
    for part in parts:
        part.update(capacity=int(part["capacity"] * share) // 8 * 8, reserve=int(part["reserve"] * share))
    names = [part["name"] for part in parts] if twins else []
    grown["projects"] = [_drawn(document["projects"], names, chance, place) for place in range(projects)]
    return grown


def _drawn(rows: list[Document], names: list[str], chance: random.Random, place: int) -> Document:
    row = copy.deepcopy(chance.choice(rows))
    chosen = chance.sample(names, len(row["models"])) if names else list(row["models"])
    for ask in row["models"].values():
        ask["suitability"] = round(ask["suitability"] * chance.uniform(0.9, 1.1), 3)
    asks = dict(zip(chosen, row["models"].values(), strict=True))
    return {**row, "id": f"g{place:05d}", "score": round(chance.uniform(0, 100), 1), "models": asks}


def measure(document: Document, runs: int) -> dict[str, Any]:
    instance, changed = read(document), read(_with_another_tier(document))
    cold, wall, solved = _timed(lambda: solve(instance, sha256=digest(document)), runs)
    warm, _wall, _again = _timed(lambda: solve(changed, warm=solved.warm), runs)
    program = program_of(instance, bounds_of(instance))
    shares, _wall, found = _timed(lambda: _shares(program), 1)
    plain, _wall, _level = _timed(lambda: _lowest_level(program), 1)
    return {
        "cold_cpu_s": cold,
        "cold_wall_s": wall,
        "warm_cpu_s": warm,
        "shares_cpu_s": shares,
        "plain_lp_cpu_s": plain,
        "solves": found.solves,
        "bottlenecks": len(found.bottlenecks),
        **_quality(document, instance, solved),
    }


def _with_another_tier(document: Document) -> Document:
    changed = copy.deepcopy(document)
    row = changed["projects"][0]
    row["tier"] = "high" if row["tier"] == "mid" else "mid"
    return changed


def _quality(document: Document, instance: Instance, solved: Solved) -> dict[str, Any]:
    plan = solved.plan
    granule = {project.id: project.granularity for project in instance.projects}
    short = [(share.entitlement - share.effective) / granule[share.project] for share in plan.projects]
    return {
        "status": str(plan.status),
        "broken_rules": len(audit(document, plan.document(seconds=0))),
        "min_exact_level": plan.fairness.min_exact_level,
        "min_level": plan.fairness.min_level,
        "shortfall_granules": round(max(short), 4),
        "exceptions": len(plan.exceptions),
        "with_nothing": sum(share.effective == 0 for share in plan.projects),
        "moved_gpus": plan.churn.moved_gpus,
        "taken_gpus": plan.churn.taken_gpus,
        "tolerance_used": plan.churn.tolerance_used,
    }


def _timed(act: Callable[[], Any], runs: int) -> tuple[float, float, Any]:
    """Median CPU and wall seconds, and the last answer."""
    cpu, wall, answer = [], [], None
    for _ in range(runs):
        began, at = time.process_time(), time.perf_counter()
        answer = act()
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - at)
    return round(statistics.median(cpu), 4), round(statistics.median(wall), 4), answer


def _shares(program: Program) -> Any:
    return fair_shares(program, OverloadProgram(program, lambda: False), 0.05)


def _lowest_level(program: Program) -> float:
    """One linear programme: the largest level that all projects of the first turn reach together."""
    solver, first = quiet_solver(), (program.turn == 0) & (program.full > 0)
    for pair in range(program.pairs):
        solver.addVar(program.least[pair], program.most[pair])
    top = float((1.0 / program.weight[first]).min()) if first.any() else 0.0
    solver.addVar(0.0, top)
    level = program.pairs
    solver.changeColCost(level, -1.0)
    for place in range(program.projects):
        pairs = np.flatnonzero(program.project == place).astype(np.int32)
        solver.addRow(-np.inf, program.total[place], len(pairs), pairs, np.ones(len(pairs)))
        if first[place]:
            columns = np.append(pairs, np.int32(level))
            rate = program.full[place] * program.weight[place]
            solver.addRow(0.0, np.inf, len(columns), columns, np.append(program.suitability[pairs], -rate))
    for model in range(program.models):
        pairs = np.flatnonzero(program.model == model).astype(np.int32)
        solver.addRow(-np.inf, program.usable[model], len(pairs), pairs, np.ones(len(pairs)))
    solver.run()
    return -float(solver.getInfo().objective_function_value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="the sizes of 3,000 and 10,000 projects, too")
    parser.add_argument("--kind", choices=("grown", "random"), help="only instances of this kind")
    options = parser.parse_args()
    for kind in [options.kind] if options.kind else ["grown", "random"]:
        for projects, models in SIZES if options.large else SIZES[:2]:
            for seed, document in documents(kind, projects, models):
                found = measure(document, options.runs if projects <= LARGE else 1)
                what = {"kind": kind, "projects": projects, "models": models, "seed": seed}
                print(json.dumps({**what, **found}), flush=True)


if __name__ == "__main__":
    main()
