"""The form of a registration: its fields and rows, what is still missing, and how it is kept while one types."""
