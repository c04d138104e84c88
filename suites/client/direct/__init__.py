"""Direct access: references, frames and optimistic connections (docs/direct-access.md)."""
