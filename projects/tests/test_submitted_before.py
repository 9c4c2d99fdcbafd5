"""The migration that makes approvals of registrations which waited before there were any."""

from importlib import import_module

import pytest
from django.apps import apps

from accounts.tests import factories as people
from approvals.models import Approval, Step
from projects import services
from projects.tests import factories


@pytest.mark.django_db
def test_what_waited_before_is_decided_as_any_other() -> None:
    project, active = factories.submitted_project(), factories.active_project()
    Step.objects.filter(approval__subject_id=project.pk).delete()
    Approval.objects.filter(subject_id=project.pk).delete()
    migration = import_module("projects.migrations.0007_approvals_of_submitted")
    migration.open_approvals(apps, None)
    (made,) = Approval.objects.exclude(subject_id=active.pk)
    assert (made.subject_id, made.state, made.requester) == (project.pk, "waiting", project.submitted_by)
    services.project_decide(answer="approve", actor=people.director(), project_id=project.pk)
    project.refresh_from_db()
    assert project.state == "active"
