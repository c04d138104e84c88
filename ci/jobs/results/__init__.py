"""Makes docs/results/ from fixtures/baselines/."""
