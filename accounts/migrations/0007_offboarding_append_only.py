"""Reports of off-boardings take rows in and never change or lose one, like the audit log."""

from django.db import migrations

TABLE = "accounts_offboarding"

FORWARD = f"""
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON {TABLE}
    FOR EACH ROW EXECUTE FUNCTION sluice_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON {TABLE}
    FOR EACH STATEMENT EXECUTE FUNCTION sluice_append_only();
ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER append_only_table;
"""

BACKWARD = f"DROP TRIGGER append_only_rows ON {TABLE}; DROP TRIGGER append_only_table ON {TABLE};"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_offboarding"), ("kernel", "0002_append_only")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
