"""Pages of this room."""

from django.urls import re_path

from accounts.views import announcements, audit, deliveries, inbox, language, offboarding, people, sign_in, tokens

app_name = "accounts"

ANNOUNCEMENT = r"^announcements/(?P<announcement_id>[0-9]{1,18})"
NOTIFICATION = r"^inbox/(?P<notification_id>[0-9]{1,18})"
PERSON = r"^people/(?P<person_id>[0-9]{1,18})"

urlpatterns = [
    re_path(r"^people/?$", people.listing, name="people"),
    re_path(r"^people/new/?$", people.Create.as_view(), name="person-new"),
    re_path(PERSON + r"/?$", people.detail, name="person"),
    re_path(PERSON + r"/grant/?$", people.grant, name="person-grant"),
    re_path(PERSON + r"/revoke/(?P<role>[a-z]{1,20})/?$", people.revoke, name="person-revoke"),
    re_path(PERSON + r"/deactivate/?$", offboarding.Offboard.as_view(), name="person-deactivate"),
    re_path(PERSON + r"/reactivate/?$", offboarding.reactivate, name="person-reactivate"),
    re_path(PERSON + r"/offboardings/(?P<report_id>[0-9]{1,18})/?$", offboarding.report, name="offboarding"),
    re_path(PERSON + r"/tokens/?$", people.issue_token, name="person-token"),
    re_path(r"^tokens/?$", tokens.Tokens.as_view(), name="tokens"),
    re_path(r"^tokens/(?P<token_id>[0-9]{1,18})/revoke/?$", tokens.revoke, name="token-revoke"),
    re_path(r"^password/?$", sign_in.Password.as_view(), name="password"),
    re_path(r"^announcements/?$", announcements.listing, name="announcements"),
    re_path(r"^announcements/new/?$", announcements.Publish.as_view(), name="announcement-new"),
    re_path(r"^announcements/dismiss/?$", announcements.dismiss, name="announcement-dismiss"),
    re_path(ANNOUNCEMENT + r"/?$", announcements.Edit.as_view(), name="announcement"),
    re_path(ANNOUNCEMENT + r"/withdraw/?$", announcements.withdraw, name="announcement-withdraw"),
    re_path(r"^inbox/?$", inbox.listing, name="inbox"),
    re_path(r"^inbox/mark/?$", inbox.mark, name="inbox-mark"),
    re_path(r"^inbox/preferences/?$", inbox.Preferences.as_view(), name="inbox-preferences"),
    re_path(NOTIFICATION + r"/open/?$", inbox.open_one, name="inbox-open"),
    re_path(r"^inbox/deliveries/?$", deliveries.listing, name="deliveries"),
    re_path(r"^inbox/deliveries/(?P<delivery_id>[0-9]{1,18})/retry/?$", deliveries.retry, name="delivery-retry"),
    re_path(r"^language/?$", language.choose, name="language"),
    re_path(r"^audit/?$", audit.listing, name="audit"),
]
