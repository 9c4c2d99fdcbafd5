"""Live history out, and through the engine again."""

import csv
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from kernel import clock
from scheduling.models import Attempt, AttemptMember, Job
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def _exported(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    now = clock.now()
    call_command(
        "export_workload",
        f"--since={(now - timedelta(days=30)).isoformat()}",
        f"--until={(now + timedelta(days=1)).isoformat()}",
        f"--nodes-out={folder / 'n.csv'}",
        f"--jobs-out={folder / 'j.csv'}",
    )
    return _rows(folder / "n.csv"), _rows(folder / "j.csv")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _ended(job: Job, fake: make.FakeNode, seconds: float) -> None:
    """It ended well, after so long."""
    [member] = make.members_of(job)
    fake.end(member.pk)
    fake.sync()
    attempt = make.attempt_of(job)
    assert attempt.ended_at is not None
    Attempt.objects.filter(pk=attempt.pk).update(started_at=attempt.ended_at - timedelta(seconds=seconds))


def test_a_workload_goes_out_and_through_a_replay(tmp_path: Path) -> None:
    fake = make.node(gpus=8)
    project = make.project()
    first = make.running_job(project, [fake], milli_gpus=2000, is_preemptible=True, max_runtime_s=3600, priority=3)
    _ended(first, fake, 900)
    second = make.running_job(project, [fake], milli_gpus=500, is_preemptible=True)
    _ended(second, fake, 60)
    nodes, jobs = _exported(tmp_path)
    assert [(row["name"], row["gpus"], row["gpu_model"]) for row in nodes] == [(fake.name, "8", "h100")]
    assert [(row["id"], row["project"], row["gpus"]) for row in jobs] == [
        (str(first.pk), project.name, "2"),
        (str(second.pk), project.name, "0.5"),
    ]
    assert [float(row["duration_s"]) for row in jobs] == [900, 60]
    assert (jobs[0]["preemptible"], jobs[0]["priority"], jobs[0]["max_runtime_s"]) == ("true", "3", "3600")
    arguments = [f"--nodes={tmp_path / 'n.csv'}", f"--jobs={tmp_path / 'j.csv'}", f"--out={tmp_path / 'r.json'}"]
    call_command("replay", *arguments)
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["jobs"], found["ended"], found["never_started"]) == (2, 2, 0)
    assert found["fairness"]["projects"][project.name]["got_gpu_hours"] == pytest.approx(
        (2 * 900 + 0.5 * 60) / 3600, abs=1e-4
    )


def test_what_goes_on_has_no_duration_and_what_never_ran_is_left_out(tmp_path: Path) -> None:
    fake = make.node(gpus=1)
    project = make.project(gpus=1, limit=1)
    running = make.running_job(project, [fake])
    queued, cancelled = make.job(project), make.job(project)
    Job.objects.filter(pk=cancelled.pk).update(state="cancelled")
    _nodes, jobs = _exported(tmp_path)
    assert [(row["id"], row["duration_s"]) for row in jobs] == [(str(running.pk), ""), (str(queued.pk), "")]


def test_an_interrupted_run_counts_up_to_its_checkpoint(tmp_path: Path) -> None:
    fake = make.node(gpus=2)
    project = make.project(gpus=2, limit=2)
    job = make.running_job(project, [fake])
    _ended(job, fake, 100)
    first = make.attempt_of(job)
    assert first.ended_at is not None
    earlier = first.ended_at - timedelta(hours=1)
    before = Attempt.objects.create(
        job=job,
        number=first.number + 10,
        launcher=first.launcher,
        gpu_model=first.gpu_model,
        state="ended",
        cause="preempted",
        assigned_at=earlier,
        started_at=earlier,
        ended_at=earlier + timedelta(seconds=500),
    )
    Attempt.objects.filter(pk=first.pk).update(number=first.number + 20)
    [member] = first.members.all()
    AttemptMember.objects.create(
        attempt=before,
        node=member.node,
        rank=0,
        launch_key="12345678-1234-5678-1234-567812345678",
        state="ended",
        newest_checkpoint_at=earlier + timedelta(seconds=300),
    )
    _nodes, jobs = _exported(tmp_path)
    assert [float(row["duration_s"]) for row in jobs] == [400]


@pytest.mark.parametrize(
    ("since", "until", "text"),
    [("yesterday", "2030-01-01", "--since: 'yesterday' is not"), ("2030-01-02", "2030-01-02", "is not after")],
)
def test_bad_bounds_write_nothing(tmp_path: Path, since: str, until: str, text: str) -> None:
    options: dict[str, Any] = {"nodes_out": tmp_path / "n.csv", "jobs_out": tmp_path / "j.csv"}
    with pytest.raises(CommandError, match=text) as refusal:
        call_command("export_workload", since=since, until=until, **options)
    assert refusal.value.returncode == 2
    assert list(tmp_path.iterdir()) == []
