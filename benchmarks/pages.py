"""Statements and CPU time of pages over an organisation of hundreds of projects, as JSON lines.

    python -m benchmarks.pages [--projects 300] [--repeat 15]

With ``DJANGO_SETTINGS_MODULE`` and ``SLUICE_DATABASE_URL`` of a migrated database. All that it writes is rolled back.
The CPU time is that of this process: the site's own work, without the database's and without waiting.
"""

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any

import django
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

PAGES = {
    "home": "/",
    "table": "/projects",
    "table, every column": "/projects?{every}",
    "table, registry only": "/projects?columns=stage&columns=lead",
    "table as csv": "/projects/export/csv?{every}",
    "table as xlsx": "/projects/export/xlsx?{every}",
    "project": "/projects/{project}",
    "project, quota and use": "/projects/{project}/use",
    "project, cost": "/projects/{project}/cost",
    "project, jobs": "/projects/{project}/jobs",
    "decision on a registration": "/projects/{submitted}/decide",
    "queue": "/approvals",
    "decision on a request": "/approvals/{approval}",
    "requests": "/quota-requests",
    "inbox": "/inbox",
    "jobs": "/jobs",
    "job": "/jobs/{job}",
    "cluster": "/cluster",
    "nodes": "/nodes",
    "node": "/nodes/{node}",
    "quotas": "/quotas",
    "people": "/people",
    "audit": "/audit",
    "search": "/search?q=model",
    "api, projects": "/api/v1/projects/",
    "api, jobs": "/api/v1/jobs/",
    "api, quotas": "/api/v1/quotas/",
}
QUOTA_ROWS, WAITING, REQUESTS = 1000, 100, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=15)
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.test")
    django.setup()
    with transaction.atomic():
        measure(asked.projects, asked.repeat)
        transaction.set_rollback(True)


def measure(projects: int, repeat: int) -> None:
    """One line for each page, as an admin sees it; a page that there is not says so."""
    # Models can be imported only after django.setup().
    from accounts.tests import factories as people
    from approvals.models import Approval
    from portal.pages.table.columns import ORDER
    from portal.tests.pages.crowd import crowd
    from scheduling.models import Job

    made = crowd(projects)
    fill(made)
    job = Job.objects.filter(state="running").select_related("project").earliest("pk")
    submitted = Approval.objects.filter(kind="project_registration", state="waiting").latest("pk").subject_id
    approval = Approval.objects.filter(kind="quota_request", state="waiting").latest("pk").pk
    node = job.attempts.get().members.get().node_id
    places = {"project": job.project_id, "submitted": submitted, "approval": approval, "job": job.pk, "node": node}
    browser = people.browser(people.admin("benchmark-admin"))
    every = "&".join(f"columns={key}" for key in ORDER)
    for name, address in PAGES.items():
        line = {"page": name, "projects": projects, **measured(browser, address.format(every=every, **places), repeat)}
        sys.stdout.write(json.dumps(line) + "\n")


def fill(made: list[Any]) -> None:
    """More quota rows and more that waits than a crowd has."""
    from inventory.models import GpuModel
    from kernel import clock
    from kernel.intervals import Interval
    from kernel.ranges import to_range
    from quotas.models import Claim

    since, models = to_range(Interval(clock.now())), list(GpuModel.objects.order_by("pk"))
    held = set(Claim.objects.values_list("project_id", "gpu_model_id"))
    free = [(row, model) for row in made for model in models if (row.pk, model.pk) not in held]
    Claim.objects.bulk_create(
        Claim(project=row, gpu_model=model, resource="gpu", guaranteed=0, limit=8, during=since, granted_at=clock.now())
        for row, model in free[: QUOTA_ROWS - len(held)]
    )
    wait(made)


def wait(made: list[Any]) -> None:
    """A hundred decisions: on registrations, and on requests of the first projects that hold something."""
    from guardian.shortcuts import assign_perm

    from accounts.tests import factories as people
    from approvals.services import approval_submit
    from kernel import clock
    from kernel.unit import lock, unit_of_work
    from projects.models import Project, ProjectRole
    from projects.policies import PERMISSIONS
    from projects.services.decisions import case_of
    from quotas.models import Claim
    from quotas.services import RequestFacts, request_create, request_submit

    people.admin("benchmark-other")
    claims = Claim.objects.filter(project__state="active", guaranteed__gt=0, during__contains=clock.now())
    first = {claim.project_id: claim for claim in claims}
    holders = {row.pk: row for row in made if row.pk in first}
    for pk, project in list(holders.items())[:REQUESTS]:
        claim, lead = first[pk], project.created_by
        assign_perm(PERMISSIONS[ProjectRole.LEAD], lead, project)
        facts: RequestFacts = {
            "gpu_model_id": claim.gpu_model_id,
            "guaranteed": claim.guaranteed + 9,
            "reason": "To be measured",
        }
        row = request_create(actor=lead, project_id=pk, facts=facts)
        request_submit(actor=lead, request_id=row.pk)
    for row in [row for row in made if row.pk not in holders or row.state == "submitted"][: WAITING - REQUESTS]:
        Project.objects.filter(pk=row.pk).update(state="submitted", submitted_by=row.created_by)
        with unit_of_work():
            locked = lock({Project: [row.pk]})
            case = case_of(locked[Project][row.pk])
            approval_submit(actor=row.created_by, case=case, existing=None, locked=locked)


def measured(browser: Any, page: str, repeat: int) -> dict[str, Any]:
    """Statements, bytes and CPU time of one page: the first answer, the median and the least of the others."""
    start = time.process_time()
    with CaptureQueriesContext(connection) as captured:
        answer = browser.get(page, follow=True)
    first, statements = time.process_time() - start, len(captured)
    if answer.status_code != 200:
        return {"status": answer.status_code}
    spent = []
    for _turn in range(repeat):
        start = time.process_time()
        browser.get(page, follow=True)
        spent.append(1000 * (time.process_time() - start))
    return {
        "statements": statements,
        "bytes": len(answer.content),
        "cpu_ms_first": round(1000 * first, 1),
        "cpu_ms_median": round(statistics.median(spent), 1),
        "cpu_ms_min": round(min(spent), 1),
    }


if __name__ == "__main__":
    main()
