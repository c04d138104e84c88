"""The messages of a client, and replies and errors with other headers or XIDs than it expects."""
