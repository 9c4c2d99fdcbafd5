"""How much of a public cluster can be handed out: ``python -m benchmarks.placement [--seeds 0-9] [--workloads …]``.

The inflation experiment on the openb trace, which is read from ``openb/`` in the folder that ``SLUICE_CASES`` names.
Prints one JSON line per workload, policy and seed, and then the means beside the published ones (Weng et al., USENIX
ATC 2023). ``at_100`` is the allocation in per cent of the GPUs when 100 per cent have been asked for.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.baselines import BestFit, FragmentationGradient
from scheduling.engine.model import Node
from scheduling.engine.preference import Mix
from scheduling.engine.replay.inflation import EnginePlacer, Placer, run_inflation
from scheduling.engine.replay.openb import TraceJob, read_jobs, read_nodes

PUBLISHED = {
    "default": {"bestfit": 92.86, "fgd": 95.23},
    "gpuspec33": {"bestfit": 80.40, "fgd": 87.84},
    "multigpu50": {"bestfit": 95.62, "fgd": 97.09},
}
POLICIES = ("ours", "fgd", "bestfit")
_ASKED = (90, 95, 100, 110)


def placer_of(policy: str, jobs: Sequence[TraceJob], seed: int, ours: EnginePlacer) -> Placer:
    if policy == "bestfit":
        return BestFit(seed)
    if policy == "fgd":
        return FragmentationGradient((job.ask for job in jobs), seed)
    return ours


def measure(nodes: Sequence[Node], jobs: Sequence[TraceJob], seed: int, placer: Placer) -> dict[str, Any]:
    began = time.process_time()
    result = run_inflation(nodes, jobs, seed, placer)
    return {
        **{f"at_{asked}": round(result.rates[asked], 3) for asked in _ASKED},
        "arrivals": result.arrivals,
        "dropped": result.dropped,
        "cpu_s": round(time.process_time() - began, 2),
    }


def _lines(folder: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    nodes = read_nodes((folder / "openb_node_list_gpu_node.csv").read_text().splitlines())
    for workload in options.workloads:
        jobs = _jobs(folder, workload)
        mix = Mix.of(job.ask for job in _jobs(folder, options.mix or workload))
        for policy in options.policies:
            runs = []
            for seed in options.seeds:
                placer = placer_of(policy, jobs, seed, EnginePlacer(mix, options.demand))
                runs.append(measure(nodes, jobs, seed, placer))
                yield {"workload": workload, "policy": policy, "seed": seed, **runs[-1]}
            yield {
                "workload": workload,
                "policy": policy,
                "seeds": len(runs),
                **{
                    f"mean_at_{asked}": round(statistics.mean(run[f"at_{asked}"] for run in runs), 2)
                    for asked in _ASKED
                },
                "published_at_100": PUBLISHED.get(workload, {}).get(policy),
            }


def _jobs(folder: Path, workload: str) -> tuple[TraceJob, ...]:
    return read_jobs((folder / f"openb_pod_list_{workload}.csv").read_text().splitlines())


def _seeds(text: str) -> list[int]:
    """``3`` or ``0-9``."""
    first, _dash, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=_seeds, default=_seeds("0-2"), help="one, or first-last")
    parser.add_argument("--workloads", nargs="+", default=list(PUBLISHED))
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=list(POLICIES))
    parser.add_argument("--mix", help="ours expects the jobs of this workload instead of the one that comes")
    parser.add_argument("--demand", type=float, default=1, help="ours expects so many times the room that is left")
    options = parser.parse_args()
    if "SLUICE_CASES" not in os.environ:
        sys.exit("SLUICE_CASES must name the folder that holds openb/, the trace.")
    for line in _lines(Path(os.environ["SLUICE_CASES"]) / "openb", options):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
