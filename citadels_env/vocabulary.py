"""The names of the game: colours, roles, and the questions that players are asked."""

from enum import IntEnum


class Colour(IntEnum):
    """The colour of a district, and of the income of a role."""

    NONE = -1
    NOBLE = 0  # yellow
    RELIGIOUS = 1  # blue
    TRADE = 2  # green
    MILITARY = 3  # red
    UNIQUE = 4  # purple


class Role(IntEnum):
    """The 18 roles.  Rank r (1 to 9) has the roles 2r-2 and 2r-1: `rank_index = role // 2` counts from 0."""

    ASSASSIN = 0
    WITCH = 1
    THIEF = 2
    TAX_COLLECTOR = 3
    MAGICIAN = 4
    WIZARD = 5
    KING = 6
    EMPEROR = 7
    BISHOP = 8
    ABBOT = 9
    MERCHANT = 10
    ALCHEMIST = 11
    ARCHITECT = 12
    NAVIGATOR = 13
    WARLORD = 14
    DIPLOMAT = 15
    ARTIST = 16
    QUEEN = 17


class Ask(IntEnum):
    """A question; the functions `legal_<name>` and `<name>` stand side by side and answer it."""

    NOTHING = 0  # the game is over
    DRAFT = 1  # which role do you take?
    BURY = 2  # two players: which role do you put away face down?
    PLAY = 3  # what next in your turn, until `end turn`?
    ACTION = 4  # gold or cards? (Witch's first half, bewitched turn, Hospital turn)
    KEEP = 5  # which of the drawn cards do you keep?
    NAME = 6  # Witch: which role do you bewitch?
    DISCARD = 7  # Magician: which further card do you exchange with the deck?
    WIZARD_TAKE = 8  # Wizard: which card of the hand you look at do you take?
    WIZARD_BUILD = 9  # Wizard: do you build the card taken at once?
    EXCHANGE = 10  # Diplomat: for which district do you exchange the one you offer?
    LIGHTHOUSE = 11  # which card of the deck do you take?
    BELL_TOWER = 12  # with how many districts does the game end?
    GRAVEYARD = 13  # do you pay 1 gold for the destroyed district?
    PARK = 14  # do you draw 2 cards?
    CROWN = 15  # Emperor: who receives the crown?
    TRIBUTE = 16  # what do you give the Emperor for the crown?
    THANK = 17  # Ballroom: do you thank the crown?


class Turn(IntEnum):
    """What kind of turn is being played."""

    NORMAL = 0
    WITCH = 1  # the Witch's first half: the action, then she names
    BEWITCHED = 2  # the bewitched role's turn: only the action
    HOSPITAL = 3  # the murdered owner of the Hospital: only the action
    RESUMED = 4  # the Witch's second half, with the bewitched role's powers
