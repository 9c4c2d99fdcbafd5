"""A workload through the engine: times, interruptions, lost work and fairness, by hand on small workloads."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from kernel.documents import BadInput
from scheduling.engine.replay.measures import Outcome, Spread
from scheduling.engine.replay.past_use import PastUse
from scheduling.engine.replay.simulation import replay
from scheduling.engine.replay.terms import read_terms
from scheduling.engine.replay.workload import read_workload

NODES = "name,gpu_model,gpus,cpus,memory_mb\nn0,h100,4,,\n"
HEAD = "id,project,submitted_at,duration_s,gpus,gpu_models,priority,preemptible,nodes_exact"


def _jobs(*rows: str, more: str = "") -> str:
    return "\n".join([f"{HEAD}{more}", *rows, ""])


def _replayed(jobs: str, nodes: str = NODES, **policy: Any) -> Outcome:
    workload = read_workload(nodes, jobs)
    return replay(workload, read_terms(policy, {job.project for job in workload.jobs}, {"h100"}))


def test_one_after_the_other() -> None:
    outcome = _replayed(_jobs("a,q,0,100,4,h100,0,true,", "b,q,10,50,4,,0,true,1"))
    assert (outcome.jobs, outcome.ended, outcome.never_started) == (2, 2, 0)
    assert outcome.waiting_s == Spread(45, 45, 90)
    assert outcome.completion_s == Spread(120, 120, 140)
    assert outcome.allocation_rate == 100
    assert outcome.preemptions == 0
    assert outcome.simulated_s == 150
    assert outcome.fairness["q"].got_gpu_hours == pytest.approx(4 * 150 / 3600)


def test_what_never_fits_never_starts() -> None:
    outcome = _replayed(_jobs("a,q,0,100,8,h100,0,true,", "b,q,10,50,2,,0,true,"))
    assert (outcome.ended, outcome.never_started) == (1, 1)


def test_a_job_without_a_duration_never_ends() -> None:
    outcome = _replayed(_jobs("a,q,0,,4,h100,0,true,", "b,q,100,50,2,,0,true,"))
    assert (outcome.ended, outcome.never_started) == (0, 1)
    assert outcome.simulated_s == 100


def test_a_job_ends_at_its_max_runtime() -> None:
    outcome = _replayed(_jobs("a,q,0,100,4,h100,0,true,,60", more=",max_runtime_s"))
    assert outcome.completion_s.mean == 60


VICTIM = _jobs("a,q,0,1000,4,h100,0,true,", "b,q,250,100,4,h100,9,true,")


def test_a_preempted_job_comes_back_with_its_whole_work() -> None:
    """a works 250 s, holds its GPUs for 30 s of grace, waits while b works, and starts from nothing at 380."""
    outcome = _replayed(VICTIM, grace_s=30)
    assert (outcome.preemptions, outcome.ended) == (1, 2)
    assert outcome.lost_gpu_hours == pytest.approx(4 * 280 / 3600)
    assert outcome.completion_s == Spread((1380 + 130) / 2, (1380 + 130) / 2, 1380)


def test_a_checkpoint_saves_what_was_done_before_it() -> None:
    """Of 250 s, 200 are behind a checkpoint: 800 are left from 380 on."""
    outcome = _replayed(VICTIM, grace_s=30, checkpoint_interval_s=100)
    assert outcome.lost_gpu_hours == pytest.approx(4 * 80 / 3600)
    assert outcome.completion_s.p95 == 1180


def test_the_interrupted_keep_their_place() -> None:
    """a, stopped for b, starts again before c, which came later."""
    rows = ("a,q,0,1000,4,h100,0,true,", "b,q,250,100,4,h100,9,true,", "c,q,100,10,4,h100,0,true,")
    outcome = _replayed(_jobs(*rows), grace_s=0)
    assert outcome.completion_s.p95 == 1350
    assert outcome.waiting_s == Spread(1250 / 3, 0, 1250)


def test_a_minimum_run_time_is_waited_for() -> None:
    rows = ("a,q,0,1000,4,h100,0,true,,300", "b,q,250,100,4,h100,9,true,,")
    outcome = _replayed(_jobs(*rows, more=",min_runtime_s"), grace_s=0)
    assert outcome.preemptions == 1
    assert outcome.waiting_s.p95 == 50


def test_two_projects_share_as_their_weights_say() -> None:
    """3 and 1 of four GPUs are due while both want all; p has done its eight hours first."""
    rows = [f"{project}{n},{project},0,3600,1,h100,0,true," for project in "pq" for n in range(8)]
    outcome = _replayed(_jobs(*rows), projects=[{"name": "p", "weight": 3}, {"name": "q"}], usage_sensitivity=0)
    assert (outcome.ended, outcome.preemptions) == (16, 0)
    assert {name: part.got_gpu_hours for name, part in outcome.fairness.items()} == {"p": 8, "q": 8}
    assert outcome.fairness["p"].due_gpu_hours == pytest.approx(8)
    assert outcome.jain_index == pytest.approx(1)


def test_guarantees_and_groups_come_from_the_policy() -> None:
    policy: dict[str, Any] = {
        "groups": [{"name": "d", "limit": {"h100": 2}}],
        "projects": [{"name": "q", "group": "d"}],
        "reserve": {},
    }
    outcome = _replayed(_jobs("a,q,0,100,4,h100,0,true,", "b,q,0,50,2,,0,true,"), **policy)
    assert (outcome.ended, outcome.never_started) == (1, 1)


def test_two_replays_are_alike() -> None:
    rows = [f"j{n},{'pqr'[n % 3]},{n * 37 % 101},{50 + n * 13 % 60},{1 + n % 4},h100,{n % 2},true," for n in range(40)]
    assert _replayed(_jobs(*rows), grace_s=5) == _replayed(_jobs(*rows), grace_s=5)


def test_past_use_is_the_decayed_part_of_the_capacity() -> None:
    """Half of the GPUs during one half-life are a quarter of what there ever was; a half-life later an eighth."""
    past = PastUse(100, {"h100": 4000})
    past.pass_time(100, {(1, "h100"): 2000})
    assert float(past.parts()[1]["h100"]) == pytest.approx(0.25, abs=1e-6)
    past.pass_time(100, {})
    assert float(past.parts()[1]["h100"]) == pytest.approx(0.125, abs=1e-6)
    past.credit(1, "h100", 10**9)
    assert past.parts()[1]["h100"] == 0


def test_past_use_moves_the_shares() -> None:
    """p has used all for a half-life: u = 0.5, so the weights are 0.5 and 1, and of four GPUs one and three are due."""
    week = 7 * 86_400
    rows = [f"a,p,0,{week},4,h100,0,true,", f"z,p,{week + 3600},,1,,0,true,"]
    rows += [f"{project}{n},{project},{week},,1,h100,0,true," for project in "pq" for n in range(4)]
    due = {k: _replayed(_jobs(*rows), usage_sensitivity=k).fairness["q"].due_gpu_hours for k in (0, 1)}
    assert due == {0: pytest.approx(2), 1: pytest.approx(3)}


BAD_JOBS = [
    ("", "jobs line 1, id"),
    ("id,project\na,q\n", "jobs line 1, submitted_at"),
    ('"id,project', "jobs line 1, header"),
    (_jobs("a,q,0,100,4,h100,0,true"), "jobs line 2, row"),
    (_jobs("a,q,0,100,4,h100,0,true,,,"), "jobs line 2, row"),
    (_jobs("a,q,0,100,4,h100,0,true,", "a,q,0,100,4,h100,0,true,"), "jobs line 3, id"),
    (_jobs(",q,0,100,4,h100,0,true,"), "jobs line 2, id"),
    (_jobs("a,,0,100,4,h100,0,true,"), "jobs line 2, project"),
    (_jobs("a,q,,100,4,h100,0,true,"), "jobs line 2, submitted_at"),
    (_jobs("a,q,-1,100,4,h100,0,true,"), "jobs line 2, submitted_at"),
    (_jobs("a,q,noon,100,4,h100,0,true,"), "jobs line 2, submitted_at"),
    (_jobs("a,q,NaN,100,4,h100,0,true,"), "jobs line 2, submitted_at"),
    (_jobs("a,q,0,1e999999999,4,h100,0,true,"), "jobs line 2, duration_s"),
    (_jobs("a,q,0,100,,h100,0,true,"), "jobs line 2, gpus"),
    (_jobs("a,q,0,100,1.5,h100,0,true,"), "jobs line 2, gpus"),
    (_jobs("a,q,0,100,0.0001,h100,0,true,"), "jobs line 2, gpus"),
    (_jobs("a,q,0,100,-4,h100,0,true,"), "jobs line 2, gpus"),
    (_jobs("a,q,0,100,3,h100,0,true,2"), "jobs line 2, gpus"),
    (_jobs("a,q,0,100,4,h100,high,true,"), "jobs line 2, priority"),
    (_jobs("a,q,0,100,4,h100,0.5,true,"), "jobs line 2, priority"),
    (_jobs("a,q,0,100,4,h100,0,maybe,"), "jobs line 2, preemptible"),
    (_jobs("a,q,0,100,4,h100,0,true,0"), "jobs line 2, nodes_exact"),
    (_jobs("a,q,0,100,4,h100,0,true,1.5"), "jobs line 2, nodes_exact"),
    (_jobs('a,q,0,100,"4'), "jobs line 2, row"),
    ("name,cpu_milli,memory_mib,num_gpu\np,1,1,1\n", "jobs line 1, gpu_milli"),
    ("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,one,1000\n", "jobs line 2, num_gpu"),
]


@pytest.mark.parametrize(("text", "path"), BAD_JOBS, ids=range(len(BAD_JOBS)))
def test_a_bad_row_is_named_by_line_and_column(text: str, path: str) -> None:
    with pytest.raises(BadInput) as refusal:
        read_workload(NODES, text)
    assert path in [fault.path for fault in refusal.value.faults]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("name,gpu_model\nn0,h100\n", "nodes line 1, gpus"),
        ("name,gpu_model,gpus\nn0,h100,two\n", "nodes line 2, gpus"),
        ("name,gpu_model,gpus\nn0,,2\n", "nodes line 2, gpu_model"),
        ("name,gpu_model,gpus\nn0,h100,2\nn0,h100,2\n", "nodes line 3, name"),
        ("name,gpu_model,gpus,cpus\nn0,h100,2,many\n", "nodes line 2, cpus"),
        ("name,gpu_model,gpus\nn0,h100,9999\n", "nodes line 2, gpus"),
        ("sn,cpu_milli,memory_mib,gpu,model\nn0,1,1,x,A\n", "nodes line 2, gpu"),
        ("sn,cpu_milli,memory_mib,gpu\nn0,1,1,1\n", "nodes line 1, model"),
    ],
)
def test_a_bad_node_is_named_by_line_and_column(text: str, path: str) -> None:
    with pytest.raises(BadInput) as refusal:
        read_workload(text, _jobs())
    assert path in [fault.path for fault in refusal.value.faults]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([], "$"),
        ({"grace_s": -1}, "$.grace_s"),
        ({"checkpoint_interval_s": 0}, "$.checkpoint_interval_s"),
        ({"half_life_s": "week"}, "$.half_life_s"),
        ({"projects": [{"name": "q", "group": "d"}]}, "$.projects[0].group"),
        ({"usage_sensitivity": -1}, "$.usage_sensitivity"),
    ],
)
def test_a_bad_policy_is_named_by_its_path(document: Any, path: str) -> None:
    with pytest.raises(BadInput) as refusal:
        read_terms(document, {"q"}, {"h100"})
    assert [fault.path for fault in refusal.value.faults] == [path]


OPENB_NODES = "sn,cpu_milli,memory_mib,gpu,model\n" + "".join(f"n{n},64000,262144,2,T4\n" for n in range(4))
OPENB_JOBS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time\n"


def test_openb_with_times() -> None:
    workload = read_workload(OPENB_NODES, OPENB_JOBS + "a,1000,1,2,1000,,0,100\nb,1000,1,1,500,T4|P100,10,30\n")
    outcome = replay(workload, read_terms({}, {"openb"}, {"T4"}))
    assert outcome.completion_s == Spread(60, 60, 100)


def _files(folder: Path, jobs: str, nodes: str = NODES) -> list[str]:
    (folder / "n.csv").write_text(nodes, encoding="utf-8")
    (folder / "j.csv").write_text(jobs, encoding="utf-8")
    return ["--nodes", str(folder / "n.csv"), "--jobs", str(folder / "j.csv"), "--out", str(folder / "r.json")]


def test_the_command_writes_what_it_measured(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"grace_s": 30, "checkpoint_interval_s": 100}')
    call_command("replay", *_files(tmp_path, VICTIM), "--policy", str(tmp_path / "p.json"))
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["schema"] == "replay/1"
    assert found["preemptions"] == 1
    assert found["decisions_per_second"] > 0
    assert set(found["waiting_s"]) == {"mean", "median", "p95"}


def test_the_command_inflates(tmp_path: Path) -> None:
    jobs = OPENB_JOBS + "".join(f"p{n},1000,100,1,{500 + 500 * (n % 2)},,,\n" for n in range(12))
    call_command("replay", *_files(tmp_path, jobs, OPENB_NODES), "--experiment", "inflation", "--seed", "7")
    found = json.loads((tmp_path / "r.json").read_text())
    assert 50 < found["allocation_rate_at_100"] <= 100
    assert found["seed"] == 7


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refusal:
        call_command("replay", *_files(tmp_path, _jobs("a,q,0,100,x,h100,0,true,", "b,q,x,100,1,,0,true,")))
    assert refusal.value.returncode == 2
    assert [line.split(":")[0] for line in str(refusal.value).splitlines()] == [
        "jobs line 2, gpus",
        "jobs line 3, submitted_at",
    ]
    assert not (tmp_path / "r.json").exists()


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    arguments = _files(tmp_path, _jobs())
    (tmp_path / "n.csv").unlink()
    with pytest.raises(CommandError) as refusal:
        call_command("replay", *arguments)
    assert refusal.value.returncode == 2


def test_interruptions_stay_within_the_budget_however_past_use_moves_shares() -> None:
    """Equal projects whose last unit of share changes sides with past use: a minimum run time bounds the swaps."""
    rows = [f"{project}{n},{project},0,2000,{size},h100,0,true,,60" for project, size in ("p1", "q2") for n in range(6)]
    outcome = _replayed(_jobs(*rows, more=",min_runtime_s"), nodes=NODES.replace(",4,", ",3,"), usage_sensitivity=1)
    assert outcome.ended == 12
    assert outcome.preemptions <= 12 * 5
