"""The flow of decisions. ``approval`` is that of the lead's submitted registration; ``delegation`` the director's to
the researcher. Who asked and the project's team never decide; the one step is open to admins and directors."""

from portal.tests.permissions.table import row

WHY = {"comment": "said by a test"}
FORM = {"stand_in": "newcomer", "reason": "away", "ends_at": "2031-05-01T12:00"}
STAND_IN = {"stand_in": "{newcomer}", "ends_at": "2031-05-01T00:00:00Z"}
RULES = [{"name": "All", "steps": [{"roles": ["admin"]}]}]
POLICY = {"version": 1, "rules": RULES, "reason": "said by a test"}
KIND = "/approvals/policies/project_registration"
API = "/api/v1/approval-policies"

# fmt: off
ROWS = [
    #                                                 anon strg rsch lead dire admi audi
    row("GET", "/approvals",                         "in 200 200 200 200 200 200"),
    row("GET", "/approvals/others",                  "in 200 200 200 200 200 200"),
    row("GET", "/approvals/decided",                 "in 200 200 200 200 200 200"),
    row("GET", "/approvals/bulk/approve",            "in 200 200 200 200 200 200", query={"ids": "{approval}"}),
    # What may not be decided by the caller is refused row by row, in the report.
    row("POST", "/approvals/bulk/approve",           "in 200 200 200 200 200 200", body={"seen": "{approval}:1:-"}),
    row("POST", "/approvals/bulk/reject",            "in 422 422 422 422 422 422", body={"seen": "{approval}:1:-"}),
    row("GET", "/approvals/delegations",             "in 200 200 200 200 200 200"),
    row("POST", "/approvals/delegations",            "in 403 403 403 302 302 403", body=FORM),
    row("GET", "/approvals/delegations/{delegation}/end", "in 404 200 404 200 404 404"),
    row("POST", "/approvals/delegations/{delegation}/end", "in 404 302 404 302 404 404"),
    row("GET", "/approvals/policies",                "in 403 403 403 200 200 200"),
    row("GET", KIND,                                 "in 403 403 403 200 200 200"),
    row("POST", KIND,                                "in 403 403 403 403 200 403", body={"act": "add", "rows": "0"}),
    row("GET", f"{KIND}/review",                     "in 403 403 403 403 200 403"),
    row("POST", f"{KIND}/review",                    "in 403 403 403 403 302 403"),

    row("GET", "/api/v1/approvals",                  "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/approvals",                  "401 200 200 200 200 200 200", query={"waiting": "me"}),
    row("GET", "/api/v1/approvals/{approval}",       "401 404 200 200 200 200 200"),
    row("POST", "/api/v1/approvals/{approval}/approve", "401 404 403 403 200 200 403"),
    row("POST", "/api/v1/approvals/{approval}/reject", "401 404 403 403 200 200 403", body=WHY),
    row("POST", "/api/v1/approvals/{approval}/return", "401 404 403 403 200 200 403", body=WHY),
    row("POST", "/api/v1/approvals/{approval}/delegate", "401 404 403 403 200 200 403",
        body={"changes": {"to": "{newcomer}"}}),
    row("GET", "/api/v1/approvals/{approval}/comments", "401 404 200 200 200 200 200"),
    row("POST", "/api/v1/approvals/{approval}/comments", "401 404 201 201 201 201 403", body={"text": "Why now?"}),
    row("POST", "/api/v1/approvals/{approval}/comments", "401 404 403 403 201 201 403",
        body={"text": "Between us", "is_private": True}),
    row("GET", "/api/v1/delegations",                "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/delegations",               "401 403 403 403 201 201 403", body=STAND_IN),
    row("POST", "/api/v1/delegations/{delegation}/revoke", "401 404 200 404 200 200 404"),
    row("GET", API,                                  "401 403 403 403 200 200 200"),
    row("GET", f"{API}/project_registration",                "401 403 403 403 200 200 200"),
    row("PUT", f"{API}/project_registration",                "401 403 403 403 403 200 403", body=POLICY),
    row("POST", f"{API}/project_registration/review",        "401 403 403 403 403 200 403", body={"version": 1}),
]
