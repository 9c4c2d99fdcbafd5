"""Fifty short jobs while every part is killed once: each runs exactly once, none is lost, no log line is missing or
doubled."""

import os
import signal
import uuid
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from portal.tests.setup.instances import READY, Running, eventually, run_once

pytestmark = [pytest.mark.fault, pytest.mark.slow, pytest.mark.timeout(400)]
JOBS = 50
LINES = 20
VICTIMS = ["agent-local-1", "worker-dispatch", "web", "valkey", "postgres"]
FINAL = {"succeeded", "failed", "cancelled", "timed_out"}
SCRIPT = f"echo begin $SLUICE_JOB_ID; for i in $(seq {LINES}); do echo line $i; sleep 0.05; done; echo end"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One instance with the demo organisation."""
    running = Running(tmp_path_factory.mktemp("fifty") / "data", options=())
    try:
        assert READY.fullmatch(running.start()), running.notes()
        yield running
    finally:
        if running.process is not None and running.process.poll() is None:
            running.end(signal.SIGTERM)


class Caller:
    """A client that tries again until the portal answers; its key makes the repetition harmless."""

    def __init__(self, running: Running, token: str) -> None:
        self.client = httpx.Client(base_url=running.address, headers={"Authorization": f"Bearer {token}"}, timeout=15)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        key = {"Idempotency-Key": uuid.uuid4().hex} if method == "POST" else {}
        answers: list[httpx.Response] = []

        def is_answered() -> bool:
            try:
                answer = self.client.request(method, path, json=body, headers=key)
            except httpx.HTTPError:
                return False
            answers.append(answer)
            return answer.status_code < 500

        eventually(is_answered, 90)
        return answers[-1]

    def submit(self, project: int, number: int) -> int:
        command = ["sh", "-c", SCRIPT]
        body = {"project": project, "name": f"short {number}", "command": command, "gpu_model": "h100", "gpus": 0.25}
        answer = self.call("POST", "/api/v1/jobs/", {**body, "max_runtime_s": 300})
        assert answer.status_code == 201, answer.text
        return int(answer.json()["id"])

    def states(self, jobs: list[int]) -> dict[int, str]:
        rows = self.call("GET", "/api/v1/jobs/?page_size=500").json()["results"]
        return {row["id"]: row["state"] for row in rows if row["id"] in jobs}


def project_with_quota(caller: Caller) -> int:
    """The demo's project with a guarantee on H100 in which the caller may run jobs."""
    rows = caller.call("GET", "/api/v1/quotas/?page_size=500").json()["results"]
    return int(next(row["project"] for row in rows if row["gpu_model"] == "h100" and row["guaranteed"] > 0))


def kill_and_await(running: Running, name: str) -> None:
    victim = running.children()[name]
    os.kill(victim.pid, signal.SIGKILL)
    eventually(lambda: running.children().get(name, victim) != victim, 60)


def is_any_running(caller: Caller, jobs: list[int]) -> bool:
    return "running" in caller.states(jobs).values()


def expected_log(job: int) -> str:
    lines = "".join(f"line {number}\n" for number in range(1, LINES + 1))
    return f"begin {job}\n{lines}end\n"


def test_fifty_jobs_run_exactly_once_whatever_is_killed(demo: Running) -> None:
    token = run_once("manage", "issue_token", "researcher", "--data", str(demo.folder)).stdout.strip()
    caller = Caller(demo, token)
    project = project_with_quota(caller)
    share = JOBS // len(VICTIMS)
    jobs: list[int] = []
    for name in VICTIMS:
        jobs += [caller.submit(project, len(jobs) + number) for number in range(share)]
        eventually(partial(is_any_running, caller, jobs), 90)
        kill_and_await(demo, name)
    assert len(set(jobs)) == JOBS
    eventually(lambda: set(caller.states(jobs).values()) <= FINAL, 200)
    for job in jobs:
        check_one(caller, job)


def check_one(caller: Caller, job: int) -> None:
    """One attempt, exit code 0, and a log that is the script's output to the byte."""
    row = caller.call("GET", f"/api/v1/jobs/{job}/").json()
    assert (row["state"], len(row["attempts"])) == ("succeeded", 1), row
    assert row["attempts"][0]["exit_code"] == 0
    eventually(lambda: len(log_of(caller, job)) >= len(expected_log(job)), 60)
    assert log_of(caller, job) == expected_log(job)


def log_of(caller: Caller, job: int) -> str:
    answer = caller.call("GET", f"/api/v1/jobs/{job}/log?offset=0")
    assert answer.status_code == 200, answer.text
    return answer.text
