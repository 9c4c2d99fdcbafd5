"""Health, metrics, the OpenAPI document."""

from portal.tests.permissions.table import row

# fmt: off
ROWS = [
    #                       anon strg rsch lead dire admi audi
    row("GET", "/livez",   "200 200 200 200 200 200 200"),
    row("GET", "/readyz",  "200/503 200/503 200/503 200/503 200/503 200/503 200/503"),
    row("GET", "/metrics", "200 200 200 200 200 200 200"),
    row("GET", "/api/schema", "200 200 200 200 200 200 200"),
]
