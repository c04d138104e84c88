"""Man pages and shell completion, made of the commands themselves by help2man and argcomplete."""
