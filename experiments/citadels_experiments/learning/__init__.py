"""Training: what is played, RLlib's slow and fast path, a plain loop, export.  Needs the extra `rllib`."""
