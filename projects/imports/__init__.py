"""Projects from a file: read, checked row by row, and applied whole or not at all."""
