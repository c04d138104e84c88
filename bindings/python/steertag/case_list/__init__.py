"""The list of all cases: collected by pytest, kept while no source changes, and selected from."""
