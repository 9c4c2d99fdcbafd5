"""Quotas, and the acts that change capacity."""

from portal.tests.permissions.table import row

GRANT = {"project": "{project}", "gpu_model": "h100", "guaranteed": 5, "limit": 8}

# fmt: off
ROWS = [
    #                                                anon strg rsch lead dire admi audi
    row("GET", "/api/v1/quotas",                    "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/quotas",                   "401 403 403 403 403 201 403", body=GRANT),
    row("GET", "/api/v1/quotas/{claim}",            "401 404 200 200 200 200 200"),
    row("POST", "/api/v1/quotas/{claim}/end",       "401 404 403 403 403 200 403"),
    row("GET", "/api/v1/area-quotas",               "401 403 403 403 200 200 200"),
    row("POST", "/api/v1/area-quotas",              "401 403 403 403 403 201 403",
        body={"area": "{area}", "gpu_model": "h100", "guaranteed": 1}),
    row("GET", "/api/v1/gpu-models",                "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/gpu-models/{gpu_model}",    "401 200 200 200 200 200 200"),
    row("PATCH", "/api/v1/gpu-models/{gpu_model}",  "401 403 403 403 403 200 403", body={"title": "H100 SXM"}),
    row("POST", "/api/v1/gpu-models/{gpu_model}/reserve", "401 403 403 403 403 200 403", body={"basis_points": 500}),
    row("POST", "/api/v1/nodes/{node}/capacity",    "401 403 403 403 403 200 403", body={"gpus": 7}),
    row("POST", "/api/v1/nodes/{node}/move",        "401 403 403 403 403 200 403", body={"pool": "spare"}),
    row("POST", "/api/v1/pools/{spare}/dedicate",   "401 403 403 403 403 200 403", body={"purpose": "inference"}),
    row("POST", "/api/v1/pools/{dedicated}/release", "401 403 403 403 403 200 403", body={"reason": "done"}),
]
