"""Who may start: project, guarantee, limit, reserve, CPU and memory."""

from datetime import timedelta

from scheduling.tests.engine.build import NOW, decided, job, node, project, quota, running, started, wait_of


def test_first_in_first_out_by_time_then_id() -> None:
    decision = decided([node(1)], [job(3, 4, at=5), job(2, 4, at=5), job(1, 4, at=9)])
    assert started(decision) == [2, 3]
    assert wait_of(decision, 1).reason == "guarantee"


def test_a_project_that_is_not_active_starts_nothing() -> None:
    decision = decided([node(1)], [job(1)], projects={1: project(is_active=False)})
    wait = wait_of(decision, 1)
    assert (wait.reason, wait.text) == (
        "project_state",
        "Project P1 is not active; only an active project runs jobs.",
    )


def test_back_off_holds_a_job_until_its_time() -> None:
    until = NOW + timedelta(hours=2)
    decision = decided([node(1)], [job(1, not_before=until), job(2, not_before=NOW)])
    assert started(decision) == [2]
    wait = wait_of(decision, 1)
    assert (wait.reason, wait.until) == ("backoff", until)


def test_no_quota_is_said_with_the_models_asked_for() -> None:
    decision = decided(
        [node(1)],
        [job(1, gpu_models=frozenset({"b200", "a100"})), job(2, project=3)],
        projects={1: project(), 3: project(3)},
    )
    assert wait_of(decision, 1).text == "Project P1 has no GPU quota on a100 or b200."
    assert wait_of(decision, 2).text == "Project P3 has no GPU quota."


def test_a_job_that_is_not_preemptible_stays_inside_the_guarantee() -> None:
    quotas = {(1, "h100"): quota(4, 8)}
    decision = decided([node(1)], [job(1, 2)], quotas=quotas, running=(running(7, 3),))
    wait = wait_of(decision, 1)
    assert wait.reason == "guarantee"
    assert wait.needs == {"gpu_model": "h100", "gpus": 2.0, "guaranteed": 4.0, "used": 3.0, "missing": 1.0}
    assert wait.text == (
        "A job that is not preemptible runs inside the guarantee: project P1 is guaranteed 4 GPUs of h100 and its such "
        "jobs use 3 GPUs; this job needs 2 GPUs, 1 GPU too many."
    )


def test_preemptible_jobs_go_beyond_the_guarantee_up_to_the_limit() -> None:
    quotas = {(1, "h100"): quota(1, 3)}
    queue = [job(n, 1, is_preemptible=True) for n in range(1, 5)]
    decision = decided([node(1)], queue, quotas=quotas)
    assert started(decision) == [1, 2, 3]
    assert wait_of(decision, 4).reason == "limit"
    assert wait_of(decision, 4).needs["missing"] == 1.0


def test_preemptible_jobs_do_not_use_up_the_guarantee() -> None:
    quotas = {(1, "h100"): quota(2, None)}
    decision = decided([node(1)], [job(1, 2)], quotas=quotas, running=(running(7, 4, is_preemptible=True),))
    assert started(decision) == [1]


def test_what_a_quota_refuses_holds_nobody_back() -> None:
    quotas = {(1, "h100"): quota(2, 8)}
    decision = decided([node(1)], [job(1, 4), job(2, 1), job(3, 4, is_preemptible=True)], quotas=quotas)
    assert started(decision) == [2, 3]


def test_the_reserve_stays_free() -> None:
    fields = {"quotas": {(1, "h100"): quota(8)}, "reserve_milli": {"h100": 1000}}
    decision = decided([node(1)], [job(1, 7), job(2, 1)], **fields)
    assert started(decision) == [1]
    wait = wait_of(decision, 2)
    assert wait.text.startswith("Of h100, 1 GPU would be free, but 1 GPU must stay so as the emergency reserve;")


def test_nodes_that_are_down_are_no_part_of_the_reserve() -> None:
    fields = {"quotas": {(1, "h100"): quota(8)}, "reserve_milli": {"h100": 1000}}
    decision = decided([node(1, 1), node(2, 8, counts=False, can_start=False)], [job(1)], **fields)
    assert wait_of(decision, 1).reason == "reserve"


def test_what_runs_on_nodes_that_are_down_does_not_use_up_the_reserve() -> None:
    down = node(2, 8, free=dict.fromkeys(range(8), 0), counts=False, can_start=False)
    fields = {"quotas": {(1, "h100"): quota(16)}, "reserve_milli": {"h100": 1000}}
    decision = decided([node(1, 4), down], [job(1, 4), job(2, 3)], running=(running(7, 8, project=2),), **fields)
    assert started(decision) == [2]
    assert wait_of(decision, 1).reason == "reserve"


def test_without_free_gpus_the_reason_is_room_and_not_the_reserve() -> None:
    fields = {"quotas": {(1, "h100"): quota(8)}, "reserve_milli": {"h100": 1000}}
    decision = decided([node(1, 2)], [job(1, 1), job(2, 2)], **fields)
    assert wait_of(decision, 2).reason == "no_room"


def test_cpu_and_memory_are_compared_only_where_there_is_a_quota() -> None:
    limited = {1: project(cpu_limit=10, memory_limit_bytes=100)}
    queue = [job(1, cpus=6), job(2, cpus=6), job(3, memory_bytes=101), job(4)]
    decision = decided([node(1)], queue, projects=limited)
    assert started(decision) == [1, 4]
    assert wait_of(decision, 2).text == (
        "Project P1 may use at most 10 cores and uses 6; this job needs 6, 2 too many."
    )
    assert wait_of(decision, 3).needs["resource"] == "memory"
    assert started(decided([node(1)], queue)) == [1, 2, 3, 4]


def test_cpu_of_a_gang_counts_on_each_node() -> None:
    limited = {1: project(cpu_limit=10)}
    decision = decided([node(1), node(2)], [job(1, 2, nodes=2, cpus=6)], projects=limited)
    assert wait_of(decision, 1).needs["asked"] == 12


def test_running_jobs_count_their_cpu() -> None:
    limited = {1: project(cpu_limit=10)}
    decision = decided([node(1)], [job(1, cpus=6)], projects=limited, running=(running(7, 1, cpus=5),))
    assert wait_of(decision, 1).reason == "limit"


def test_the_first_model_by_name_that_takes_the_job() -> None:
    quotas = {(1, "a100"): quota(0, 0), (1, "h100"): quota(8)}
    nodes = [node(1, model="a100"), node(2)]
    decision = decided(nodes, [job(1)], quotas=quotas)
    assert [(s.job, s.gpu_model) for s in decision.start] == [(1, "h100")]
    decision = decided(nodes, [job(1, gpu_models=frozenset({"a100"}))], quotas=quotas)
    assert wait_of(decision, 1).reason == "limit"
