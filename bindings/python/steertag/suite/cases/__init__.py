"""What a case is: its decorator, its judgement, its needs, its end and its record."""
