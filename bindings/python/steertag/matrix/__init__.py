"""Results of several targets side by side, and the differences of two of them."""
