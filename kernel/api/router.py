"""Addresses that answer with and without the last slash, without a redirect."""

from rest_framework.routers import SimpleRouter


class PortalRouter(SimpleRouter):
    def __init__(self) -> None:
        super().__init__()
        self.trailing_slash = "/?"
