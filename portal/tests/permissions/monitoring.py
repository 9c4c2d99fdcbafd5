"""Telemetry: of GPUs for everybody signed in, of jobs and projects for whoever may see them."""

from portal.tests.permissions.table import row

# fmt: off
ROWS = [
    #                                                anon strg rsch lead dire admi audi
    row("GET", "/api/v1/telemetry/gpus",            "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/telemetry/jobs/{job}",      "401 404 200 200 200 200 200"),
    row("GET", "/api/v1/telemetry/projects/{project}", "401 404 200 200 200 200 200"),
]
