"""Pages of this room."""

from django.urls import re_path

from accounts.views import audit, people, sign_in, tokens

app_name = "accounts"

PERSON = r"^people/(?P<person_id>[0-9]{1,18})"

urlpatterns = [
    re_path(r"^people/?$", people.listing, name="people"),
    re_path(r"^people/new/?$", people.Create.as_view(), name="person-new"),
    re_path(PERSON + r"/?$", people.detail, name="person"),
    re_path(PERSON + r"/grant/?$", people.grant, name="person-grant"),
    re_path(PERSON + r"/revoke/(?P<role>[a-z]{1,20})/?$", people.revoke, name="person-revoke"),
    re_path(PERSON + r"/deactivate/?$", people.deactivate, name="person-deactivate"),
    re_path(PERSON + r"/reactivate/?$", people.reactivate, name="person-reactivate"),
    re_path(PERSON + r"/tokens/?$", people.issue_token, name="person-token"),
    re_path(r"^tokens/?$", tokens.Tokens.as_view(), name="tokens"),
    re_path(r"^tokens/(?P<token_id>[0-9]{1,18})/revoke/?$", tokens.revoke, name="token-revoke"),
    re_path(r"^password/?$", sign_in.Password.as_view(), name="password"),
    re_path(r"^audit/?$", audit.listing, name="audit"),
]
