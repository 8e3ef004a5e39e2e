"""The environments of other libraries' kinds; only here are gymnasium and pettingzoo imported."""
