"""Importing projects: everybody may, and an import is its owner's alone. Those of the world are the lead's."""

from portal.tests.permissions.table import row

FILE = {"file_name": "projects.csv", "content": "bmFtZQpGcm9tIGFuIGltcG9ydAo="}

# fmt: off
ROWS = [
    #                                                       anon strg rsch lead dire admi audi
    row("GET", "/projects/import",                         "in 200 200 200 200 200 200"),
    # Without a file the form says so.
    row("POST", "/projects/import",                        "in 422 422 422 422 422 422", body={}),
    row("GET", "/projects/import/template/csv",            "in 200 200 200 200 200 200"),
    row("GET", "/projects/import/template/xlsx",           "in 200 200 200 200 200 200"),
    row("GET", "/projects/import/editing/csv",             "in 200 200 200 200 200 200"),
    row("GET", "/projects/import/{import_checked}",        "in 404 404 200 404 404 404"),
    row("GET", "/projects/import/{import_refused}",        "in 404 404 200 404 404 404"),
    row("GET", "/projects/import/{import_applied}",        "in 404 404 200 404 404 404"),
    row("GET", "/projects/import/{import_checked}/report", "in 404 404 200 404 404 404"),
    row("POST", "/projects/import/{import_checked}/check", "in 404 404 302 404 404 404"),
    row("POST", "/projects/import/{import_checked}/apply", "in 404 404 302 404 404 404"),
    row("GET", "/projects/import/{import_checked}/discard", "in 404 404 200 404 404 404"),
    row("POST", "/projects/import/{import_checked}/discard", "in 404 404 302 404 404 404"),
    row("GET", "/projects/import/{import_applied}/undo",   "in 404 404 200 404 404 404"),
    row("POST", "/projects/import/{import_applied}/undo",  "in 404 404 302 404 404 404"),

    row("GET", "/api/v1/project-imports",                  "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/project-imports",                 "401 201 201 201 201 201 201", body=FILE),
    row("GET", "/api/v1/project-imports/{import_checked}", "401 404 404 200 404 404 404"),
    row("GET", "/api/v1/project-imports/{import_checked}/rows", "401 404 404 200 404 404 404"),
    row("POST", "/api/v1/project-imports/{import_checked}/check", "401 404 404 200 404 404 404"),
    row("POST", "/api/v1/project-imports/{import_checked}/apply", "401 404 404 200 404 404 404"),
    row("POST", "/api/v1/project-imports/{import_refused}/apply", "401 404 404 409 404 404 404"),
    row("POST", "/api/v1/project-imports/{import_checked}/discard", "401 404 404 200 404 404 404"),
    row("POST", "/api/v1/project-imports/{import_applied}/undo", "401 404 404 200 404 404 404"),
]
