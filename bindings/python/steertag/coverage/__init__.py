"""The traceability matrix: requirements of the ledger, and which cases and deviations belong to each."""
