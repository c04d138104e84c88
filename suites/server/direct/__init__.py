"""Direct access: grants, references, and their end (docs/direct-access.md)."""
