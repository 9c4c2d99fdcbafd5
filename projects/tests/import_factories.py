"""Imports in every state, made by the services and the work behind them."""

from accounts.models import Person
from projects.imports import services, work
from projects.models import ImportRow, ProjectImport, RowKind

GOOD = b"name,goal\nFrom a file,Halve the cost\n"
FAULTY = b"name,goal,stage\nFrom a file,Halve the cost,\nNot yet,,nowhere\n"


def checked(owner: Person, content: bytes = GOOD, *, file_name: str = "projects.csv") -> ProjectImport:
    made = services.import_upload(actor=owner, file_name=file_name, content=content)
    work.check(made.pk)
    made.refresh_from_db()
    return made


def applied(owner: Person, content: bytes = GOOD, *, leaves_out_refused: bool = False) -> ProjectImport:
    made = checked(owner, content)
    services.import_apply(actor=owner, import_id=made.pk, leaves_out_refused=leaves_out_refused)
    work.apply(made.pk)
    made.refresh_from_db()
    return made


def longer(made: ProjectImport, rows: int = 3) -> None:
    """More rows in its report."""
    last = made.rows_total + 1
    ImportRow.objects.bulk_create(
        ImportRow(of=made, line=last + n, kind=RowKind.UNCHANGED, name=f"More {n}") for n in range(1, rows + 1)
    )


def in_every_state(owner: Person, prefix: str = "") -> dict[str, ProjectImport]:
    """By the names that addresses of tests use; ``prefix`` begins every name and value of their files."""
    name = prefix.replace('"', '""')
    good, faulty = (f'name,goal\n"{name}{word}","{name}goal"\n'.encode() for word in ("applied", "checked"))
    refused = f'name,stage,"{name}column"\n"{name}refused","{name}stage",x\n'.encode()
    found = {"import_applied": applied(owner, good), "import_checked": checked(owner, faulty)}
    unknown = checked(owner, refused, file_name=f"{prefix}.csv")
    services.import_check_again(actor=owner, import_id=unknown.pk, ignores_unknown=True)
    work.check(unknown.pk)
    unknown.refresh_from_db()
    failed = checked(owner, refused, file_name=f"{prefix}.csv")
    return {**found, "import_refused": unknown, "import_failed": failed}
