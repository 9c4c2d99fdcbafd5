"""How much a file may hold."""

MOST_BYTES = 8 * 1024 * 1024
MOST_ROWS = 10_000
MOST_COLUMNS = 200
MOST_CHARACTERS = 32_767
"""Of one cell: what a spreadsheet can hold."""
MOST_UNPACKED = 64 * 1024 * 1024
"""Bytes of an XLSX file when it is unpacked."""
MOST_PARTS = 500
MOST_NODES = 5_000_000
"""Elements and attributes of an XLSX file: five for each of a million cells."""
MOST_AT_ONCE = 300_000
"""Of them, in one row or one text, and in a part beside its rows and texts: what a reader holds at one time."""
LAST_ROW = 1_048_576
"""Of a sheet of a spreadsheet program."""
