"""Properties of a server: strategies of hypothesis, a stateful conversation, and what turns a failure into
the code of a case."""
