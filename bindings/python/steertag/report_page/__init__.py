"""The page of a run or of graded captures: one HTML file that loads nothing."""
