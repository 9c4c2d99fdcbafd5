"""Quotas, and the acts that change capacity."""

from portal.tests.permissions.table import row

GRANT = {"project": "{project}", "gpu_model": "h100", "guaranteed": 5, "limit": 8}

FORM = {"project": "{project}", "resource": "gpu", "gpu_model": "{gpu_model}", "guaranteed": "5", "reason": "a test"}
ASKED = {"project": "{project}", "gpu_model": "h100", "guaranteed": 6, "reason": "A larger run"}
REASON = {"reason": "said by a test"}

WHY = {"reason": "as asked"}
FORM = {**WHY, "project": "{project}", "resource": "gpu", "gpu_model": "{gpu_model}", "guaranteed": "5", "limit": "8"}

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

    row("GET", "/api/v1/quota-requests",            "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/quota-requests",           "401 404 403 201 403 403 403", body=ASKED),
    row("GET", "/api/v1/quota-requests/{quota_draft}", "401 404 200 200 200 200 200"),
    row("PATCH", "/api/v1/quota-requests/{quota_draft}", "401 404 403 200 403 403 403", body={"guaranteed": 7}),
    row("POST", "/api/v1/quota-requests/{quota_draft}/submit", "401 404 403 200 403 403 403"),
    row("POST", "/api/v1/quota-requests/{quota_draft}/withdraw", "401 404 403 200 403 403 403", body=WHY),
    row("POST", "/api/v1/quota-requests/{quota_draft}/clone", "401 404 403 201 403 403 403"),
    row("GET", "/api/v1/quota-requests/{quota_draft}/attachments", "401 404 200 200 200 200 200"),
    row("POST", "/api/v1/quota-requests/{quota_draft}/attachments", "401 404 403 201 403 403 403",
        body={"name": "more.txt", "content": "TW9yZQ=="}),
    row("GET", "/api/v1/quota-requests/{quota_draft}/attachments/{quota_file}", "401 404 200 200 200 200 200"),
    row("DELETE", "/api/v1/quota-requests/{quota_draft}/attachments/{quota_file}", "401 404 403 204 403 403 403"),

    row("GET", "/api/v1/pools/{dedicated}/access",  "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/pools/{dedicated}/access", "401 403 403 403 403 201 403", body={"project": "{project}"}),
    row("POST", "/api/v1/pools/{dedicated}/access/{access}/end", "401 403 403 403 403 200 403"),

    row("GET", "/quotas",                           "in 200 200 200 200 200 200"),
    row("GET", "/projects/{project}/quota",         "in 404 200 200 200 200 200"),
    row("GET", "/quotas/grant",                     "in 403 403 403 403 200 403"),
    row("POST", "/quotas/grant",                    "in 403 403 403 403 302 403", body=FORM),
    row("GET", "/quotas/grant/preview",             "in 403 403 403 403 200 403", query={"project": "{project}"}),
    row("GET", "/quotas/claims/{claim}/end",        "in 404 403 403 403 200 403"),
    row("POST", "/quotas/claims/{claim}/end",       "in 404 403 403 403 302 403", body=REASON),
    row("GET", "/quotas/reserve/{gpu_model}",       "in 403 403 403 403 200 403"),
    row("POST", "/quotas/reserve/{gpu_model}",      "in 403 403 403 403 302 403", body={**REASON, "per_cent": "5"}),
    row("GET", "/nodes/{node}/capacity",            "in 403 403 403 403 200 403"),
    row("POST", "/nodes/{node}/capacity",           "in 403 403 403 403 302 403",
        body={**REASON, "gpus": "7", "gpu_model": "{gpu_model}"}),
    row("GET", "/nodes/{node}/pool",                "in 403 403 403 403 200 403"),
    row("POST", "/nodes/{node}/pool",               "in 403 403 403 403 302 403", body={**REASON, "pool": "{spare}"}),
    row("GET", "/pools/{spare}/dedicate",           "in 403 403 403 403 200 403"),
    row("POST", "/pools/{spare}/dedicate",          "in 403 403 403 403 302 403", body=REASON),
    row("GET", "/pools/{dedicated}/access",         "in 200 200 200 200 200 200"),
    row("POST", "/pools/{dedicated}/access",        "in 403 403 403 403 302 403", body={"project": "{project}"}),
    row("GET", "/pools/{dedicated}/access/{access}/end", "in 403 403 403 403 200 403"),
    row("POST", "/pools/{dedicated}/access/{access}/end", "in 403 403 403 403 302 403", body=REASON),
    row("GET", "/pools/{dedicated}/share",          "in 403 403 403 403 200 403"),
    row("POST", "/pools/{dedicated}/share",         "in 403 403 403 403 302 403", body=REASON),
]
