"""Recordings of failures: what was posted, what came, what was judged, and the file that holds it."""
