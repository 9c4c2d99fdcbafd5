"""Pages of this room: signing in, people, tokens, the audit log."""
