"""Saved views of the table, and changing many rows of it. ``shared`` and ``private`` are views of the lead."""

from portal.tests.permissions.table import row

VIEW = {"name": "Another view"}
CHANGE = {"value": "evaluation", "reason": "said by a test", "seen": "{project_seen}"}

# fmt: off
ROWS = [
    #                                              anon strg rsch lead dire admi audi
    row("GET", "/projects",                       "in 200 200 200 200 200 200", query={"view": "{shared}"}),
    row("GET", "/projects",                       "in 404 404 200 404 404 404", query={"view": "{private}"}),
    row("GET", "/projects/export/csv",            "in 404 404 200 404 404 404", query={"view": "{private}"}),
    row("GET", "/projects/views",                 "in 200 200 200 200 200 200"),
    row("GET", "/projects/views/new",             "in 200 200 200 200 200 200"),
    row("POST", "/projects/views/new",            "in 302 302 302 302 302 302", body=VIEW),
    row("GET", "/projects/views/{shared}/edit",   "in 403 403 200 403 200 403"),
    row("GET", "/projects/views/{private}/edit",  "in 404 404 200 404 404 404"),
    row("POST", "/projects/views/{shared}/edit",  "in 403 403 302 403 302 403", body=VIEW),
    row("GET", "/projects/views/{shared}/delete", "in 403 403 200 403 200 403"),
    row("POST", "/projects/views/{shared}/delete", "in 403 403 302 403 302 403"),
    row("POST", "/projects/views/{private}/delete", "in 404 404 302 404 404 404"),
    row("POST", "/projects/views/{deleted}/restore", "in 403 403 302 403 302 403"),
    row("POST", "/projects/views/{shared}/copy",  "in 302 302 302 302 302 302"),
    row("POST", "/projects/views/{private}/copy", "in 404 404 302 404 404 404"),
    row("POST", "/projects/views/{shared}/update", "in 403 403 302 403 302 403", body={"query": "tier=high"}),
    row("POST", "/projects/views/{shared}/default", "in 302 302 302 302 302 302", body={"on": "yes"}),
    row("POST", "/projects/views/{private}/default", "in 404 404 302 404 404 404", body={"on": "yes"}),
    row("POST", "/projects/views/{shared}/earlier", "in 404 404 302 404 404 404"),
    row("POST", "/projects/views/{shared}/later", "in 404 404 302 404 404 404"),

    row("GET", "/projects/bulk/stage",            "in 200 200 200 200 200 200",
        query={"ids": "{project}", "value": "evaluation"}),
    row("POST", "/projects/bulk/stage",           "in 404 409 302 409 409 409", body=CHANGE),
    row("GET", "/projects/bulk/area",             "in 200 200 200 200 200 200", query={"ids": "{project}"}),
    row("POST", "/projects/bulk/area",            "in 404 409 409 409 302 409", body={**CHANGE, "value": "vision"}),
    row("POST", "/projects/bulk/{bulk}/undo",     "in 404 404 302 404 404 404"),

    row("GET", "/api/v1/project-views",           "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/project-views",          "401 201 201 201 201 201 201", body=VIEW),
    row("GET", "/api/v1/project-views/{shared}",  "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/project-views/{private}", "401 404 404 200 404 404 404"),
    row("PATCH", "/api/v1/project-views/{shared}", "401 403 403 200 403 200 403", body=VIEW),
    row("PATCH", "/api/v1/project-views/{shared}", "401 200 200 200 200 200 200", body={"is_default": True}),
    row("PATCH", "/api/v1/project-views/{private}", "401 404 404 200 404 404 404", body=VIEW),
    row("DELETE", "/api/v1/project-views/{shared}", "401 403 403 204 403 204 403"),
]
