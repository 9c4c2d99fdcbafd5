"""What nodes call. Columns: no token, a person's token, the node's own, another node's."""

from portal.tests.permissions.table import agent_row

# fmt: off
ROWS = [
    #                                          none pers node other
    agent_row("POST", "/agent/v1/enrol",      "422 422 422 422", body=b"{}"),
    agent_row("POST", "/agent/v1/sync",       "401 401 422 422", body=b"{}"),
    agent_row("GET", "/agent/v1/launches/{member}", "401 401 200 404"),
    agent_row("POST", "/agent/v1/logs/{member}", "401 401 200 404", body=b"", query={"offset": "0"}),
    agent_row("POST", "/agent/v1/samples",    "401 401 422 422", body=b"{}"),
]
