"""The two addresses of the identity provider, with a page instead of a crash when it cannot be asked."""

from collections.abc import Callable
from functools import wraps

import structlog
from allauth.socialaccount.providers.openid_connect import views
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from requests.exceptions import RequestException

from accounts.sign_in import refusal_page

View = Callable[..., HttpResponse]
_log = structlog.get_logger(__name__)


def _asking(view: View) -> View:
    @wraps(view)
    def ask(request: HttpRequest, provider_id: str) -> HttpResponse:
        try:
            return view(request, provider_id)
        except RequestException as error:
            _log.error("identity_provider_unreachable", provider=provider_id, error=str(error))
            return refusal_page(request, _("The identity provider does not answer. Try again in a moment."), status=503)

    return ask


login = require_POST(_asking(views.login))
callback = _asking(views.callback)
