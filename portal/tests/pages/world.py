"""A small organisation in which every part of every page has something to show."""

from dataclasses import dataclass
from datetime import timedelta

from accounts.models import Person, Role
from accounts.tests.told import failed, told
from kernel import clock
from monitoring.services import samples_ingest
from monitoring.tests import factories as samples
from projects.models import Project
from projects.tests import factories as registry
from scheduling.models import Job
from scheduling.tests import factories


@dataclass
class World:
    lead: Person
    project: Project
    node: factories.FakeNode
    running: Job
    waiting: Job


def make() -> World:
    """A node, a project with a running and a waiting job, a draft, a submission, a late milestone, samples."""
    node = factories.node("alpha", gpus=8)
    lead = factories.person("page-lead")
    project = factories.project(lead, name="Protein dynamics")
    project.milestones.update(due_on=clock.now().date() - timedelta(days=3))
    running = factories.running_job(project, [node], name="long-range", milli_gpus=2000, max_runtime_s=7200)
    waiting = factories.job(project, name="probe", milli_gpus=3000)
    factories.decide()
    waiting.refresh_from_db()
    registry.draft_project(lead=lead)
    registry.submitted_project()
    sampled(node)
    tell(lead)
    return World(lead, project, node, running, waiting)


def grow(where: World) -> None:
    """More of everything that pages list."""
    other = factories.node("beta", gpus=8)
    for index in range(3):
        mine = factories.project(where.lead, name=f"Project of mine {index}")
        factories.job(mine, name=f"other {index}")
        registry.draft_project(lead=where.lead)
        registry.submitted_project()
        factories.job(where.project, name=f"more {index}")
        tell(where.lead)
    factories.decide()
    other.sync()
    sampled(other)


def tell(lead: Person) -> None:
    """A line more in the inboxes of the lead and of every admin, and in the ledger."""
    for person in (lead, *Person.objects.filter(role_grants__role=Role.ADMIN)):
        failed(told(person))


def sampled(fake: factories.FakeNode, value: float = 91.0) -> None:
    """Each device of the node has just reported this utilisation."""
    columns = [samples.columns(device.uuid, [value]) for device in fake.node.devices.all()]
    batch = samples.batch(columns, start=clock.now(), host=samples.host_columns(1))
    samples_ingest(node=fake.node, batch=batch)
