"""The registry: its API and its pages."""

from portal.tests.permissions.table import row

EMPTY_ROWS = {
    f"{part}-{name}": "0"
    for part in ("compute", "milestones")
    for name in ("TOTAL_FORMS", "INITIAL_FORMS", "MIN_NUM_FORMS", "MAX_NUM_FORMS")
}
FORM = {"name": "Another name", "kind": "research", "data_class": "internal", **EMPTY_ROWS}
REASON = {"reason": "said by a test"}
MEMBER = {"person": "newcomer", "role": "researcher"}
AREA = {"name": "speech", "title": "Speech"}

MEASURED = {"gpu_model": "h100", "throughput": "1200", "unit": "tokens/s", "evidence": "A run of an hour"}

# fmt: off
ROWS = [
    #                                                 anon strg rsch lead dire admi audi
    row("GET", "/projects",                          "in 200 200 200 200 200 200"),
    row("GET", "/projects/export/csv",               "in 200 200 200 200 200 200"),
    row("GET", "/projects/export/xlsx",              "in 200 200 200 200 200 200"),
    row("GET", "/projects/new",                      "in 200 200 200 200 200 200"),
    row("POST", "/projects/new",                     "in 302 302 302 302 302 302", body=FORM),
    row("POST", "/projects/consequence",             "in 200 200 200 200 200 200", body=FORM),
    row("POST", "/projects/consequence",             "in 404 200 200 200 200 200",
        body={**FORM, "_project": "{draft}"}),
    row("GET", "/projects/areas",                    "in 200 200 200 200 200 200"),
    row("POST", "/projects/areas/new",               "in 403 403 403 403 302 403", body=AREA),
    row("GET", "/projects/areas/new",                "in 403 403 403 403 200 403"),
    row("GET", "/projects/areas/{area}/edit",        "in 403 403 403 403 200 403"),
    row("POST", "/projects/areas/{area}/edit",       "in 403 403 403 403 302 403", body={"title": "Other"}),
    row("GET", "/projects/areas/{area}/delete",      "in 403 403 403 403 200 403"),
    row("POST", "/projects/areas/{area}/delete",     "in 403 403 403 403 302 403"),
    row("GET", "/projects/{project}",                "in 404 200 200 200 200 200"),
    row("GET", "/projects/{draft}",                  "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/history",        "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/milestones",     "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/milestones/{milestone}/met", "in 404 403 200 403 403 403"),
    row("POST", "/projects/{project}/milestones/{milestone}/met", "in 404 403 302 403 403 403"),
    row("POST", "/projects/{project}/milestones/{milestone}/reopen", "in 404 403 302 403 403 403"),
    row("POST", "/projects/{project}/milestones/{milestone}/move", "in 404 403 302 403 403 403",
        body={"day": "2030-01-31"}),
    row("GET", "/projects/{project}/members",        "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/suitability",    "in 404 200 200 200 200 200"),
    row("POST", "/projects/{project}/suitability",   "in 404 403 302 403 403 403", body=MEASURED),
    row("GET", "/projects/{project}/suitability/{proposed}/confirm", "in 404 403 403 403 200 403"),
    row("POST", "/projects/{project}/suitability/{proposed}/confirm", "in 404 403 403 403 302 403", body=REASON),
    row("POST", "/projects/{project}/suitability/{proposed}/reject", "in 404 403 403 403 302 403", body=REASON),
    row("POST", "/projects/{project}/suitability/{proposed}/withdraw", "in 404 403 302 403 403 403", body=REASON),
    row("POST", "/projects/{project}/suitability/{confirmed}/revoke", "in 404 403 403 403 302 403", body=REASON),
    # A measurement is found under its own project and no other.
    row("POST", "/projects/{submitted}/suitability/{proposed}/confirm", "in 404 403 403 403 404 403", body=REASON),
    row("POST", "/projects/{project}/members",       "in 404 403 302 403 302 403", body=MEMBER),
    row("POST", "/projects/{project}/members/{researcher_id}/role", "in 404 403 302 403 302 403",
        body={"role": "lead"}),
    # Whoever leaves needs nobody's leave; taking off another is for leads and admins.
    row("GET", "/projects/{project}/members/{researcher_id}/remove", "in 404 200 200 403 200 403"),
    row("POST", "/projects/{project}/members/{researcher_id}/remove", "in 404 302 302 403 302 403"),
    row("POST", "/projects/{project}/members/{lead_id}/remove", "in 404 403 302 403 302 403"),
    # An admin changes area and data class of an approved project only.
    row("GET", "/projects/{project}/edit",           "in 404 403 200 403 200 403"),
    row("GET", "/projects/{draft}/edit",             "in 404 403 200 403 409 403"),
    row("POST", "/projects/{draft}/edit",            "in 404 403 302 403 409 403", body=FORM),
    # Leads to the decision page, which everybody reads who may see the project.
    row("GET", "/projects/{submitted}/decide",       "in 404 302 302 302 302 302"),
    row("GET", "/projects/{project}/tier",           "in 404 403 403 403 200 403"),
    row("POST", "/projects/{project}/tier",          "in 404 403 403 403 302 403", body={**REASON, "tier": "high"}),
    row("GET", "/projects/{submitted}/withdraw",     "in 404 403 200 403 403 403"),
    row("POST", "/projects/{submitted}/withdraw",    "in 404 403 302 403 403 403", body=REASON),
    row("POST", "/projects/{project}/suspend",       "in 404 403 403 403 302 403", body=REASON),
    row("POST", "/projects/{suspended}/resume",      "in 404 403 403 403 302 403", body=REASON),
    row("POST", "/projects/{project}/close",         "in 404 403 302 403 302 403", body=REASON),

    row("GET", "/api/v1/projects",                   "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/projects",                  "401 201 201 201 201 201 201", body={"name": "Another name"}),
    row("GET", "/api/v1/projects/{project}",         "401 404 200 200 200 200 200"),
    row("PATCH", "/api/v1/projects/{project}",       "401 404 403 200 403 403 403", body={"goal": "Other"}),
    row("PATCH", "/api/v1/projects/{project}",       "401 404 403 403 403 200 403", body={"data_class": "open"}),
    row("POST", "/api/v1/projects/{draft}/submit",   "401 404 403 200 403 403 403"),
    row("POST", "/api/v1/projects/{submitted}/withdraw", "401 404 403 200 403 403 403"),
    row("POST", "/api/v1/projects/{submitted}/approve", "401 404 403 403 200 200 403"),
    row("POST", "/api/v1/projects/{submitted}/reject", "401 404 403 403 200 200 403", body=REASON),
    row("POST", "/api/v1/projects/{submitted}/return", "401 404 403 403 200 200 403", body=REASON),
    row("POST", "/api/v1/projects/{project}/suspend", "401 404 403 403 403 200 403", body=REASON),
    row("POST", "/api/v1/projects/{suspended}/resume", "401 404 403 403 403 200 403", body=REASON),
    row("POST", "/api/v1/projects/{project}/close",  "401 404 403 200 403 200 403", body=REASON),
    row("POST", "/api/v1/projects/{project}/tier",   "401 404 403 403 403 200 403", body={**REASON, "tier": "high"}),
    row("GET", "/api/v1/projects/{project}/history", "401 404 200 200 200 200 200"),
    row("GET", "/api/v1/projects/{project}/suitability", "401 404 200 200 200 200 200"),
    row("GET", "/api/v1/projects/{project}/suitability/history", "401 404 200 200 200 200 200"),
    row("GET", "/api/v1/projects/{project}/suitability/{proposed}", "401 404 200 200 200 200 200"),
    row("POST", "/api/v1/projects/{project}/suitability", "401 404 403 201 403 403 403", body=MEASURED),
    row("POST", "/api/v1/projects/{project}/suitability/{proposed}/confirm", "401 404 403 403 403 200 403"),
    row("POST", "/api/v1/projects/{project}/suitability/{proposed}/reject", "401 404 403 403 403 200 403", body=REASON),
    row("POST", "/api/v1/projects/{project}/suitability/{proposed}/withdraw", "401 404 403 200 403 403 403"),
    row("POST", "/api/v1/projects/{project}/suitability/{confirmed}/revoke", "401 404 403 403 403 200 403",
        body=REASON),
    row("POST", "/api/v1/projects/{submitted}/suitability/{proposed}/confirm", "401 404 403 403 403 404 403"),
    row("GET", "/api/v1/projects/{project}/members", "401 404 200 200 200 200 200"),
    row("POST", "/api/v1/projects/{project}/members", "401 404 403 201 403 201 403", body=MEMBER),
    row("PATCH", "/api/v1/projects/{project}/members/{researcher_id}", "401 404 403 200 403 200 403",
        body={"role": "lead"}),
    row("DELETE", "/api/v1/projects/{project}/members/{researcher_id}", "401 404 204 204 403 204 403"),
    row("DELETE", "/api/v1/projects/{project}/members/{lead_id}", "401 404 403 204 403 204 403"),
    row("GET", "/api/v1/research-areas",             "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/research-areas",            "401 403 403 403 403 201 403", body=AREA),
    row("PATCH", "/api/v1/research-areas/{area}",    "401 403 403 403 403 200 403", body={"title": "Other"}),
    row("DELETE", "/api/v1/research-areas/{area}",   "401 403 403 403 403 409 403"),
]
