"""Nodes, pools, GPU models: everybody signed in reads them, admins change them."""

from portal.tests.permissions.table import row

# fmt: off
ROWS = [
    #                                                anon strg rsch lead dire admi audi
    row("GET", "/api/v1/nodes",                     "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/nodes/{node}",              "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/nodes/{node}/price",       "401 403 403 403 403 200 403", body={"per_gpu_hour": "2.5"}),
    row("GET", "/api/v1/pools",                     "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/pools",                    "401 403 403 403 403 201 403",
        body={"name": "evening", "title": "Evening"}),
    row("GET", "/api/v1/pools/{pool}",              "401 200 200 200 200 200 200"),
    row("PATCH", "/api/v1/pools/{pool}",            "401 403 403 403 403 200 403", body={"grace_s": 60}),
    row("GET", "/api/v1/enrolment-tokens",          "401 403 403 403 403 200 200"),
    row("POST", "/api/v1/enrolment-tokens",         "401 403 403 403 403 201 403",
        body={"node_name": "node-c", "pool": "shared"}),
    row("POST", "/api/v1/enrolment-tokens/{enrolment}/revoke", "401 403 403 403 403 200 403"),
]
