"""What was in force once stays true: a row of the ledger is ended or voided, never rewritten (QUO5).

Only the part of an interval that still lies ahead may change. A minute's slack bears the difference between
the clocks of application and database.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION quotas_is_ahead(at timestamptz) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT at IS NULL OR at > clock_timestamp() - interval '1 minute'
$$;

CREATE FUNCTION quotas_guard_interval(old_during tstzrange, new_during tstzrange) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF lower(new_during) IS DISTINCT FROM lower(old_during) OR isempty(new_during)
       OR NOT lower_inc(new_during) OR upper_inc(new_during) THEN
        RAISE EXCEPTION 'the start of % is history: % refused', old_during, new_during
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF new_during IS DISTINCT FROM old_during
       AND NOT (quotas_is_ahead(upper(old_during)) AND quotas_is_ahead(upper(new_during))) THEN
        RAISE EXCEPTION 'the past of % is history: % refused', old_during, new_during
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
END $$;

CREATE FUNCTION quotas_guard_claim() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    mutable text[] := ARRAY['during', 'voided_at', 'ended_by_id', 'ended_at', 'end_reason'];
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'claim % is history: DELETE refused', OLD.id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (to_jsonb(NEW) - mutable) IS DISTINCT FROM (to_jsonb(OLD) - mutable) THEN
        RAISE EXCEPTION 'claim % is history: only its end may change', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    PERFORM quotas_guard_interval(OLD.during, NEW.during);
    IF NEW.voided_at IS DISTINCT FROM OLD.voided_at
       AND NOT (OLD.voided_at IS NULL AND quotas_is_ahead(lower(OLD.during))) THEN
        RAISE EXCEPTION 'claim % has taken effect or is void: voided_at refused', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.voided_at IS NOT NULL AND NEW.during IS DISTINCT FROM OLD.during THEN
        RAISE EXCEPTION 'claim % is void: its interval refused', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (NEW.ended_by_id, NEW.ended_at, NEW.end_reason) IS DISTINCT FROM (OLD.ended_by_id, OLD.ended_at, OLD.end_reason)
       AND NEW.during IS NOT DISTINCT FROM OLD.during AND NEW.voided_at IS NOT DISTINCT FROM OLD.voided_at THEN
        RAISE EXCEPTION 'claim % is not being ended: who ended it refused', OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER claim_history BEFORE UPDATE OR DELETE ON quotas_claim
    FOR EACH ROW EXECUTE FUNCTION quotas_guard_claim();

-- Facts of capacity and reserve: one that has begun keeps its amount; one that has not may still be taken back.
CREATE FUNCTION quotas_guard_fact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF quotas_is_ahead(lower(OLD.during)) AND (TG_OP = 'DELETE' OR quotas_is_ahead(lower(NEW.during))) THEN
        RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION '% % is history: DELETE refused', TG_TABLE_NAME, OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (to_jsonb(NEW) - 'during') IS DISTINCT FROM (to_jsonb(OLD) - 'during') THEN
        RAISE EXCEPTION '% % is history: only its end may change', TG_TABLE_NAME, OLD.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    PERFORM quotas_guard_interval(OLD.during, NEW.during);
    RETURN NEW;
END $$;

CREATE TRIGGER capacityfact_history BEFORE UPDATE OR DELETE ON inventory_capacityfact
    FOR EACH ROW EXECUTE FUNCTION quotas_guard_fact();
CREATE TRIGGER reservefact_history BEFORE UPDATE OR DELETE ON inventory_reservefact
    FOR EACH ROW EXECUTE FUNCTION quotas_guard_fact();
"""

BACKWARD = """
DROP TRIGGER reservefact_history ON inventory_reservefact;
DROP TRIGGER capacityfact_history ON inventory_capacityfact;
DROP FUNCTION quotas_guard_fact();
DROP TRIGGER claim_history ON quotas_claim;
DROP FUNCTION quotas_guard_claim();
DROP FUNCTION quotas_guard_interval(tstzrange, tstzrange);
DROP FUNCTION quotas_is_ahead(timestamptz);
"""


class Migration(migrations.Migration):
    dependencies = [("quotas", "0002_claim_story")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
