"""Asking for quota: the form, the page of a request, and the list."""

from portal.tests.permissions.table import row

KEY = "5b1f0c52-3f0d-4c8e-9a44-6a2a6f7d1c10"
ASKED = {"_key": KEY, "act": "save", "gpu_model": "{gpu_model}", "guaranteed_more": "1", "length": "review"}

# fmt: off
ROWS = [
    #                                                     anon strg rsch lead dire admi audi
    row("GET", "/projects/{project}/request",            "in 404 403 200 403 403 403"),
    row("POST", "/projects/{project}/request",           "in 404 403 302 403 403 403", body=ASKED),
    row("POST", "/projects/{project}/request/consequence", "in 404 403 200 403 403 403", body=ASKED),
    row("GET", "/quota-requests",                        "in 200 200 200 200 200 200"),
    row("GET", "/quota-requests/export/csv",             "in 200 200 200 200 200 200"),
    row("GET", "/quota-requests/export/xlsx",            "in 200 200 200 200 200 200"),
    row("GET", "/quota-requests/{quota_draft}",          "in 404 200 200 200 200 200"),
    row("GET", "/quota-requests/{quota_draft}/edit",     "in 404 403 200 403 403 403"),
    row("POST", "/quota-requests/{quota_draft}/edit",    "in 404 403 302 403 403 403", body=ASKED),
    row("GET", "/quota-requests/{quota_draft}/give-up",  "in 404 403 200 403 403 403"),
    row("POST", "/quota-requests/{quota_draft}/give-up", "in 404 403 302 403 403 403"),
    row("POST", "/quota-requests/{quota_draft}/again",   "in 404 403 302 403 403 403"),
    row("GET", "/quota-requests/{quota_draft}/files/{quota_file}", "in 404 200 200 200 200 200"),
]
