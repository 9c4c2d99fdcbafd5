"""A person's own language."""

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.languages import AS_BROWSER, is_spoken
from accounts.models import Person
from accounts.policies import require_signed_in
from kernel import audit
from kernel.errors import Invalid
from kernel.unit import unit_of_work


def language_choose(*, actor: Person, language: str) -> Person:
    """One's own language for pages, refusals and mails; empty: as the browser asks. Raises ``Invalid``."""
    if language != AS_BROWSER and not is_spoken(language):
        words = {"given": language[:20], "allowed": ", ".join(dict(settings.LANGUAGES))}
        raise Invalid({"language": _("“%(given)s” is not spoken here; allowed: %(allowed)s") % words})
    with unit_of_work():
        person = Person.objects.get(pk=require_signed_in(actor).pk)
        if person.language == language:
            return person
        before = person.language
        person.language = language
        person.save(update_fields=["language"])
        audit.record(
            "person.language_chosen",
            actor=actor,
            subject=person,
            before={"language": before},
            after={"language": language},
        )
    return person
