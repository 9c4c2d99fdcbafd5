"""``manage.py issue_token USER``: prints a token for this person or service account, and nothing else."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Person, Scope
from accounts.services import TokenTerms, token_issue
from accounts.services.tokens import DEFAULT_DAYS, MAX_DAYS
from kernel.errors import PortalError


class Command(BaseCommand):
    help = "Issue an API token for USER and print it, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="user name")
        parser.add_argument(
            "--scopes",
            nargs="+",
            choices=Scope.values,
            default=[Scope.WRITE.value],
            help="what it may do, never more than USER (default: write)",
        )
        parser.add_argument(
            "--days",
            type=int,
            default=DEFAULT_DAYS,
            help=f"days until it ends (default {DEFAULT_DAYS}, at most {MAX_DAYS})",
        )
        parser.add_argument("--name", default="command line", help="what it is for")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = Person.objects.filter(username__iexact=options["user"]).first()
        if owner is None:
            raise CommandError(f"nobody is called {options['user']!r}")
        terms = TokenTerms(options["name"], options["scopes"], options["days"])
        try:
            issued = token_issue(actor=None, owner=owner, terms=terms)
        except PortalError as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(issued.secret)
