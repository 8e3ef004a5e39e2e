"""Gymnasium environments: one seat against agents that play the others, one game (`single`) or many (`vector`)."""
