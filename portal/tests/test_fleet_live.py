"""The fleet simulator against the real portal: enrolled, given a job by the scheduler, and heard to its end."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from django.db import connection
from msgspec import json
from pytest_django.live_server_helper import LiveServer

from inventory.models import GpuModel, Node
from inventory.tests import factories as inventory
from scheduling import selectors
from scheduling.models import Charge
from scheduling.tests import factories as make

NAMES = ("h800-001", "h800-002", "h800-003")


def spec(folder: Path) -> Path:
    """Three nodes, each with a one-time token of its own."""
    where = inventory.pool("research", launcher="patient")
    admin = make.admin()
    facts = {"gpu_model": "NVIDIA H800 80GB HBM3", "gpus": 8, "cpus": 64, "memory_bytes": 2**40}
    nodes = [{"name": name, "token": inventory.token(admin, name, where), **facts} for name in NAMES]
    path = folder / "spec.json"
    path.write_bytes(json.encode({"nodes": nodes}))
    return path


def until(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Ask the database until it says so; each question waits for the fleet a moment in the database itself."""
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, what
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.2)")


@pytest.mark.django_db(transaction=True)
def test_the_fleet_enrols_and_plays_a_job_that_the_scheduler_placed(live_server: LiveServer, tmp_path: Path) -> None:
    options = ["--home", str(tmp_path / "home"), "--portal", live_server.url, "--spec", str(spec(tmp_path))]
    process = subprocess.Popen([sys.executable, "-m", "agent.fleet", *options])
    try:
        until(lambda: Node.objects.filter(last_seen_at__isnull=False).count() == len(NAMES), "all nodes heard")
        assert not Node.objects.filter(is_simulated=False).exists()
        job = make.job(
            make.project(), gpu_models=("h800",), env={"SIMULATED_RUNTIME_S": "3", "SIMULATED_EXIT_CODE": "0"}
        )
        assert make.decide() == [job.pk]

        def is_over() -> bool:
            job.refresh_from_db()
            return job.state == "succeeded"

        until(is_over, "the job succeeded")
        attempt = make.attempt_of(job)
        assert (attempt.launcher, attempt.cause, attempt.exit_code) == ("patient", "finished", 0)
        until(lambda: b"ended by finished" in selectors.log_read(job.pk).data, "the log is whole")
        assert selectors.log_read(job.pk).data.startswith(b"simulated: no process runs")
        assert Charge.objects.filter(project=job.project_id, is_simulated=True).exists()
        assert not Charge.objects.filter(is_simulated=False).exists()
        assert GpuModel.objects.get(name="h800").devices.count() == 8 * len(NAMES)
    finally:
        process.terminate()
        assert process.wait(timeout=20) == 0
