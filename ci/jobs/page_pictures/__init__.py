"""Pictures of report pages for docs/."""
