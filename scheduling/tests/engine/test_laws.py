"""The laws of a decision, on random snapshots."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.tests.examples import examples
from scheduling.engine import Node, Policy, QueuedJob, Quota, RunningJob, Snapshot, decide
from scheduling.tests.engine.build import NOW, job, node, project, running

MODELS = ("a100", "h100")
PROJECTS = (1, 2, 3)


@st.composite
def nodes(draw: st.DrawFn, pk: int) -> Node:
    gpus = draw(st.integers(0, 8))
    free = draw(st.dictionaries(st.integers(0, 7), st.sampled_from([0, 250, 500, 900]), max_size=4))
    return node(
        pk,
        gpus,
        draw(st.sampled_from(MODELS)),
        free=free,
        free_cpus=draw(st.integers(0, 64)),
        can_start=draw(st.booleans()) or draw(st.booleans()),
        source=draw(st.sampled_from(["owned", "owned", "spot"])),
        holders=draw(st.sampled_from([None, None, frozenset({1})])),
    )


@st.composite
def jobs(draw: st.DrawFn, pk: int) -> QueuedJob:
    count = draw(st.sampled_from([1, 1, 1, 2, 3]))
    per_node = draw(st.sampled_from([0.25, 0.5, 1, 2, 4])) if count == 1 else draw(st.sampled_from([1, 2, 4]))
    return job(
        pk,
        per_node * count,
        draw(st.sampled_from(PROJECTS)),
        at=draw(st.integers(0, 5)),
        nodes=count,
        gpu_models=draw(st.sampled_from([frozenset(), frozenset({"h100"}), frozenset(MODELS)])),
        is_preemptible=draw(st.booleans()),
        cpus=draw(st.integers(0, 40)),
        not_before=draw(st.sampled_from([None, None, NOW + timedelta(days=1)])),
    )


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    quotas: dict[tuple[int, str], Quota] = {}
    for project_id in PROJECTS:
        for model in MODELS:
            guaranteed = draw(st.integers(0, 8)) * 1000
            extra = draw(st.sampled_from([None, 0, 4000]))
            if draw(st.booleans()) or project_id == 1:
                quotas[(project_id, model)] = Quota(guaranteed, None if extra is None else guaranteed + extra)
    at_work = draw(st.lists(st.tuples(st.sampled_from(PROJECTS), st.sampled_from(MODELS), st.booleans()), max_size=4))
    return Snapshot(
        nodes=tuple(draw(nodes(pk)) for pk in range(1, draw(st.integers(1, 4)) + 1)),
        queue=tuple(draw(jobs(pk)) for pk in range(1, draw(st.integers(1, 8)) + 1)),
        running=tuple(
            running(1000 + n, 1, owner, model, is_preemptible=soft) for n, (owner, model, soft) in enumerate(at_work)
        ),
        projects={pk: project(pk, is_active=pk != 3 or draw(st.booleans())) for pk in PROJECTS},
        quotas=quotas,
    )


def outcome(seen: Snapshot) -> Any:
    return decide(seen, NOW + timedelta(hours=1), Policy())


@settings(max_examples=examples(100), deadline=None)
@given(snapshots())
def test_no_device_is_given_more_than_it_has(seen: Snapshot) -> None:
    taken: Counter[int] = Counter()
    for start in outcome(seen).start:
        for devices in start.placement.values():
            taken.update(devices)
    free = {device.id: device.free_milli for here in seen.nodes for device in here.devices}
    assert all(taken[device] <= free[device] for device in taken)


@settings(max_examples=examples(100), deadline=None)
@given(snapshots())
def test_every_start_is_the_whole_of_what_was_asked(seen: Snapshot) -> None:
    queue = {queued.id: queued for queued in seen.queue}
    here = {place.id: place for place in seen.nodes}
    cpus: Counter[int] = Counter()
    for start in outcome(seen).start:
        asked = queue[start.job]
        assert len(start.placement) == asked.nodes
        assert {sum(devices.values()) for devices in start.placement.values()} == {asked.milli_per_node}
        for place, devices in start.placement.items():
            models = {device.id: device.gpu_model for device in here[place].devices}
            assert {models[device] for device in devices} <= {start.gpu_model}
            assert here[place].can_start
            cpus[place] += asked.cpus
    assert all(cpus[place] <= max(0, here[place].free_cpus) for place in cpus)


@settings(max_examples=examples(100), deadline=None)
@given(snapshots())
def test_every_start_is_inside_the_quota_of_an_active_project(seen: Snapshot) -> None:
    queue = {queued.id: queued for queued in seen.queue}
    decision = outcome(seen)
    fresh: list[RunningJob] = []
    for start in decision.start:
        asked = queue[start.job]
        assert seen.projects[asked.project].is_active
        assert not asked.gpu_models or start.gpu_model in asked.gpu_models
        fresh.append(RunningJob(asked.id, asked.project, start.gpu_model, asked.milli_gpus, asked.is_preemptible))
    for key in {(one.project, one.gpu_model) for one in fresh}:
        quota, every = seen.quotas[key], [*seen.running, *fresh]
        mine = [one for one in every if (one.project, one.gpu_model) == key]
        started_hard = any(not one.is_preemptible for one in fresh if (one.project, one.gpu_model) == key)
        assert quota.limit_milli is None or sum(one.milli_gpus for one in mine) <= quota.limit_milli
        hard = sum(one.milli_gpus for one in mine if not one.is_preemptible)
        assert hard <= quota.guaranteed_milli or not started_hard


@settings(max_examples=examples(100), deadline=None)
@given(snapshots())
def test_every_job_is_in_exactly_one_list_with_a_sentence(seen: Snapshot) -> None:
    decision = outcome(seen)
    assert sorted([*(s.job for s in decision.start), *(w.job for w in decision.wait)]) == [q.id for q in seen.queue]
    assert all(wait.text.endswith(".") and wait.reason for wait in decision.wait)


@settings(max_examples=examples(60), deadline=None)
@given(snapshots(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(seen: Snapshot, random: Any) -> None:
    shuffled_nodes, shuffled_queue = list(seen.nodes), list(seen.queue)
    random.shuffle(shuffled_nodes)
    random.shuffle(shuffled_queue)
    other = Snapshot(
        tuple(shuffled_nodes), tuple(shuffled_queue), seen.running[::-1], seen.projects, seen.quotas, seen.reserve_milli
    )
    assert outcome(seen) == outcome(other)


@settings(max_examples=examples(60), deadline=None)
@given(snapshots())
def test_what_was_decided_leaves_nothing_more_to_start(seen: Snapshot) -> None:
    """Room only shrinks: with all starts applied, the same queue's rest does not start either."""
    decision = outcome(seen)
    taken: Counter[int] = Counter()
    users: dict[int, set[int]] = {}
    cpus: Counter[int] = Counter()
    queue = {queued.id: queued for queued in seen.queue}
    fresh = []
    for start in decision.start:
        asked = queue[start.job]
        fresh.append(
            RunningJob(asked.id, asked.project, start.gpu_model, asked.milli_gpus, asked.is_preemptible, cpus=0)
        )
        for place, devices in start.placement.items():
            taken.update(devices)
            cpus[place] += asked.cpus
            for device in devices:
                users.setdefault(device, set()).add(asked.project)
    after = Snapshot(
        tuple(_after(place, taken, users, cpus) for place in seen.nodes),
        tuple(queued for queued in seen.queue if queued.id not in {s.job for s in decision.start}),
        (*seen.running, *fresh),
        seen.projects,
        seen.quotas,
    )
    assert not outcome(after).start


def _after(place: Node, taken: Counter[int], users: dict[int, set[int]], cpus: Counter[int]) -> Node:

    devices = tuple(
        replace(d, free_milli=d.free_milli - taken[d.id], projects=d.projects | frozenset(users.get(d.id, ())))
        for d in place.devices
    )
    return replace(place, devices=devices, free_cpus=place.free_cpus - cpus[place.id])
