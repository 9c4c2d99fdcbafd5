"""``./run manage update_catalogue``: the messages of the code into ``locale/``, translations kept."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.catalogue import catalogue
from portal.catalogue.extract import extract

LOCALES = ("zh_Hans",)
ROOMS = ("kernel", "accounts", "approvals", "inventory", "projects", "quotas", "scheduling", "monitoring", "portal")


class Command(BaseCommand):
    help = "Renew the catalogues of translations from the code; with --check only say what is wrong with them."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail where a catalogue is not current")

    def handle(self, **options: Any) -> None:
        messages = extract(settings.BASE_DIR, ROOMS)
        wrong: list[str] = []
        for locale in LOCALES:
            path = settings.LOCALE_PATHS[0] / locale / "LC_MESSAGES" / "django.po"
            held = catalogue.read(path, locale)
            if not options["check"]:
                held = catalogue.merged(held, messages)
                catalogue.write(held, path)
            wrong += [f"{locale}: {fault}" for fault in catalogue.faults(held, messages)]
            self.stdout.write(f"{locale}: {len(held)} messages, {catalogue.untranslated(held)} not translated")
        if wrong:
            raise CommandError("\n".join([*wrong, "./run manage update_catalogue renews the catalogues"]))
