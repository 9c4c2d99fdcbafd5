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
    "decision": "/projects/{submitted}/decide",
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
QUOTA_ROWS, WAITING = 1000, 100


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
    from portal.pages.table.columns import ORDER
    from portal.tests.pages.crowd import crowd
    from projects.models import Project
    from scheduling.models import Job

    made = crowd(projects)
    fill(made)
    job = Job.objects.filter(state="running").select_related("project").earliest("pk")
    submitted = Project.objects.filter(state="submitted").latest("pk").pk
    node = job.attempts.get().members.get().node_id
    places = {"project": job.project_id, "submitted": submitted, "job": job.pk, "node": node}
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
    from projects.models import Project
    from quotas.models import Claim

    since, models = to_range(Interval(clock.now())), list(GpuModel.objects.order_by("pk"))
    held = set(Claim.objects.values_list("project_id", "gpu_model_id"))
    free = [(row, model) for row in made for model in models if (row.pk, model.pk) not in held]
    Claim.objects.bulk_create(
        Claim(project=row, gpu_model=model, resource="gpu", guaranteed=0, limit=8, during=since, granted_at=clock.now())
        for row, model in free[: QUOTA_ROWS - len(held)]
    )
    drafts = [row.pk for row in made if row.state != "submitted"]
    waiting = len(made) - len(drafts)
    Project.objects.filter(pk__in=drafts[-(WAITING - waiting) :]).update(state="submitted")


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
