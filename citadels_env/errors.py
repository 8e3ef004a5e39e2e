"""What can be wrong with what a user gives: one exception per kind, all of them ValueErrors; and one warning.

Whatever raises one of these has changed nothing.  A wrong type is refused in the same way as a wrong value.
"""


class CitadelsError(ValueError):
    """Something given to the library cannot be used; the message names the value and what is allowed."""


class InvalidArgumentError(CitadelsError):
    """A number, seed, name or array is of the wrong type or out of its range."""


class RulesError(CitadelsError):
    """Rules that the game does not have; the message names the rule of docs/rulebook.md."""


class PositionError(CitadelsError):
    """A position that cannot be."""


class NotationError(CitadelsError):
    """A text that is not the notation of a game."""


class IllegalActionError(CitadelsError):
    """An action that is not legal now; the message lists the legal ones."""


class AgentSpecError(CitadelsError):
    """A text that names no agent, or an agent with impossible options."""


class RulesWarning(UserWarning):
    """Rules that may be played, but hardly mean what was wanted."""
