"""ACC3 by the database: nobody votes on what they asked for, nor does who stands in for them; votes stay as given."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION approvals_vote_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    asker bigint;
BEGIN
    SELECT requester_id INTO asker FROM approvals_approval WHERE id = NEW.approval_id;
    IF asker IS NULL OR NEW.person_id = asker OR NEW.on_behalf_of_id = asker THEN
        RAISE EXCEPTION 'nobody votes on what they asked for (approval %)', NEW.approval_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'vote_not_own';
    END IF;
    PERFORM 1 FROM approvals_delegation
      WHERE principal_id = asker AND stand_in_id = NEW.person_id AND revoked_at IS NULL AND during @> NEW.at
        AND (approval_id IS NULL OR approval_id = NEW.approval_id);
    IF FOUND THEN
        RAISE EXCEPTION 'who stands in for the requester does not vote (approval %)', NEW.approval_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'vote_not_for_requester';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER vote_guard BEFORE INSERT ON approvals_vote
    FOR EACH ROW EXECUTE FUNCTION approvals_vote_guard();

CREATE FUNCTION approvals_vote_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.lapsed_at IS NOT NULL
       OR (to_jsonb(NEW) - 'lapsed_at' - 'lapse_reason') <> (to_jsonb(OLD) - 'lapsed_at' - 'lapse_reason') THEN
        RAISE EXCEPTION 'a vote stays as it was given; it can only lapse' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER vote_stays BEFORE UPDATE OR DELETE ON approvals_vote
    FOR EACH ROW EXECUTE FUNCTION approvals_vote_stays();
"""
BACKWARD = """
DROP TRIGGER vote_stays ON approvals_vote;
DROP FUNCTION approvals_vote_stays();
DROP TRIGGER vote_guard ON approvals_vote;
DROP FUNCTION approvals_vote_guard();
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
