"""What gates a change: commands in bash, and `jobs`, the Python behind them."""
