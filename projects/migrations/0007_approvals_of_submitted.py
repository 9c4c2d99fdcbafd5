"""Registrations that waited when decisions became approvals: each waits on as one, for the roles that decided before."""

from datetime import timedelta
from typing import Any

from django.db import migrations
from django.utils import timezone

KIND = "project_registration"
STEP = {"roles": ["admin", "director"], "people": [], "answer_hours": 72, "escalate_to": []}
RULE = {
    "name": "Every registration",
    "steps": [STEP],
    "most_gpus": None,
    "most_share_percent": None,
    "most_days": None,
    "tiers": [],
}


def open_approvals(apps: Any, schema_editor: Any) -> None:
    Project = apps.get_model("projects", "Project")
    waiting = Project.objects.filter(state="submitted", submitted_by__isnull=False)
    if not waiting.exists():
        return
    now = timezone.now()
    policy, _made = apps.get_model("approvals", "PolicyVersion").objects.get_or_create(
        kind=KIND, number=1, defaults={"rules": [RULE], "created_at": now}
    )
    for project in waiting.order_by("pk"):
        approval = apps.get_model("approvals", "Approval").objects.create(
            kind=KIND,
            subject_id=project.pk,
            project_id=project.pk,
            title=project.name,
            requester_id=project.submitted_by_id,
            state="waiting",
            # The hash is computed anew under lock by each vote; who looked at a page before names it.
            content="",
            policy=policy,
            rule=RULE["name"],
            due_at=now + timedelta(hours=STEP["answer_hours"]),
            requested_at=project.updated_at,
            submitted_at=project.updated_at,
        )
        apps.get_model("approvals", "Step").objects.create(
            approval=approval, round=1, number=0, started_at=now, due_at=approval.due_at, **STEP
        )


class Migration(migrations.Migration):
    dependencies = [("projects", "0006_project_imports"), ("approvals", "0002_no_own_vote")]
    operations = [migrations.RunPython(open_approvals, migrations.RunPython.noop)]
