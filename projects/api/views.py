"""The registry's API: one service per action."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Person
from accounts.policies import require_signed_in
from approvals.models import Answer
from kernel.api.views import PortalViewSet
from kernel.errors import NotFound
from projects import policies, selectors, services
from projects.api import present
from projects.api import serializers as fields
from projects.filters import ProjectFilter
from projects.models import Project, ResearchArea

PROJECT_ID = OpenApiParameter("project_id", OpenApiTypes.INT, OpenApiParameter.PATH)
PERSON_ID = OpenApiParameter("id", OpenApiTypes.INT, OpenApiParameter.PATH, description="The person's id.")


class RegistryViewSet(PortalViewSet):
    def me(self) -> Person:
        return require_signed_in(self.request.user)


class ProjectViewSet(RegistryViewSet):
    """Projects that the caller may know of."""

    serializer_class = fields.ProjectOutput
    filterset_class = ProjectFilter
    ordering_fields = tuple(selectors.ORDER)

    def get_queryset(self) -> QuerySet[Project]:
        return policies.visible_to(self.request.user)

    def ordered(self, rows: Any) -> Any:
        """Tiers and stages sort by their rank, not by their letters."""
        return selectors.in_order(rows, self.request.query_params.get("ordering", ""))

    def permitted(self, needed: policies.Action) -> int:
        """The project's id; refuses before the body is read, so that a fault in it tells a stranger nothing."""
        project = self.get_queryset().filter(pk=int(self.kwargs["pk"])).first()
        if project is None:
            raise NotFound
        policies.require(self.request.user, needed, project)
        return project.pk

    def answer(self, project_id: int, code: int = status.HTTP_200_OK) -> Response:
        """The project as it is now, read again."""
        found = selectors.project_detail(self.request.user, project_id)
        row = selectors.with_facts(Project.objects.filter(pk=project_id)).get()
        return Response(present.detail(row, found, selectors.questions(row)), status=code)

    @extend_schema(responses=fields.ProjectRowOutput(many=True))
    def list(self, request: Request) -> Response:
        """Filtered by state, stage, kind, area, tier and words; by name unless ordered otherwise."""
        return self.listing(selectors.with_facts(self.get_queryset()), present.rows)

    @extend_schema(request=fields.ProjectInput, responses={201: fields.ProjectOutput})
    def create(self, request: Request) -> Response:
        """A draft; the caller becomes its lead. It may lack anything."""
        project = services.project_create(actor=self.me(), facts=fields.stated(self.parse(fields.ProjectInput)))
        return self.answer(project.pk, status.HTTP_201_CREATED)

    def retrieve(self, request: Request, pk: str) -> Response:
        """With the tier in force and what the caller ``can`` do now."""
        return self.answer(int(pk))

    @extend_schema(request=fields.ProjectPatch)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change what is stated; stage and milestones too. Each change is kept as history."""
        project_id = self.permitted("read")
        data = self.parse(fields.ProjectPatch)
        services.project_edit(
            actor=self.me(),
            project_id=project_id,
            changes=fields.stated(data),
            seen=data.get("seen"),
        )
        return self.answer(project_id)

    @extend_schema(request=fields.SubmitInput)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> Response:
        """Ask for a decision. Needs name, goal, stage, expected_compute, one milestone and breakthrough; and an
        ``answer`` where it was returned with a question."""
        project_id = self.permitted("submit")
        services.project_submit(actor=self.me(), project_id=project_id, **self.parse(fields.SubmitInput))
        return self.answer(project_id)

    @extend_schema(request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Back to a draft before it is decided."""
        return self.stepped("withdraw", services.project_withdraw, fields.StepInput)

    @extend_schema(request=fields.DecisionInput)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """The caller's vote. Never for the project's own people. With ``seen``, only that content is approved."""
        return self.voted(Answer.APPROVE)

    @extend_schema(request=fields.DecisionInput)
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        """Needs a reason."""
        return self.voted(Answer.REJECT)

    @extend_schema(request=fields.DecisionInput)
    @action(detail=True, methods=["post"], url_path="return", url_name="return")
    def return_to_draft(self, request: Request, pk: str) -> Response:
        """Back to its lead with a question, as ``reason``."""
        return self.voted(Answer.RETURN)

    @extend_schema(request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def suspend(self, request: Request, pk: str) -> Response:
        """Needs a reason. Nothing launches from here on."""
        return self.stepped("suspend", services.project_suspend, fields.StepInput)

    @extend_schema(request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Never for the project's own people."""
        return self.stepped("resume", services.project_resume, fields.StepInput)

    @extend_schema(request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def close(self, request: Request, pk: str) -> Response:
        """For good. Needs a reason."""
        return self.stepped("close", services.project_close, fields.StepInput)

    @extend_schema(request=fields.TierInput, responses=fields.TierOutput)
    @action(detail=True, methods=["post"])
    def tier(self, request: Request, pk: str) -> Response:
        """Set the priority tier from now on; needs a reason. Never for the project's own people."""
        project_id = self.permitted("set_tier")
        data = self.parse(fields.TierInput)
        fact = services.tier_set(
            actor=self.me(),
            project_id=project_id,
            tier=data["tier"],
            reason=fields.reason_in(data),
        )
        return Response(present.tier(fact))

    @extend_schema(responses=fields.HistoryOutput(many=True), filters=False)
    @action(detail=True, methods=["get"])
    def history(self, request: Request, pk: str) -> Response:
        """Steps of the state, changes of facts and team, tiers; oldest first."""
        found = selectors.project_detail(request.user, int(pk))
        page = self.paginate_queryset(selectors.history(found.project))
        return self.get_paginated_response([present.item(row) for row in page or []])

    def voted(self, answer: Answer) -> Response:
        """The caller's vote in the flow of approvals."""
        project_id = self.permitted("read")
        data = self.parse(fields.DecisionInput)
        services.project_decide(
            actor=self.me(),
            project_id=project_id,
            answer=answer,
            reason=fields.reason_in(data),
            seen=data.get("seen"),
        )
        return self.answer(project_id)

    def stepped(
        self, needed: policies.Action, service: Callable[..., Project], body: type[fields.StepInput]
    ) -> Response:
        """One step of the state by its service."""
        project_id = self.permitted(needed)
        data = self.parse(body)
        given: dict[str, Any] = {"reason": fields.reason_in(data)}
        if "seen" in data:
            given["seen"] = data["seen"]
        service(actor=self.me(), project_id=project_id, **given)
        return self.answer(project_id)


class OfProjectViewSet(RegistryViewSet):
    """What belongs to one project, under its address."""

    filter_backends = ()

    def project(self, needed: policies.Action) -> Project:
        """Refuses before the body is read, so that a fault in it tells a stranger nothing."""
        project = policies.visible_to(self.request.user).filter(pk=int(self.kwargs["project_id"])).first()
        if project is None:
            raise NotFound
        policies.require(self.request.user, needed, project)
        return project


@extend_schema(parameters=[PROJECT_ID])
class MemberViewSet(OfProjectViewSet):
    """The team of one project; a member is addressed by the person's id."""

    serializer_class = fields.MemberOutput

    def list(self, request: Request, project_id: str) -> Response:
        """Who is on the team now, leads first."""
        page = self.paginate_queryset(selectors.members(self.project("read")))
        return self.get_paginated_response([present.member(row) for row in page or []])

    @extend_schema(request=fields.MemberInput, responses={201: fields.MemberOutput})
    def create(self, request: Request, project_id: str) -> Response:
        """Put somebody with an active account on the team."""
        project = self.project("manage_members")
        data = self.parse(fields.MemberInput)
        row = services.member_add(actor=self.me(), project_id=project.pk, **data)
        return Response(present.member(row), status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[PERSON_ID], request=fields.RoleInput)
    def partial_update(self, request: Request, project_id: str, pk: str) -> Response:
        """Give a member another role; a project keeps one active lead."""
        project = self.project("manage_members")
        data = self.parse(fields.RoleInput)
        row = services.member_change_role(actor=self.me(), project_id=project.pk, person_id=int(pk), role=data["role"])
        return Response(present.member(row))

    @extend_schema(parameters=[PERSON_ID], responses={204: None})
    def destroy(self, request: Request, project_id: str, pk: str) -> Response:
        """Take somebody off the team, or leave it; a project keeps one active lead."""
        project = self.project("read")
        services.member_remove(actor=self.me(), project_id=project.pk, person_id=int(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ResearchAreaViewSet(RegistryViewSet):
    """Everybody signed in may read the areas."""

    serializer_class = fields.AreaOutput
    ordering_fields = ("name", "title")

    def get_queryset(self) -> QuerySet[ResearchArea]:
        return ResearchArea.objects.select_related("parent").order_by("name")

    def list(self, request: Request) -> Response:
        """By name unless ordered otherwise."""
        return self.listing(self.get_queryset(), lambda rows: [present.area(row) for row in rows])

    @extend_schema(request=fields.AreaInput, responses={201: fields.AreaOutput})
    def create(self, request: Request) -> Response:
        """An admin's act."""
        area = services.area_create(actor=self.me(), **self.parse(fields.AreaInput))
        return Response(present.area(area), status=status.HTTP_201_CREATED)

    @extend_schema(request=fields.AreaChange, responses=fields.AreaOutput)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Rename or move an area with all that is in it; an admin's act. Its key stays."""
        asked = self.parse(fields.AreaChange)
        area = self.get_queryset().filter(pk=int(pk)).first()
        if area is None:
            raise NotFound
        now = {"title": area.title, "parent": area.parent.name if area.parent else None}
        changed = services.area_edit(actor=self.me(), area_id=area.pk, **{**now, **asked})
        return Response(present.area(changed))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """An admin's act; refused while anything stands in the area."""
        services.area_delete(actor=self.me(), area_id=int(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)
