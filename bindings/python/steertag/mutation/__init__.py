"""The mutation score: each named deviation of our own server and client has to be caught by a case that claims the
requirement that it breaks."""
