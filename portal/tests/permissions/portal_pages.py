"""Pages that compose rooms."""

from portal.tests.permissions.table import row

# fmt: off
ROWS = [
    #                                              anon strg rsch lead dire admi audi
    row("GET", "/",                               "in 200 200 200 200 200 200"),
    row("GET", "/search",                         "in 200 200 200 200 200 200", query={"q": "Active"}),
    row("GET", "/design",                         "in 200 200 200 200 200 200"),
    row("GET", "/lanes",                          "in 403 403 403 200 200 200"),
    row("GET", "/projects/{project}/use",         "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/allotment",   "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/jobs",        "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/cost",        "in 404 200 200 200 200 200"),
    row("GET", "/projects/{project}/cost/csv",    "in 404 200 200 200 200 200"),
    row("GET", "/cluster",                        "in 200 200 200 200 200 200"),
    row("GET", "/cluster/nodes/{node}",           "in 200 200 200 200 200 200"),
    row("GET", "/cluster/nodes/{node}/drain",     "in 403 403 403 403 200 403"),
    row("POST", "/cluster/nodes/{node}/drain",    "in 403 403 403 403 302 403"),
    row("GET", "/cluster/nodes/{node}/remove",    "in 403 403 403 403 200 403"),
    row("POST", "/cluster/nodes/{node}/remove",   "in 403 403 403 403 409 403"),
    row("GET", "/cluster/nodes/{node}/maintain",  "in 403 403 403 403 200 403"),
    row("POST", "/cluster/nodes/{node}/maintain", "in 403 403 403 403 409 403"),
]
