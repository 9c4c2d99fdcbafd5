"""News on the home page: steps of own jobs, as long as one may know of their project."""

import pytest

from portal.pages.news import news_for
from projects.services import member_add, member_remove
from scheduling.tests import factories as make


@pytest.mark.django_db
def test_who_has_left_a_project_hears_nothing_of_its_jobs_any_more() -> None:
    fake, project, person = make.node(), make.project(), make.person()
    lead = project.created_by
    member_add(actor=lead, project_id=project.pk, person=person.username, role="researcher")
    job = make.job(project, person)
    make.decide()
    fake.sync()
    [member] = make.members_of(job)
    fake.run(member.pk)
    fake.sync()
    assert [(news.name, news.state) for news in news_for(person, [])] == [("train", "running")]
    member_remove(actor=lead, project_id=project.pk, person_id=person.pk)
    assert news_for(person, []) == []
