"""Results of the steps of a check."""
