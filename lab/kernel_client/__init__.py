"""Linux as a client of our server: the machine, the workload, and the client suite against it."""
