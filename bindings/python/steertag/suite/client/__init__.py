"""Cases for clients: the client under test, the server that it uses, and what it did."""
