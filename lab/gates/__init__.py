"""Results of targets beside their baselines."""
