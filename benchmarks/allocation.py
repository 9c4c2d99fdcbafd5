"""What a plan costs: ``python -m benchmarks.allocation [--runs 5] [--large]`` prints one JSON line per instance.

Instances are random and fixed by their seed. ``plain_lp`` is one linear programme that only maximises the lowest
level: the floor of any way to an exact plan that uses a linear programme at all. Times are medians of CPU seconds of
this process.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
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
SEEDS = (0, 1, 2)


def _shape(projects: int, models: int) -> Shape:
    return Shape((projects, projects), (models, models), 0.02, 0.005, (0.5, 0.8), (0.05,), 0.4)


def measure(projects: int, models: int, seed: int, runs: int) -> dict[str, Any]:
    document = random_instance(seed, _shape(projects, models))
    instance = read(document)
    cold, wall, solved = _timed(lambda: solve(instance, sha256=digest(document)), runs)
    document["projects"][0]["tier"] = "high" if document["projects"][0]["tier"] == "mid" else "mid"
    changed = read(document)
    warm, _wall, _again = _timed(lambda: solve(changed, warm=solved.warm), runs)
    program = program_of(instance, bounds_of(instance))
    shares, _wall, found = _timed(lambda: _shares(program), runs)
    plain, _wall, _level = _timed(lambda: _lowest_level(program), 1)
    return {
        "projects": projects,
        "models": models,
        "seed": seed,
        "cold_cpu_s": cold,
        "cold_wall_s": wall,
        "warm_cpu_s": warm,
        "shares_cpu_s": shares,
        "plain_lp_cpu_s": plain,
        "solves": found.solves,
        "bottlenecks": len(found.bottlenecks),
        **_quality(instance, document, solved, seed, (projects, models)),
    }


def _quality(instance: Instance, _changed: Any, solved: Solved, seed: int, size: tuple[int, int]) -> dict[str, Any]:
    plan = solved.plan
    document = random_instance(seed, _shape(*size))
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
    options = parser.parse_args()
    for projects, models in SIZES if options.large else SIZES[:2]:
        for seed in SEEDS:
            print(json.dumps(measure(projects, models, seed, options.runs)), flush=True)


if __name__ == "__main__":
    main()
