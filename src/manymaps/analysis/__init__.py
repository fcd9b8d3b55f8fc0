"""Are many maps needed, and can these be trusted: diagnosis, stability, evaluation."""
