"""The audit log and its chain take rows in and never change or lose one, whoever asks."""

from django.db import migrations

TABLES = ("kernel_auditentry", "kernel_auditseal")

FORWARD = """
CREATE FUNCTION sluice_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;
""" + "".join(
    f"""
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION sluice_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION sluice_append_only();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_table;
"""
    for table in TABLES
)

BACKWARD = (
    "".join(f"DROP TRIGGER append_only_rows ON {table}; DROP TRIGGER append_only_table ON {table};" for table in TABLES)
    + "DROP FUNCTION sluice_append_only();"
)


class Migration(migrations.Migration):
    dependencies = [("kernel", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
