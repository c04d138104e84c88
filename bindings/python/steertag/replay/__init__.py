"""What is done with the recording of a failed case: it is played again, and made smaller."""
