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
    "quotas": "/quotas",
}


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
    """One line for each page."""
    # Models can be imported only after django.setup().
    from accounts.tests import factories as people
    from portal.pages.table.columns import ORDER
    from portal.tests.pages.crowd import crowd

    crowd(projects)
    browser = people.browser(people.auditor("benchmark-auditor"))
    every = "&".join(f"columns={key}" for key in ORDER)
    for name, address in PAGES.items():
        page = address.format(every=every)
        with CaptureQueriesContext(connection) as captured:
            size = len(browser.get(page).content)
        statements = len(captured)
        spent = []
        for _turn in range(repeat):
            start = time.process_time()
            answer = browser.get(page)
            spent.append(1000 * (time.process_time() - start))
            if answer.status_code != 200:
                raise SystemExit(f"{page}: {answer.status_code}")
        line = {
            "page": name,
            "projects": projects,
            "statements": statements,
            "bytes": size,
            "cpu_ms_median": round(statistics.median(spent), 1),
            "cpu_ms_min": round(min(spent), 1),
        }
        sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
