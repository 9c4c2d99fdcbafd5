"""Who gets which answer from every address: the table, by room, and the tests that hold it against the code.

A new address or method needs a row, or the tests fail. See ``table.py`` for how a row is written.
"""
