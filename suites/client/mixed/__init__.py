"""What all topics meet in: combinations, and more than a client has room for."""
