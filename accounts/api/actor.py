"""Who calls, as the person that services take."""

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel.api.views import PortalViewSet


class PersonActsViewSet(PortalViewSet):
    """A view set whose caller is a person, by token or by session."""

    @property
    def actor(self) -> Person:
        return require_signed_in(self.request.user)
