"""The jobs of a scenario, and the GPUs that its running ones hold."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kernel.documents import shown
from scheduling.engine.model import MILLI, NONE, Ask, Job, JobState, Node, NodeState
from scheduling.engine.scenario.entitlements import Named
from scheduling.engine.scenario.laying import Floor, Held
from scheduling.engine.scenario.taking import MEBIBYTE, Row, SchedulerTaker, listed

_LONG_AGO = float("-inf")


def jobs_of(
    taker: SchedulerTaker,
    rows: Named,
    numbers: Mapping[str, int],
    nodes: Iterable[Node],
    projects: Mapping[str, int],
) -> tuple[Job, ...]:
    jobs = [_job(taker, name, at, row, numbers, projects) for name, at, row in rows]
    placing = _Placing(taker, nodes)
    return placing.placed([(job, at, row) for job, (_name, at, row) in zip(jobs, rows, strict=True)])


def _job(
    taker: SchedulerTaker, name: str, at: str, row: Row, numbers: Mapping[str, int], projects: Mapping[str, int]
) -> Job:
    return Job(
        id=numbers[name],
        name=name,
        project=taker.known(row, "project", at, projects),
        ask=_ask(taker, row, at),
        state=taker.choice(row, "state", at, JobState.QUEUED),
        priority=taker.whole(row, "priority", at),
        is_preemptible=taker.optional_flag(row, "preemptible", at),
        queued_at=taker.seconds(row, "submitted_at", at) or 0,
        order=taker.whole(row, "order", at),
        max_runtime_s=taker.duration(row, "max_runtime_s", at),
        min_runtime_s=taker.duration(row, "min_runtime_s", at) or 0,
        interruptions_today=taker.optional_count(row, "interruptions_today", at),
        is_emergency=bool(row.get("emergency_grant")),
        started_at=taker.seconds(row, "started_at", at),
        last_checkpoint_at=taker.seconds(row, "last_checkpoint_at", at),
    )


def _ask(taker: SchedulerTaker, row: Row, at: str) -> Ask:
    nodes = _nodes_exact(taker, row, at)
    total = taker.milli(row, "gpus", at)
    each = total // nodes
    if total % nodes or (each > MILLI and each % MILLI):
        taker.fault(
            f"{at}.gpus",
            f"{shown(row['gpus'])} on {nodes} node(s) is not part of a GPU, or a number of whole GPUs, on each",
        )
    return Ask(
        milli=each,
        nodes=nodes,
        gpu_models=_allowed(taker, row, at),
        cpus=taker.optional_count(row, "cpus", at),
        memory_bytes=taker.optional_count(row, "memory_mb", at) * MEBIBYTE,
        gpu_memory_bytes=taker.optional_count(row, "gpu_memory_mb", at) * MEBIBYTE,
        interconnect=taker.optional_text(row, "interconnect", at),
        is_exclusive=taker.optional_flag(row, "exclusive", at),
        shares_device=taker.optional_flag(row, "share_device", at),
    )


def _nodes_exact(taker: SchedulerTaker, row: Row, at: str) -> int:
    count = taker.optional_count(row, "nodes_exact", at, 1)
    if row.get("nodes_exact") == 0:
        taker.fault(f"{at}.nodes_exact", "0 is not a number of nodes from 1")
    return max(1, count)


def _allowed(taker: SchedulerTaker, row: Row, at: str) -> frozenset[str]:
    one, several = taker.optional_text(row, "gpu_model", at), taker.texts(row, "gpu_models", at)
    if one and several and several != [one]:
        taker.fault(f"{at}.gpu_models", f"{shown(several)} besides the gpu_model {shown(one)}; give only one of them")
    return frozenset([one] if one else several)


class _Placing:
    """Lays what runs on the nodes of the same file."""

    def __init__(self, taker: SchedulerTaker, nodes: Iterable[Node]) -> None:
        self._take = taker
        self._nodes = {node.name: node for node in nodes}
        self._models = {node.name: node.devices[0].gpu_model for node in self._nodes.values() if node.devices}

    def placed(self, jobs: list[tuple[Job, str, Row]]) -> tuple[Job, ...]:
        amounts = {job.id: self._amounts(job, at, row) for job, at, row in jobs}
        held = [
            Held(job, self._nodes[node], milli, f"{at}.placement.{node}")
            for job, at, _row in jobs
            for node, milli in amounts[job.id].items()
        ]
        placements = Floor(self._nodes.values(), self._take.fault).lay(held)
        return tuple(self._with(job, list(amounts[job.id]), placements.get(job.id, NONE)) for job, _at, _row in jobs)

    def _with(self, job: Job, names: list[str], placement: Mapping[int, Mapping[int, int]]) -> Job:
        """A gang that runs on fewer nodes than it asked for, or on one that is down, has lost members: long ago, since
        a scenario says no time of it."""
        alive = [name for name in names if self._nodes[name].state is not NodeState.DOWN]
        has_lost = job.ask.nodes > 1 and names and len(alive) < job.ask.nodes
        model = next((self._models[name] for name in names if name in self._models and job.ask.milli), "")
        return replace(job, placement=placement, gpu_model=model, member_lost_at=_LONG_AGO if has_lost else None)

    def _amounts(self, job: Job, at: str, row: Row) -> dict[str, int]:
        """Milli-GPU by node, of one that holds any."""
        where, before = f"{at}.placement", len(self._take.faults)
        placement = self._take.optional_mapping(row, "placement", at)
        if job.state is JobState.QUEUED:
            if placement:
                self._take.fault(where, f"{shown(placement)}, though it is queued; only what runs or stops holds GPUs")
            return {}
        if not placement and len(self._take.faults) == before:
            self._take.fault(where, f"missing, though it is {job.state}")
        amounts = {node: self._take.milli(placement, node, where) for node in placement}
        for node in (node for node in amounts if node not in self._nodes):
            self._take.fault(f"{where}.{node}", f"{shown(node)} is not a node; there is {listed(self._nodes)}")
        if amounts and not any(fault.path.startswith(f"{at}.") for fault in self._take.faults):
            self._check_whole(job, where, placement, amounts)
        return {node: milli for node, milli in amounts.items() if node in self._nodes}

    def _check_whole(self, job: Job, where: str, placement: Row, amounts: Mapping[str, int]) -> None:
        """As much as was asked for, of one model that is allowed."""
        ask = job.ask
        is_alike = set(amounts.values()) == {ask.milli} and len(amounts) <= ask.nodes
        if not (is_alike if ask.nodes > 1 else sum(amounts.values()) == ask.milli):
            each = f" on each of {ask.nodes} nodes" if ask.nodes > 1 else ""
            self._take.fault(where, f"{shown(placement)} is not {ask.milli / MILLI:g} GPU(s){each}")
        models = {self._models.get(node, "none") for node in amounts}
        if ask.milli and len(models) > 1:
            self._take.fault(where, f"{shown(placement)} is on {', '.join(sorted(models))}; one model is allowed")
        elif ask.milli and ask.gpu_models and not models <= ask.gpu_models:
            allowed = ", ".join(sorted(ask.gpu_models))
            self._take.fault(where, f"{shown(placement)} is on {', '.join(models)}; allowed is {allowed}")
