"""Submit-to-running time and launches per second of a running instance.

    python benchmarks/launch.py --url http://127.0.0.1:8000 --token TOKEN --project ID [--jobs 40] [--gpu-model h100]

*Submit to running*: jobs one after another, each submitted when the one before has ended; from the portal's own
record of the submission to its own record of the step to ``running`` (``/events/``), so polling adds nothing.
*Launches per second*: all jobs at once; the steps to ``running``, divided by the time from the first to the last.
Waits are bounded; a job that does not get there in time is counted in ``missing`` and never left out silently.
"""

import argparse
import json
import statistics
import sys
import time
from datetime import datetime
from typing import Any

import httpx

DEADLINE_S = 120
FINAL = {"succeeded", "failed", "cancelled", "timed_out"}


def submit(client: httpx.Client, project: int, gpu_model: str, gpus: float, name: str) -> int:
    body = {
        "project": project,
        "name": name,
        "command": ["true"],
        "gpu_model": gpu_model,
        "gpus": gpus,
        "max_runtime_s": 60,
    }
    answer = client.post("/api/v1/jobs/", json=body)
    answer.raise_for_status()
    return int(answer.json()["id"])


def wait_final(client: httpx.Client, job: int) -> str:
    deadline = time.monotonic() + DEADLINE_S
    state = "unknown"
    while time.monotonic() < deadline:
        state = client.get(f"/api/v1/jobs/{job}/").raise_for_status().json()["state"]
        if state in FINAL:
            break
        time.sleep(0.1)
    return state


def instants(client: httpx.Client, job: int) -> tuple[datetime, datetime | None]:
    """When the portal recorded the submission, and the step to running (None: never).

    A job that was over before its node said *running* counts from the start in its exit record.
    """
    row = client.get(f"/api/v1/jobs/{job}/").raise_for_status().json()
    submitted = datetime.fromisoformat(row["submitted_at"])
    events = client.get(f"/api/v1/jobs/{job}/events/").raise_for_status().json()["results"]
    steps = [e for e in events if e["subject"] == "job" and e["to_state"] == "running"]
    started = steps[0]["at"] if steps else next((a["started_at"] for a in row["attempts"]), None)
    return submitted, datetime.fromisoformat(started) if started else None


def one_by_one(client: httpx.Client, args: argparse.Namespace) -> dict[str, Any]:
    seconds, missing = [], 0
    for number in range(args.jobs):
        job = submit(client, args.project, args.gpu_model, args.gpus, f"launch-latency-{number}")
        wait_final(client, job)
        submitted, running = instants(client, job)
        if running is None:
            missing += 1
        else:
            seconds.append((running - submitted).total_seconds())
    return {"measure": "submit_to_running_s", "jobs": args.jobs, "missing": missing, **spread(seconds)}


def all_at_once(client: httpx.Client, args: argparse.Namespace) -> dict[str, Any]:
    jobs = [submit(client, args.project, args.gpu_model, args.gpus, f"launch-rate-{n}") for n in range(args.jobs)]
    for job in jobs:
        wait_final(client, job)
    started = sorted(at for at in (instants(client, job)[1] for job in jobs) if at is not None)
    span = (started[-1] - started[0]).total_seconds() if len(started) > 1 else 0.0
    rate = (len(started) - 1) / span if span else None
    return {
        "measure": "launches_per_s",
        "jobs": args.jobs,
        "missing": args.jobs - len(started),
        "rate": rate,
        "span_s": span,
    }


def spread(values: list[float]) -> dict[str, float | None]:
    if not values:
        return {"median": None, "p95": None, "max": None}
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 3),
        "max": round(ordered[-1], 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Submit-to-running time and launches per second.")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token", required=True)
    parser.add_argument("--project", type=int, required=True)
    parser.add_argument("--gpu-model", default="h100")
    parser.add_argument("--gpus", type=float, default=1)
    parser.add_argument("--jobs", type=int, default=20)
    args = parser.parse_args()
    headers = {"Authorization": f"Bearer {args.token}"}
    with httpx.Client(base_url=args.url, headers=headers, timeout=30) as client:
        results = [one_by_one(client, args), all_at_once(client, args)]
    for result in results:
        print(json.dumps(result))
    return 1 if any(result["missing"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
