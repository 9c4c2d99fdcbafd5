"""The registry: what a project is, wants, and who works on it."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _
from guardian.models import UserObjectPermissionBase

from accounts.models import Person
from inventory.models import GpuModel
from kernel.unit import LockRank
from projects.states import MEASUREMENT, PROJECT, PROJECT_IMPORT, ImportState, MeasurementState, ProjectState


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


def _spaced(field: str) -> models.Func:
    """A text with a blank round each Chinese character, so that each counts as a word of its own: trigrams of text
    that is written without blanks hardly ever meet."""
    blanks = (models.Value("([\u3400-\u9fff\uf900-\ufaff])"), models.Value(r" \1 "), models.Value("g"))
    return models.Func(F(field), *blanks, function="regexp_replace", output_field=models.TextField())


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
    # Kept by the database for ``similar``: worked out for each row that is looked at, it would cost a search seconds.
    name_spaced = models.GeneratedField(
        expression=_spaced("name"), output_field=models.TextField(), db_persist=True, editable=False
    )

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
        indexes = [
            GinIndex(fields=["name_spaced"], opclasses=["gin_trgm_ops"], name="project_name_trigrams"),
            GinIndex(fields=["datasets"], name="project_datasets"),
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


class Question(models.Model):
    """What an approver asked when returning a registration, and its lead's answer: one line of the thread."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="questions")
    text = models.TextField()
    asked_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["asked_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=Q(answered_at__isnull=True), name="question_open_once"
            ),
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True, answered_by__isnull=True, answer="")
                | Q(answered_at__isnull=False, answered_by__isnull=False) & ~Q(answer=""),
                name="question_answered_whole",
            ),
        ]


class Measurement(models.Model):
    """How fast a project runs on one GPU of a model, as its lead states it; it counts once an admin confirmed it.

    ``throughput`` None states that the project cannot use the model. What replaced a row comes after it; rows stay.
    """

    machine = MEASUREMENT
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="measurements")
    gpu_model = models.ForeignKey(GpuModel, on_delete=models.PROTECT, related_name="+")
    throughput = models.DecimalField(max_digits=18, decimal_places=6, null=True)
    unit = models.CharField(max_length=40, blank=True)
    evidence = models.TextField()
    job = models.CharField(max_length=60, blank=True)
    state = models.CharField(max_length=20, choices=MeasurementState.choices, default=MeasurementState.PROPOSED)
    stated_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    stated_at = models.DateTimeField()
    decided_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["-stated_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "gpu_model"], condition=Q(state="proposed"), name="measurement_proposed_once"
            ),
            models.UniqueConstraint(
                fields=["project", "gpu_model"], condition=Q(state="confirmed"), name="measurement_confirmed_once"
            ),
            models.CheckConstraint(
                condition=Q(throughput__isnull=True, unit="") | Q(throughput__gt=0) & ~Q(unit=""),
                name="measurement_throughput_with_unit",
            ),
        ]

    @property
    def excludes(self) -> bool:
        """Whether it says that the project cannot use the model."""
        return self.throughput is None


class ProjectImport(models.Model):
    """A file of projects on its way into the registry: checked row by row first, then applied whole or not at all.

    It is its owner's alone. The file itself goes after a month; the report stays.
    """

    lock_rank = LockRank.PROJECT_IMPORT
    machine = PROJECT_IMPORT
    owner = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="project_imports")
    state = models.CharField(max_length=20, choices=ImportState.choices, default=ImportState.UPLOADED)
    file_name = models.CharField(max_length=200)
    content = models.BinaryField(null=True)
    encoding = models.CharField(max_length=20, blank=True)
    delimiter = models.CharField(max_length=1, blank=True)
    """As which a CSV was read; empty for XLSX."""
    ignores_unknown = models.BooleanField(default=False)
    leaves_out_refused = models.BooleanField(default=False)
    language = models.CharField(max_length=10)
    """In which its report is written."""
    faults = models.JSONField(default=list)
    """Sentences about the file as a whole, or about why nothing of it was applied."""
    unknown_columns = models.JSONField(default=list)
    rows_total = models.PositiveIntegerField(default=0)
    rows_done = models.PositiveIntegerField(default=0)
    new = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    run = models.PositiveIntegerField(default=0)
    """Fencing number: a check that was started before this one writes nothing any more."""
    touched_at = models.DateTimeField()
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "-id"], name="projectimport_owner")]

    def __str__(self) -> str:
        return self.file_name


class RowKind(models.TextChoices):
    NEW = "new", _("New")
    CHANGED = "changed", _("Changed")
    UNCHANGED = "unchanged", _("Unchanged")
    REFUSED = "refused", _("Refused")


class ImportRow(models.Model):
    """What one row of an imported file would do, or did, or why it cannot."""

    of = models.ForeignKey(ProjectImport, on_delete=models.CASCADE, related_name="rows")
    line = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=RowKind.choices)
    name = models.CharField(max_length=200, blank=True)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, null=True, related_name="+")
    """The one that is changed, or that came of it."""
    changes = models.JSONField(default=list)
    """Each ``[field, before, after]``."""
    faults = models.JSONField(default=list)
    """Each ``[column, value, sentence]``; the column is empty for what is about the whole row."""
    content = models.CharField(max_length=200, blank=True)
    """Hash of the project as it was seen by the check."""
    is_overtaken = models.BooleanField(default=False)
    """Whether it came out otherwise when it was to be applied."""

    class Meta:
        ordering = ["line"]
        constraints = [models.UniqueConstraint(fields=["of", "line"], name="importrow_once")]
        indexes = [models.Index(fields=["of", "kind", "line"], name="importrow_kind")]
