"""Addresses of signing in. Of allauth's, only the two of the identity provider; the rest do not exist here."""

from django.urls import path, re_path

from accounts.views import oidc, sign_in

urlpatterns = [
    re_path(r"^login/?$", sign_in.SignIn.as_view(), name="account_login"),
    re_path(r"^logout/?$", sign_in.SignOut.as_view(), name="account_logout"),
    path("oidc/<slug:provider_id>/login/", oidc.login, name="openid_connect_login"),
    # Exactly this address is registered with the provider.
    path("oidc/<slug:provider_id>/login/callback/", oidc.callback, name="openid_connect_callback"),
]
