"""What starting jobs costs: a burst is one transaction with everybody's locks held."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduling.tests import factories as make


@pytest.mark.django_db
def test_each_further_start_costs_two_statements() -> None:
    for name in ("n1", "n2", "n3", "n4"):
        make.node(name, gpus=2)
    project = make.project(gpus=8)

    def statements(jobs: int) -> int:
        for _ in range(jobs):
            make.job(project, milli_gpus=2000)
        with CaptureQueriesContext(connection) as queries:
            assert len(make.decide()) == jobs
        return len(queries)

    one = statements(1)
    assert statements(3) == one + 2 * 2
