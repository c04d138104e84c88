"""What tests of the package share. Not installed."""
