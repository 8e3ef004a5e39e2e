"""Studies on the Citadels library, and the `citadels` command."""
