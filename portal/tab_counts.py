"""What only a room above the registry can count for the tabs of a project."""

from portal.pages.project.jobs import open_jobs
from projects.views.frame import count_on_tab


def register() -> None:
    """Called once, when the site is ready."""
    count_on_tab("jobs", open_jobs)
