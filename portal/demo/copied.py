"""Many rows at once by COPY: what the records of half a year would take too long for by INSERT."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import connection, models


def copy_in(rows: Sequence[models.Model]) -> None:
    """Write these new rows of one model, whose ids are given to them. Related rows must have theirs already."""
    if not rows:
        return
    model = type(rows[0])
    if isinstance(model._meta.pk, models.AutoField):
        for row, pk in zip(rows, new_ids(model, len(rows)), strict=True):
            row.pk = pk
    names = [field.attname for field in model._meta.concrete_fields]
    copy_values(model, names, ([getattr(row, name) for name in names] for row in rows))


def new_ids(model: type[models.Model], count: int) -> list[int]:
    """Ids that no other row gets."""
    meta = model._meta
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [meta.db_table, meta.pk.column, count],
        )
        return [pk for (pk,) in cursor.fetchall()]


def copy_values(model: type[models.Model], names: Sequence[str], rows: Iterable[list[Any]]) -> None:
    """Write rows of values in the order of these attributes. What is not named gets the database's default."""
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    columns = ", ".join(connection.ops.quote_name(field.column or "") for field in fields)
    adapts = [(place, adapt) for place, field in enumerate(fields) if (adapt := _adapter(field)) is not None]
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {connection.ops.quote_name(model._meta.db_table)} ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            for place, adapt in adapts:
                row[place] = adapt(row[place])
            copy.write_row(row)


def _adapter(field: "models.Field[Any, Any]") -> Callable[[Any], Any] | None:
    """What the driver would not write as it is: JSON, and members of an enum, which it would write by name."""
    if isinstance(field, models.JSONField):
        return lambda value: field.get_db_prep_save(value, connection)
    return (lambda value: value and str(value)) if field.choices else None


def analyse(*written: type[models.Model]) -> None:
    """Let the database look at what was written: until then it plans as if these tables were empty."""
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in written)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
