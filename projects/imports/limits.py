"""How much a file may hold."""

MOST_BYTES = 8 * 1024 * 1024
MOST_ROWS = 10_000
MOST_COLUMNS = 200
MOST_CHARACTERS = 32_767
"""Of one cell: what a spreadsheet can hold."""
MOST_UNPACKED = 64 * 1024 * 1024
"""Bytes of an XLSX file when it is unpacked."""
MOST_PARTS = 500
LAST_ROW = 1_048_576
"""Of a sheet of a spreadsheet program."""
