"""A run in short for the pages of a CI service. Nothing here needs the engine."""
