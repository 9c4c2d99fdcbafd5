"""What most tests of requests start from; a module that needs another cluster says so itself."""

import pytest

from inventory.models import GpuModel
from projects.models import Project
from projects.tests.factories import active_project
from quotas.tests import factories as make


@pytest.fixture
def model() -> GpuModel:
    """64 H100 of which 60 may be guaranteed."""
    found, _node = make.capacity(64, reserve=625)
    return found


@pytest.fixture
def project() -> Project:
    return active_project()
