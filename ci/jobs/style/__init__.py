"""The project's own rules for files."""
