"""The decision page: one approval of any kind, with its evidence, and the answers to it."""
