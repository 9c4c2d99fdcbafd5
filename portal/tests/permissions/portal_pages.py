"""Pages that compose rooms."""

from portal.tests.permissions.table import row

TYPED = b'{"form": "projects.register", "data": {"name": ["Half a name"]}}'
SEEN = {"version": "1", "seen": "{content}"}
VOTE = {**SEEN, "answer": "approve", "comment": ""}
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
    # The decision on the lead's registration: who asked and the team never decide, the auditor reads.
    row("GET", "/approvals/{approval}",           "in 404 200 200 200 200 200"),
    row("GET", "/approvals/{approval}/peek",      "in 404 302 302 302 302 302"),
    row("POST", "/approvals/{approval}/vote",     "in 404 403 403 302 302 403", body=VOTE),
    row("POST", "/approvals/{approval}/comment",  "in 404 302 302 302 302 403", body={"text": "Why now?"}),
    row("POST", "/approvals/{approval}/comment",  "in 404 403 403 302 302 403",
        body={"text": "Between us", "is_private": "1"}),
    row("GET", "/approvals/{approval}/less",      "in 404 403 403 409 409 403"),
    row("POST", "/approvals/{approval}/less",     "in 404 403 403 409 409 403", body=SEEN),
    row("GET", "/approvals/{approval}/refuse",    "in 404 403 403 200 200 403"),
    row("POST", "/approvals/{approval}/refuse",   "in 404 403 403 302 302 403", body={**SEEN, "comment": "No data"}),
    row("GET", "/approvals/{approval}/hand-on",   "in 404 403 403 200 200 403"),
    row("POST", "/approvals/{approval}/hand-on",  "in 404 403 403 302 302 403", body={**SEEN, "to": "newcomer"}),
    row("GET", "/approvals/{approval}/withdraw",  "in 404 403 200 403 403 403"),
    row("POST", "/approvals/{approval}/withdraw", "in 404 403 302 403 403 403", body={"reason": "Not now"}),
    # A form that was not sent is its owner's (here the lead's) and nobody else's.
    row("POST", f"/form-drafts/{NEW_KEY}",        "in 200 200 200 200 200 200", body=TYPED),
    row("POST", "/form-drafts/{form_draft}",      "in 404 404 409 404 404 404", body=TYPED),
    row("GET", "/form-drafts/{form_draft}/discard", "in 404 404 200 404 404 404"),
    row("POST", "/form-drafts/{form_draft}/discard", "in 404 404 302 404 404 404"),
    row("GET", "/projects/new",                   "in 404 404 200 404 404 404", query={"draft": "{form_draft}"}),
]
