"""The catalogue of translations: what the code says is extracted, merged into ``locale/`` and checked.

Needs no system gettext: templates are read by Django's own lexer, Python by its own parser, and Babel keeps the files.
"""
