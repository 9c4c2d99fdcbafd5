"""Nodes, pools, GPU models: everybody signed in reads them, admins change them."""

from portal.tests.permissions.table import row

POOL = {"title": "Evening", "grace_s": "60", "lost_after_s": "60"}
PRICE = {"per_gpu_hour": "2.5", "currency": "USD", "first": "00:00", "last": "00:00"}
TOKEN = {"node_name": "node-c", "pool": "{pool}", "source": "owned", "hours": "24"}

POLICY = {"title": "Night", "grace_s": "60", "lost_after_s": "60"}

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

    row("GET", "/nodes",                            "in 200 200 200 200 200 200"),
    row("GET", "/nodes/{node}",                     "in 200 200 200 200 200 200"),
    row("GET", "/nodes/{node}/price",               "in 403 403 403 403 200 403"),
    row("POST", "/nodes/{node}/price",              "in 403 403 403 403 302 403", body=PRICE),
    row("GET", "/nodes/enrol",                      "in 403 403 403 403 200 403"),
    row("POST", "/nodes/enrol",                     "in 403 403 403 403 200 403", body=TOKEN),
    row("GET", "/nodes/enrol/{enrolment}/revoke",   "in 403 403 403 403 200 403"),
    row("POST", "/nodes/enrol/{enrolment}/revoke",  "in 403 403 403 403 302 403"),
    row("GET", "/gpu-models",                       "in 200 200 200 200 200 200"),
    row("GET", "/gpu-models/{gpu_model}/edit",      "in 403 403 403 403 200 403"),
    row("POST", "/gpu-models/{gpu_model}/edit",     "in 403 403 403 403 302 403",
        body={"title": "NVIDIA H100", "suitability": "0.9"}),
    row("GET", "/pools",                            "in 200 200 200 200 200 200"),
    row("GET", "/pools/new",                        "in 403 403 403 403 200 403"),
    row("POST", "/pools/new",                       "in 403 403 403 403 302 403", body={**POOL, "name": "evening"}),
    row("GET", "/pools/{pool}/edit",                "in 403 403 403 403 200 403"),
    row("POST", "/pools/{pool}/edit",               "in 403 403 403 403 302 403", body=POOL),
]
