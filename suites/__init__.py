"""The cases for servers and for clients, and the tests of the harness."""
