"""The traceability matrix: requirements of the ledger, each with its cases and deviations."""
