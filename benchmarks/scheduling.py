"""What a decision costs: ``python -m benchmarks.scheduling [--runs 5] [--small] [--all-different]`` prints JSON lines.

An invented cluster of 1,250 nodes with 8 GPUs, 300 projects in 20 areas, 5,000 running and 10,000 queued jobs, fixed by
its seed. Who queues submits sweeps of up to 20 jobs alike, five on average; with ``--all-different`` each job is drawn
alone: the hardest case, for what is found for one job then helps hardly any other. ``from nothing`` is the first
decision on a full cluster; ``steady`` the next one, after 50 changes: jobs that ended and jobs that came. Times are
medians of CPU seconds of this process.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from scheduling.engine import (
    MILLI,
    Ask,
    Decision,
    Device,
    Entitlement,
    Group,
    Job,
    JobState,
    Node,
    Policy,
    Project,
    Snapshot,
    decide,
)
from scheduling.tests.engine.opening import done

MODELS = ("a100", "h100", "h200", "l40s", "v100")
SHAPES = ((1, 1, 40), (2, 1, 15), (4, 1, 15), (8, 1, 20), (16, 2, 6), (32, 4, 3), (64, 8, 1))
"""GPUs in total, nodes, how often."""
NOW = 1_000_000.0
CHANGES = 50
MOST_ALIKE = 20


def cluster(nodes: int, running: int, queued: int, seed: int = 1, *, all_different: bool = False) -> Snapshot:
    """Machines, projects with guarantees of seven tenths of them, jobs that fill them, and a queue."""
    source = random.Random(seed)
    projects = _projects(source, nodes * 8 * MILLI)
    machines = tuple(
        Node(at, f"n{at:04}", tuple(Device(at * 10 + i, MODELS[at % 5]) for i in range(8)), cpus=96, memory_bytes=2**40)
        for at in range(nodes)
    )
    jobs = _running(source, machines, projects, running)
    jobs += _queue(source, range(len(jobs), len(jobs) + queued), projects, all_different=all_different)
    groups = tuple(Group(at, f"area {at}", None, Entitlement(guaranteed=_summed(projects, at))) for at in range(20))
    reserve = dict.fromkeys(MODELS, nodes * 8 * MILLI // 5 // 20 // MILLI * MILLI)
    return Snapshot(machines, tuple(jobs), tuple(projects), groups, reserve)


def _projects(source: random.Random, milli: int) -> list[Project]:
    parts = [source.paretovariate(1.5) for _ in range(300)]
    found = []
    for at, part in enumerate(parts):
        guaranteed = int(0.7 * milli / 5 * part / sum(parts)) // MILLI * MILLI
        entitlement = Entitlement(
            guaranteed=dict.fromkeys(MODELS, guaranteed),
            limit=dict.fromkeys(MODELS, 4 * guaranteed + 16 * MILLI),
            weight=Fraction(source.choice((1, 2, 4))),
            rank=source.choice((0, 1, 2)),
            past_use=dict.fromkeys(MODELS, Fraction(source.randrange(100), 10_000)),
        )
        found.append(Project(at, f"project {at}", at % 20, entitlement, at))
    return found


def _summed(projects: Sequence[Project], group: int) -> dict[str, int]:
    members = [project for project in projects if project.group == group]
    return {model: sum(project.entitlement.guaranteed[model] for project in members) for model in MODELS}


def _ask(source: random.Random, models: Sequence[str]) -> Ask:
    total, nodes, _often = source.choices(SHAPES, [shape[2] for shape in SHAPES])[0]
    per_node = total // nodes
    some = frozenset(source.sample(list(models), source.choice((1, 1, 1, 2))))
    return Ask(per_node * MILLI, nodes, some, cpus=8 * per_node, memory_bytes=per_node * 2**36)


def _running(source: random.Random, nodes: Sequence[Node], projects: Sequence[Project], most: int) -> list[Job]:
    jobs: list[Job] = []
    for node in source.sample(list(nodes), len(nodes)):
        free = list(range(8))
        while free and len(jobs) < most:
            count = min(len(free), source.choice((1, 1, 1, 2, 2, 4)))
            columns, free = free[:count], free[count:]
            model = node.devices[0].gpu_model
            ask = Ask(count * MILLI, 1, frozenset({model}), cpus=8 * count, memory_bytes=count * 2**36)
            placement = {node.id: {node.devices[column].id: MILLI for column in columns}}
            jobs.append(
                Job(
                    id=len(jobs),
                    name="",
                    project=source.choice(projects).id,
                    ask=ask,
                    state=JobState.RUNNING,
                    priority=source.choice((0, 0, 50)),
                    is_preemptible=source.random() < 0.6,
                    order=len(jobs),
                    max_runtime_s=source.choice((None, 86_400, 604_800)),
                    min_runtime_s=1800,
                    gpu_model=model,
                    placement=placement,
                    started_at=NOW - source.randrange(100_000),
                )
            )
    return jobs


def _queue(
    source: random.Random,
    ids: Sequence[int],
    projects: Sequence[Project],
    came: float | None = None,
    *,
    all_different: bool,
) -> list[Job]:
    """Jobs with these ids, submission by submission."""
    jobs: list[Job] = []
    while len(jobs) < len(ids):
        count = 1 if all_different else min(MOST_ALIKE, 1 + int(source.expovariate(0.22)))
        first = _queued(source, ids[len(jobs)], projects, came)
        jobs += [replace(first, id=at, order=at) for at in ids[len(jobs) : len(jobs) + count]]
    return jobs


def _queued(source: random.Random, at: int, projects: Sequence[Project], came: float | None = None) -> Job:
    return Job(
        id=at,
        name="",
        project=source.choice(projects).id,
        ask=_ask(source, MODELS),
        priority=source.choice((0, 0, 0, 50)),
        is_preemptible=source.random() < 0.6,
        queued_at=NOW - source.randrange(200_000) if came is None else came,
        order=at,
        max_runtime_s=source.choice((None, 3600, 86_400)),
        min_runtime_s=1800,
    )


def settled(snapshot: Snapshot, policy: Policy) -> Snapshot:
    """The cluster after three rounds in which all who were told to stop have stopped."""
    for at in range(3):
        snapshot = done(snapshot, NOW + at, decide(snapshot, NOW + at, policy))
    return snapshot


def changed(snapshot: Snapshot, now: float, seed: int = 2, *, all_different: bool = False) -> Snapshot:
    """50 changes: half of them ends, half arrivals."""
    source = random.Random(seed)
    ended = set(source.sample([job.id for job in snapshot.jobs if job.state is JobState.RUNNING], CHANGES // 2))
    first = max(job.id for job in snapshot.jobs) + 1
    ids = range(first, first + CHANGES - CHANGES // 2)
    came = _queue(source, ids, snapshot.projects, now, all_different=all_different)
    return replace(snapshot, jobs=(*(job for job in snapshot.jobs if job.id not in ended), *came))


def measure(nodes: int, running: int, queued: int, runs: int, *, all_different: bool = False) -> list[dict[str, Any]]:
    snapshot, policy = cluster(nodes, running, queued, all_different=all_different), Policy()
    cold, decision = _timed(lambda: decide(snapshot, NOW, policy), runs)
    following = changed(settled(snapshot, policy), NOW + 30, all_different=all_different)
    steady, later = _timed(lambda: decide(following, NOW + 30, policy), runs)
    size = {"nodes": nodes, "running": running, "queued": queued, "all_different": all_different}
    return [
        {"case": "from nothing", **size, "cpu_s": cold, **_counts(decision)},
        {"case": "steady", **size, "cpu_s": steady, **_counts(later)},
    ]


def _counts(decision: Decision) -> dict[str, int]:
    return {"start": len(decision.start), "preempt": len(decision.preempt), "wait": len(decision.wait)}


def _timed(work: Callable[[], Decision], runs: int) -> tuple[float, Decision]:
    times = []
    for _ in range(runs):
        began = time.process_time()
        decision = work()
        times.append(time.process_time() - began)
    return round(statistics.median(times), 4), decision


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a tenth of the size")
    parser.add_argument("--all-different", action="store_true", help="no two submissions alike: the hardest case")
    options = parser.parse_args()
    scale = 10 if options.small else 1
    sizes = 1250 // scale, 5000 // scale, 10_000 // scale
    for line in measure(*sizes, options.runs, all_different=options.all_different):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
