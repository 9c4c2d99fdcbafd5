"""People, tokens and the audit log over the API."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import selectors, services
from accounts.api import present, serializers
from accounts.api.actor import PersonActsViewSet
from accounts.models import Person, Role, ServiceToken
from accounts.policies import has_role, require_role
from accounts.selectors import AuditQuestion
from accounts.services import Farewell, TokenTerms
from kernel.api.schema import problems
from kernel.errors import Forbidden, Invalid
from kernel.models import AuditEntry
from kernel.problem import flatten

QUERY = OpenApiParameter("q", str, description="Part of the user name or of the name")


@extend_schema_view(
    list=extend_schema(parameters=[QUERY], responses={200: serializers.PersonSerializer(many=True), **problems(422)}),
    retrieve=extend_schema(responses={200: serializers.PersonSerializer, **problems(404)}),
)
class PersonViewSet(PersonActsViewSet):
    """People: everybody signed in may look somebody up; admins create, deactivate and give roles."""

    queryset = Person.objects.none()
    serializer_class = serializers.PersonSerializer
    ordering_fields = ("username", "display_name")

    def get_queryset(self) -> QuerySet[Person]:
        return selectors.people(self.request.user, matching=self.request.query_params.get("q", "")[:100])

    def list(self, request: Request) -> Response:
        rows = self.get_queryset()
        if self._sees_all():
            return self.listing(selectors.with_roles(rows), lambda page: [present.person_in_full(p) for p in page])
        return self.listing(rows, lambda page: [present.person(p) for p in page])

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(self._plain())

    @extend_schema(
        request=serializers.NewPersonSerializer,
        responses={201: serializers.PersonSerializer, **problems(403, 422)},
    )
    def create(self, request: Request) -> Response:
        data = self.parse(serializers.NewPersonSerializer)
        names = {"username": data["username"], "display_name": data["display_name"]}
        if data["is_service"]:
            person = services.service_account_create(actor=self.actor, **names)
        else:
            person = services.person_create(actor=self.actor, **names, email=data["email"], password=data["password"])
        return Response(self._plain(person.pk), status=201)

    @extend_schema(
        request=serializers.FarewellSerializer,
        responses={200: serializers.PersonSerializer, **problems(403, 404, 409, 422)},
    )
    @action(detail=True, methods=["post"])
    def deactivate(self, request: Request, pk: str) -> Response:
        farewell = Farewell(**self.parse(serializers.FarewellSerializer))
        services.person_offboard(actor=self.actor, person_id=self.get_object().pk, farewell=farewell)
        return Response(self._plain())

    @extend_schema(request=None, responses={200: serializers.PersonSerializer, **problems(403, 404, 409)})
    @action(detail=True, methods=["post"])
    def reactivate(self, request: Request, pk: str) -> Response:
        services.person_reactivate(actor=self.actor, person_id=self.get_object().pk)
        return Response(self._plain())

    @extend_schema(
        request=serializers.RoleSerializer,
        responses={200: serializers.PersonSerializer, **problems(403, 404, 409, 422)},
    )
    @action(detail=True, methods=["post"], url_path="grant-role")
    def grant_role(self, request: Request, pk: str) -> Response:
        role = self.parse(serializers.RoleSerializer)["role"]
        services.role_grant(actor=self.actor, person_id=self.get_object().pk, role=role)
        return Response(self._plain())

    @extend_schema(
        request=serializers.RoleSerializer,
        responses={200: serializers.PersonSerializer, **problems(403, 404, 409, 422)},
    )
    @action(detail=True, methods=["post"], url_path="revoke-role")
    def revoke_role(self, request: Request, pk: str) -> Response:
        role = self.parse(serializers.RoleSerializer)["role"]
        services.role_revoke(actor=self.actor, person_id=self.get_object().pk, role=role)
        return Response(self._plain())

    @extend_schema(
        request=serializers.LanguageSerializer,
        responses={200: serializers.PersonSerializer, **problems(403, 404, 422)},
    )
    @action(detail=True, methods=["post"])
    def language(self, request: Request, pk: str) -> Response:
        if self.get_object().pk != self.actor.pk:
            raise Forbidden(_("Everybody chooses their own language."))
        services.language_choose(actor=self.actor, language=self.parse(serializers.LanguageSerializer)["language"])
        return Response(self._plain())

    def _sees_all(self) -> bool:
        return has_role(self.request.user, Role.ADMIN, Role.AUDITOR)

    def _plain(self, person_id: int | None = None) -> dict[str, Any]:
        """The person as the caller may know them, read again after an act."""
        pk = person_id or self.get_object().pk
        if not self._sees_all():
            return present.person(self.get_queryset().get(pk=pk))
        return present.person_in_full(selectors.with_roles(selectors.people(self.request.user)).get(pk=pk))


@extend_schema_view(
    list=extend_schema(responses={200: serializers.TokenSerializer(many=True), **problems(422)}),
    retrieve=extend_schema(responses={200: serializers.TokenSerializer, **problems(404)}),
    destroy=extend_schema(responses={204: None, **problems(403, 404, 409)}),
)
class TokenViewSet(PersonActsViewSet):
    """One's own tokens. Whoever calls with a token gets at most one that ends with it."""

    queryset = ServiceToken.objects.none()
    serializer_class = serializers.TokenSerializer
    ordering_fields = ("name", "created_at", "expires_at", "last_used_at")
    shown_once = frozenset({"token"})

    def get_queryset(self) -> QuerySet[ServiceToken]:
        return selectors.own_tokens(self.request.user).select_related("owner")

    def list(self, request: Request) -> Response:
        return self.listing(self.get_queryset(), lambda page: [present.token(t) for t in page])

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(present.token(self.get_object()))

    @extend_schema(
        request=serializers.NewTokenSerializer,
        responses={201: serializers.IssuedTokenSerializer, **problems(403, 409, 422)},
    )
    def create(self, request: Request) -> Response:
        data = self.parse(serializers.NewTokenSerializer)
        limit = request.auth.expires_at if isinstance(request.auth, ServiceToken) else None
        terms = TokenTerms(data["name"], data["scopes"], data["days"], not_after=limit)
        issued = services.token_issue(actor=self.actor, owner=self._owner(data["owner"]), terms=terms)
        return Response({**present.token(issued.token), "token": issued.secret}, status=201)

    def destroy(self, request: Request, pk: str) -> Response:
        services.token_revoke(actor=self.actor, token_id=int(pk))
        return Response(status=204)

    @extend_schema(request=None, responses={200: serializers.TokenSerializer, **problems(403, 404, 409)})
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        return Response(present.token(services.token_revoke(actor=self.actor, token_id=int(pk))))

    def _owner(self, username: str) -> Person:
        if not username:
            return self.actor
        person = selectors.people(self.request.user).filter(username=username).first()
        if person is None:
            raise Invalid({"owner": _("“%(name)s” is not known") % {"name": username[:150]}})
        return person


@extend_schema_view(
    list=extend_schema(
        parameters=[serializers.AuditQuestionSerializer],
        responses={200: serializers.AuditEntrySerializer(many=True), **problems(403, 422)},
    ),
    retrieve=extend_schema(responses={200: serializers.AuditEntrySerializer, **problems(403, 404)}),
)
class AuditViewSet(PersonActsViewSet):
    """The audit log, newest first, for admins and auditors. Nobody writes here: acts do."""

    queryset = AuditEntry.objects.none()
    serializer_class = serializers.AuditEntrySerializer
    ordering_fields = ("at",)

    def get_queryset(self) -> QuerySet[AuditEntry]:
        return selectors.audit_entries(self.request.user, AuditQuestion())

    def list(self, request: Request) -> Response:
        asked = serializers.AuditQuestionSerializer(data=request.query_params)
        require_role(request.user, Role.ADMIN, Role.AUDITOR)
        if not asked.is_valid():
            raise Invalid(flatten(asked.errors))
        rows = selectors.audit_entries(request.user, AuditQuestion(**asked.validated_data))
        return self.listing(rows, lambda page: [present.audit_entry(e) for e in page])

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(present.audit_entry(self.get_object()))
