"""Signing in, people, tokens, the audit log."""

from accounts.tests.factories import PASSWORD
from portal.tests.permissions.table import row

FAREWELL = {"reason": "Left"}
NEW = {"username": "new", "display_name": "New"}
NEWS = {"kind": "announcement", "title": "News", "level": "info"}
TOKEN = {"name": "export", "scopes": ["read"], "days": 30}
TOKEN_FORM = {"name": "export", "scopes": "read", "days": "30"}

# fmt: off
ROWS = [
    #                                                anon strg rsch lead dire admi audi
    row("GET", "/accounts/login",                   "200 302 302 302 302 302 302"),
    row("POST", "/accounts/login",                  "302 302 302 302 302 302 302",
        body={"username": "lead", "password": PASSWORD}),
    row("POST", "/accounts/logout",                 "in in in in in in in"),
    row("POST", "/accounts/oidc/oidc/login/",       "404 404 404 404 404 404 404"),
    row("GET", "/accounts/oidc/oidc/login/callback/", "404 404 404 404 404 404 404"),
    row("POST", "/accounts/oidc/oidc/login/callback/", "404 404 404 404 404 404 404"),
    row("PUT", "/accounts/oidc/oidc/login/callback/", "404 404 404 404 404 404 404"),
    row("PATCH", "/accounts/oidc/oidc/login/callback/", "404 404 404 404 404 404 404"),
    row("DELETE", "/accounts/oidc/oidc/login/callback/", "404 404 404 404 404 404 404"),
    row("GET", "/password",                         "in 200 200 200 200 200 200"),
    row("POST", "/password",                        "in 302 302 302 302 302 302",
        body={"old_password": PASSWORD, "new_password": "distant-meadow-88"}),

    row("GET", "/people",                           "in 403 403 403 403 200 200"),
    row("GET", "/people/new",                       "in 403 403 403 403 200 403"),
    row("POST", "/people/new",                      "in 403 403 403 403 302 403", body=NEW),
    row("GET", "/people/{newcomer}",                "in 403 403 403 403 200 200"),
    row("POST", "/people/{newcomer}/grant",         "in 403 403 403 403 302 403", body={"role": "director"}),
    row("GET", "/people/{director_id}/revoke/director", "in 403 403 403 403 200 403"),
    row("POST", "/people/{director_id}/revoke/director", "in 403 403 403 403 302 403"),
    row("GET", "/people/{newcomer}/deactivate",     "in 403 403 403 403 200 403"),
    row("POST", "/people/{newcomer}/deactivate",    "in 403 403 403 403 302 403", body=FAREWELL),
    row("POST", "/people/{newcomer}/deactivate",    "in 403 403 403 403 422 403"),
    row("GET", "/people/{gone}/deactivate",         "in 403 403 403 403 409 403"),
    row("GET", "/people/{gone}/offboardings/{offboarding}", "in 403 403 403 403 200 200"),
    row("GET", "/people/{newcomer}/offboardings/{offboarding}", "in 403 403 403 403 404 404"),
    row("GET", "/people/{gone}/reactivate",         "in 403 403 403 403 200 403"),
    row("POST", "/people/{gone}/reactivate",        "in 403 403 403 403 302 403"),
    row("POST", "/people/{service}/tokens",         "in 403 403 403 403 200 403", body=TOKEN_FORM),
    row("POST", "/people/{newcomer}/tokens",        "in 403 403 403 403 409 403", body=TOKEN_FORM),

    row("GET", "/tokens",                           "in 200 200 200 200 200 200"),
    row("POST", "/tokens",                          "in 200 200 200 200 200 200", body=TOKEN_FORM),
    row("GET", "/tokens/{token}/revoke",            "in 404 404 200 404 200 404"),
    row("POST", "/tokens/{token}/revoke",           "in 404 404 302 404 302 404"),
    row("GET", "/announcements",                    "in 403 403 403 403 200 200"),
    row("GET", "/announcements/new",                "in 403 403 403 403 200 403"),
    row("POST", "/announcements/new",               "in 403 403 403 403 302 403", body=NEWS),
    row("GET", "/announcements/{announcement}",     "in 403 403 403 403 200 200"),
    row("POST", "/announcements/{announcement}",    "in 403 403 403 403 302 403", body=NEWS),
    row("GET", "/announcements/{announcement}/withdraw", "in 403 403 403 403 200 403"),
    row("POST", "/announcements/{announcement}/withdraw", "in 403 403 403 403 302 403"),
    row("POST", "/announcements/dismiss",           "302 302 302 302 302 302 302", body={"key": "1.1.now"}),
    row("GET", "/inbox",                            "in 200 200 200 200 200 200"),
    row("POST", "/inbox/mark",                      "in 302 302 302 302 302 302", body={"act": "all"}),
    row("POST", "/inbox/mark",                      "in 404 404 404 404 404 404", body={"act": "none"}),
    row("GET", "/inbox/{notification}/open",        "in 404 404 302 404 404 404"),
    row("GET", "/inbox/preferences",                "in 200 200 200 200 200 200"),
    row("POST", "/inbox/preferences",               "in 302 302 302 302 302 302", body={"quotas": "none"}),
    row("GET", "/inbox/deliveries",                 "in 403 403 403 403 200 200"),
    row("POST", "/inbox/deliveries/{delivery}/retry", "in 403 403 403 403 302 403"),
    row("GET", "/audit",                            "in 403 403 403 403 200 200"),

    row("GET", "/api/v1/people",                    "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/people",                   "401 403 403 403 403 201 403", body=NEW),
    row("GET", "/api/v1/people/{newcomer}",         "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/people/{gone}",             "401 404 404 404 404 200 200"),
    row("POST", "/api/v1/people/{newcomer}/deactivate", "401 403 403 403 403 200 403", body=FAREWELL),
    row("POST", "/api/v1/people/{newcomer}/deactivate", "401 403 403 403 403 422 403"),
    row("POST", "/api/v1/people/{admin_id}/deactivate", "401 403 403 403 403 403 403"),
    row("POST", "/api/v1/people/{gone}/reactivate", "401 404 404 404 404 200 403"),
    row("POST", "/api/v1/people/{newcomer}/grant-role", "401 403 403 403 403 200 403", body={"role": "auditor"}),
    row("POST", "/api/v1/people/{admin_id}/grant-role", "401 403 403 403 403 403 403", body={"role": "auditor"}),
    row("POST", "/api/v1/people/{director_id}/revoke-role", "401 403 403 403 403 200 403", body={"role": "director"}),

    row("POST", "/language",                        "302 302 302 302 302 302 302", body={"language": "zh-hans"}),
    row("POST", "/api/v1/people/{lead_id}/language", "401 403 403 200 403 403 403", body={"language": "zh-hans"}),

    row("GET", "/api/v1/tokens",                    "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/tokens",                   "401 201 201 201 201 201 201", body=TOKEN),
    row("POST", "/api/v1/tokens",                   "401 403 403 403 403 201 403", body={**TOKEN, "owner": "robot"}),
    row("POST", "/api/v1/tokens",                   "401 403 403 403 403 409 403", body={**TOKEN, "owner": "newcomer"}),
    row("GET", "/api/v1/tokens/{token}",            "401 404 404 200 404 404 404"),
    row("DELETE", "/api/v1/tokens/{token}",         "401 404 404 204 404 204 404"),
    row("POST", "/api/v1/tokens/{token}/revoke",    "401 404 404 200 404 200 404"),

    row("GET", "/api/v1/announcements",             "401 200 200 200 200 200 200"),
    row("POST", "/api/v1/announcements",            "401 403 403 403 403 201 403", body=NEWS),
    row("GET", "/api/v1/announcements/{announcement}", "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/announcements/{planned}",   "401 404 404 404 404 200 200"),
    row("GET", "/api/v1/announcements/{withdrawn}", "401 404 404 404 404 200 200"),
    row("PATCH", "/api/v1/announcements/{announcement}", "401 403 403 403 403 200 403", body={"title": "Better"}),
    row("PATCH", "/api/v1/announcements/{planned}", "401 404 404 404 404 200 403", body={"title": "Better"}),
    row("PATCH", "/api/v1/announcements/{withdrawn}", "401 404 404 404 404 409 403", body={"title": "Better"}),
    row("POST", "/api/v1/announcements/{announcement}/withdraw", "401 403 403 403 403 200 403"),
    row("POST", "/api/v1/announcements/{withdrawn}/withdraw", "401 404 404 404 404 409 403"),

    row("GET", "/api/v1/notifications",             "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/notifications/{notification}", "401 404 404 200 404 404 404"),
    row("POST", "/api/v1/notifications/{notification}/read", "401 404 404 200 404 404 404"),
    row("POST", "/api/v1/notifications/{notification}/unread", "401 404 404 200 404 404 404"),
    row("POST", "/api/v1/notifications/read-all",   "401 200 200 200 200 200 200"),
    row("GET", "/api/v1/notifications/preferences", "401 200 200 200 200 200 200"),
    row("PATCH", "/api/v1/notifications/preferences", "401 200 200 200 200 200 200", body={"mail": {"jobs": "none"}}),
    row("GET", "/api/v1/notification-deliveries",   "401 403 403 403 403 200 200"),
    row("GET", "/api/v1/notification-deliveries/{delivery}", "401 403 403 403 403 200 200"),
    row("POST", "/api/v1/notification-deliveries/{delivery}/retry", "401 403 403 403 403 200 403"),

    row("GET", "/api/v1/audit",                     "401 403 403 403 403 200 200"),
    row("GET", "/api/v1/audit/{entry}",             "401 403 403 403 403 200 200"),
]
