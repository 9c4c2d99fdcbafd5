"""Pages that compose rooms."""

from portal.tests.permissions.table import row

TYPED = b'{"form": "projects.register", "data": {"name": ["Half a name"]}}'
NEW_KEY = "7d9f4c1e-5b0a-4d53-8a44-0f6d5a3c9e21"

# fmt: off
ROWS = [
    #                                              anon strg rsch lead dire admi audi
    row("GET", "/",                               "in 200 200 200 200 200 200"),
    row("GET", "/search",                         "in 200 200 200 200 200 200", query={"q": "Active"}),
    row("GET", "/design",                         "in 200 200 200 200 200 200"),
    row("GET", "/organisation",                   "in 403 403 403 200 200 200"),
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
    # A form that was not sent is its owner's (here the lead's) and nobody else's.
    row("POST", f"/form-drafts/{NEW_KEY}",        "in 200 200 200 200 200 200", body=TYPED),
    row("POST", "/form-drafts/{form_draft}",      "in 404 404 409 404 404 404", body=TYPED),
    row("GET", "/form-drafts/{form_draft}/discard", "in 404 404 200 404 404 404"),
    row("POST", "/form-drafts/{form_draft}/discard", "in 404 404 302 404 404 404"),
    row("GET", "/projects/new",                   "in 404 404 200 404 404 404", query={"draft": "{form_draft}"}),
]
