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
    """A question; the functions `legal_<name>` and `<name>` stand side by side and answer it, and ASKED says what it asks."""

    NOTHING = 0
    DRAFT = 1
    BURY = 2
    PLAY = 3
    ACTION = 4
    KEEP = 5
    NAME = 6
    DISCARD = 7
    WIZARD_TAKE = 8
    WIZARD_BUILD = 9
    EXCHANGE = 10
    LIGHTHOUSE = 11
    BELL_TOWER = 12
    GRAVEYARD = 13
    PARK = 14
    CROWN = 15
    TRIBUTE = 16
    THANK = 17


ASKED = {
    Ask.NOTHING: "The game is over",
    Ask.DRAFT: "Which role do you take?",
    Ask.BURY: "Two players: which role do you put away face down?",
    Ask.PLAY: "What next in your turn, until `end turn`?",
    Ask.ACTION: "Gold or cards? (Witch's first half, bewitched turn, Hospital turn)",
    Ask.KEEP: "Which of the drawn cards do you keep?",
    Ask.NAME: "Witch: which role do you bewitch?",
    Ask.DISCARD: "Magician: which further card do you exchange with the deck?",
    Ask.WIZARD_TAKE: "Wizard: which card of the hand you look at do you take?",
    Ask.WIZARD_BUILD: "Wizard: do you build the card taken at once?",
    Ask.EXCHANGE: "Diplomat: for which district do you exchange the one you offer?",
    Ask.LIGHTHOUSE: "Which card of the deck do you take?",
    Ask.BELL_TOWER: "With how many districts does the game end?",
    Ask.GRAVEYARD: "Do you pay 1 gold for the destroyed district?",
    Ask.PARK: "Do you draw 2 cards?",
    Ask.CROWN: "Emperor: who receives the crown?",
    Ask.TRIBUTE: "What do you give the Emperor for the crown?",
    Ask.THANK: "Ballroom: do you thank the crown?",
}


class Turn(IntEnum):
    """What kind of turn is being played."""

    NORMAL = 0
    WITCH = 1  # the Witch's first half: the action, then she names
    BEWITCHED = 2  # the bewitched role's turn: only the action
    HOSPITAL = 3  # the murdered owner of the Hospital: only the action
    RESUMED = 4  # the Witch's second half, with the bewitched role's powers
