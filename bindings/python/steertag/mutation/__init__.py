"""The mutation score: the share of deviations that a case catches.

A case catches a deviation of our own server or client if it claims the requirement that breaks, and
fails by it."""
