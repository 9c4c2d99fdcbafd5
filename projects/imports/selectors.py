"""What pages and API read of imports: one's own, and the rows of their reports."""

from django.db.models import Case, IntegerField, QuerySet, Value, When

from accounts.models import Person
from kernel.errors import NotFound
from projects.models import ImportRow, ProjectImport, RowKind
from projects.policies import visible_imports


def imports_of(person: Person) -> QuerySet[ProjectImport]:
    """One's own, newest first, without the files."""
    return visible_imports(person).defer("content").order_by("-id")


def import_of(person: Person, import_id: int) -> ProjectImport:
    """Raises ``NotFound`` for somebody else's as for one that is not there."""
    row = imports_of(person).filter(pk=import_id).first()
    if row is None:
        raise NotFound
    return row


def lines_of(row: ProjectImport, kind: str) -> QuerySet[ImportRow]:
    """Those of one kind, or all: first what came out otherwise, then what is refused. An unknown kind is all."""
    first = Case(
        When(is_overtaken=True, then=Value(0)),
        When(kind=RowKind.REFUSED, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    rows = row.rows.filter(kind=kind) if kind in RowKind.values else row.rows.all()
    return rows.order_by(first, "line")
