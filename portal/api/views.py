"""Saved views: one service per action."""

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel.api.views import PortalViewSet
from kernel.errors import NotFound
from portal.api import serializers as fields
from portal.models import SavedView
from portal.pages.views import selectors, services
from portal.pages.views.policies import require_change, visible_to
from portal.pages.views.services import ViewChanges, ViewSpec

VIEW_ID = OpenApiParameter("id", OpenApiTypes.INT, OpenApiParameter.PATH)


class ProjectViewViewSet(PortalViewSet):
    """Named addresses of the table of projects: the caller's own, and those shared with everybody."""

    serializer_class = fields.ViewOutput
    filter_backends = ()

    def me(self) -> Person:
        return require_signed_in(self.request.user)

    def get_queryset(self) -> QuerySet[SavedView]:
        return visible_to(self.request.user)

    def answer(self, view_id: int, code: int = status.HTTP_200_OK) -> Response:
        """The view as it is now, read again."""
        row = selectors.one(self.me(), view_id)
        if row is None:
            raise NotFound
        return Response(fields.plain(row), status=code)

    def list(self, request: Request) -> Response:
        """The caller's own in their order, then the shared ones by name."""
        me = self.me()
        rows = selectors.rows_of(me)
        return self.listing(rows, lambda page: [fields.plain(row) for row in selectors.as_seen(me, page)])

    @extend_schema(request=fields.ViewInput, responses={201: fields.ViewOutput})
    def create(self, request: Request) -> Response:
        """Keep an address under a name; the caller owns it."""
        view = services.view_create(actor=self.me(), spec=ViewSpec(**self.parse(fields.ViewInput)))
        return self.answer(view.pk, status.HTTP_201_CREATED)

    @extend_schema(parameters=[VIEW_ID])
    def retrieve(self, request: Request, pk: str) -> Response:
        """One's own, or a shared one."""
        return self.answer(int(pk))

    @extend_schema(parameters=[VIEW_ID], request=fields.ViewPatch)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Its owner changes it, of a shared one also an admin; anybody may open their table with it."""
        view = self.get_queryset().filter(pk=int(pk)).first()
        if view is None:
            raise NotFound
        changes: ViewChanges = self.parse(fields.ViewPatch)  # type: ignore[assignment]
        services.view_change(actor=self.me(), view_id=view.pk, changes=changes)
        return self.answer(view.pk)

    @extend_schema(parameters=[VIEW_ID], responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Gone for everybody. On the page, this can be undone for an hour."""
        view = require_change(self.me(), self.get_queryset().filter(pk=int(pk)).first())
        services.view_delete(actor=self.me(), view_id=view.pk)
        return Response(status=status.HTTP_204_NO_CONTENT)
