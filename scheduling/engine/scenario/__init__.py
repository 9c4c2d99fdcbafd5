"""``scenario/1`` files in, ``decision/1`` documents out: the engine on files, without a database."""

from scheduling.engine.scenario.names import Names
from scheduling.engine.scenario.reading import SCHEMA, Scenario, read
from scheduling.engine.scenario.writing import document_of, explanation

__all__ = ["SCHEMA", "Names", "Scenario", "document_of", "explanation", "read"]
