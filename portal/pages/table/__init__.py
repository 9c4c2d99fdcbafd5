"""The full project table (REG3): the registry's facts next to what projects hold, use and cost."""
