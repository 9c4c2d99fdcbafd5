"""The registry: what a project is, wants, and who works on it."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _
from guardian.models import UserObjectPermissionBase

from accounts.models import Person
from inventory.models import GpuModel
from kernel.unit import LockRank
from projects.states import PROJECT, ProjectState


class ResearchArea(models.Model):
    """A group of projects that may hold a guarantee of its own. Areas may nest."""

    lock_rank = LockRank.RESEARCH_AREA
    name = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=200)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="children")

    def __str__(self) -> str:
        return self.title


class Kind(models.TextChoices):
    RESEARCH = "research", _("Research")
    PRODUCT = "product", _("Product")


class Stage(models.TextChoices):
    EXPLORATION = "exploration", _("Exploration")
    FEASIBILITY = "feasibility", _("Feasibility")
    TRAINING = "training", _("Training")
    EVALUATION = "evaluation", _("Evaluation")
    LAUNCH_PREPARATION = "launch_preparation", _("Launch preparation")
    PRODUCTION = "production", _("Production")


class DataClass(models.TextChoices):
    """How far the project's data may travel: it limits the node sources that its jobs may use (INV4)."""

    OPEN = "open", _("Open: any source")
    INTERNAL = "internal", _("Internal: own, hybrid and rented nodes")
    RESTRICTED = "restricted", _("Restricted: own machine room only")


class Project(models.Model):
    """One registered project. A draft may lack anything; ``submit`` asks for the rest."""

    lock_rank = LockRank.PROJECT
    machine = PROJECT
    name = models.CharField(max_length=200)
    goal = models.TextField(blank=True)
    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.RESEARCH)
    stage = models.CharField(max_length=30, choices=Stage.choices, blank=True)
    area = models.ForeignKey(ResearchArea, on_delete=models.PROTECT, null=True, blank=True, related_name="projects")
    data_class = models.CharField(max_length=20, choices=DataClass.choices, default=DataClass.INTERNAL)
    breakthrough = models.PositiveSmallIntegerField(null=True, blank=True)
    datasets = models.JSONField(default=list, blank=True)
    state = models.CharField(max_length=20, choices=ProjectState.choices, default=ProjectState.DRAFT)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="projects_created")
    submitted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        permissions = [
            ("lead_project", "Leads the project"),
            ("research_project", "Works on the project"),
        ]
        constraints = [
            models.UniqueConstraint(
                Lower("name"),
                name="project_name_once",
                condition=~Q(state__in=["rejected", "closed"]) & ~Q(name=""),
                violation_error_message=_("A project of this name exists already."),
            ),
            models.CheckConstraint(
                condition=Q(breakthrough__isnull=True) | Q(breakthrough__lte=10),
                name="project_breakthrough_0_10",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ProjectUserObjectPermission(UserObjectPermissionBase):
    """Who holds which role on which project, as django-guardian reads it (direct foreign key)."""

    content_object = models.ForeignKey(Project, on_delete=models.CASCADE)


class ProjectRole(models.TextChoices):
    LEAD = "lead", _("Project lead")
    RESEARCHER = "researcher", _("Researcher")


class Membership(models.Model):
    """A person's time on a project in one role. Rows stay as history (REG4)."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=20, choices=ProjectRole.choices)
    joined_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True)
    added_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "person"], condition=Q(left_at__isnull=True), name="membership_live_once"
            )
        ]


class ComputeRequest(models.Model):
    """Expected compute of a project on one GPU model, whole GPUs (REG1)."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="expected_compute")
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="+")
    min = models.PositiveIntegerField()
    target = models.PositiveIntegerField()
    max = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "gpu_model"], name="computerequest_once"),
            models.CheckConstraint(
                condition=Q(min__lte=F("target")) & Q(target__lte=F("max")) & Q(max__gte=1),
                name="computerequest_order",
            ),
        ]


class Milestone(models.Model):
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="milestones")
    name = models.CharField(max_length=200)
    due_on = models.DateField()
    met_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["due_on", "id"]


class Tier(models.TextChoices):
    HIGH = "high", _("High")
    MID = "mid", _("Mid")
    LOW = "low", _("Low")


class TierFact(models.Model):
    """The priority tier in force, dated. Set by an admin until review rounds publish it."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tier_facts")
    tier = models.CharField(max_length=10, choices=Tier.choices)
    during = DateTimeRangeField()
    reason = models.TextField(blank=True)
    set_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="tierfact_one_at_a_time",
                expressions=[("project", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            )
        ]


class ProjectChange(models.Model):
    """What changed on a project's facts and team (REG4): field, before, after. Steps of its state are elsewhere."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="changes")
    field = models.CharField(max_length=60)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    at = models.DateTimeField()
    by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
