"""People, roles, the base of policies, service tokens."""
