"""Jobs: its API and its pages. The queued, paused and ended jobs are the researcher's, the running one the lead's."""

from typing import Any

from portal.tests.permissions.table import Row, row

JOB = {"project": "{project}", "name": "train", "command": ["python", "train.py"], "gpus": 1}
SWITCH = {"project": "{project}", "preemptible": True}
FORM = {"project": "{project}", "name": "train", "command": "python train.py", "gpus": "1", "signal": "SIGTERM"}


def job_row(method: str, path: str, expected: str, **more: Any) -> Row:
    """A writing call for which a token's scope ``jobs`` is enough."""
    return row(method, path, expected, by_jobs_scope=True, **more)


# fmt: off
ROWS = [
    #                                               anon strg rsch lead dire admi audi
    row("GET", "/jobs",                            "in 200 200 200 200 200 200"),
    row("GET", "/jobs/new",                        "in 200 200 200 200 200 200"),
    row("POST", "/jobs/new",                       "in 422 302 302 422 422 422", body=FORM),
    row("POST", "/jobs/new/check",                 "in 200 200 200 200 200 200", body=FORM),
    row("GET", "/jobs/{job}",                      "in 404 200 200 200 200 200"),
    row("GET", "/jobs/{job}/state",                "in 404 200 200 200 200 200"),
    row("GET", "/jobs/{job}/check",                "in 404 200 200 200 200 200"),
    row("GET", "/jobs/{job}/request",              "in 404 200 200 200 200 200"),
    row("GET", "/jobs/{job}/history",              "in 404 200 200 200 200 200"),
    row("GET", "/jobs/{job}/log",                  "in 404 200 200 200 200 200", is_stream=True),
    row("GET", "/jobs/{ended}/log/stream",         "in 404 200 200 200 200 200", is_stream=True),
    row("GET", "/jobs/{job}/cancel",               "in 404 200 200 403 200 403"),
    row("POST", "/jobs/{job}/cancel",              "in 404 302 302 403 302 403"),
    row("POST", "/jobs/{running}/cancel",          "in 404 403 302 403 302 403"),
    row("POST", "/jobs/{job}/pause",               "in 404 302 302 403 302 403"),
    row("POST", "/jobs/{paused}/resume",           "in 404 302 302 403 302 403"),
    row("POST", "/jobs/{ended}/requeue",           "in 404 302 302 403 302 403"),

    row("GET", "/scheduling/policy",               "in 200 200 200 200 200 200"),
    row("POST", "/scheduling/policy",              "in 403 403 403 403 422 403"),

    row("GET", "/api/v1/jobs",                     "401 200 200 200 200 200 200"),
    job_row("POST", "/api/v1/jobs",                "401 404 201 201 403 403 403", body=JOB),
    job_row("POST", "/api/v1/jobs/launch-check",   "401 404 200 200 403 403 403", body=JOB),
    job_row("POST", "/api/v1/jobs/preemptible",    "401 404 403 200 403 200 403", body=SWITCH),
    row("GET", "/api/v1/jobs/{job}",               "401 404 200 200 200 200 200"),
    row("GET", "/api/v1/jobs/{job}/events",        "401 404 200 200 200 200 200"),
    row("GET", "/api/v1/jobs/{job}/log",           "401 404 200 200 200 200 200"),
    job_row("POST", "/api/v1/jobs/{job}/cancel",   "401 404 200 200 403 200 403"),
    job_row("POST", "/api/v1/jobs/{running}/cancel", "401 404 403 200 403 200 403"),
    job_row("POST", "/api/v1/jobs/{running}/pause", "401 404 403 200 403 200 403"),
    job_row("POST", "/api/v1/jobs/{job}/pause",    "401 404 200 200 403 200 403"),
    job_row("POST", "/api/v1/jobs/{paused}/resume", "401 404 200 200 403 200 403"),
    job_row("POST", "/api/v1/jobs/{ended}/requeue", "401 404 200 200 403 200 403"),
    job_row("POST", "/api/v1/jobs/{running}/clone", "401 404 201 201 403 403 403", body={"name": "again"}),

    row("POST", "/api/v1/nodes/{node}/drain",      "401 403 403 403 403 200 403"),
    row("POST", "/api/v1/nodes/{node}/undrain",    "401 403 403 403 403 409 403"),
    row("POST", "/api/v1/nodes/{node}/maintain",   "401 403 403 403 403 409 403"),
    row("POST", "/api/v1/nodes/{node}/remove",     "401 403 403 403 403 409 403"),
    row("POST", "/api/v1/nodes/{node}/declare-lost", "401 403 403 403 403 409 403"),
]
