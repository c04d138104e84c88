"""The version of Steertag, for every part of it. CMakeLists.txt and pyproject.toml read it here."""

__version__ = "0.1.0"
