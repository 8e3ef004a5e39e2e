"""The tables of the game: one row per district and one per role, in the order of their indices.

Legend of a district row: name, colour, cost, points, copies in the German, French and American base
deck, whether it belongs to The Dark City's 15, and its text in our own words.  Costs that differ by
edition are options of `Rules` (`factory_cost` and so on) and override the row.
"""

from typing import NamedTuple

import numpy as np

from .vocabulary import Colour, Role

BASE_DECKS = ("german", "french", "american")


class District(NamedTuple):
    """A district card as printed."""

    name: str
    colour: Colour
    cost: int
    points: int
    copies: tuple[int, int, int]  # in the base decks, in the order of BASE_DECKS
    new: bool = False  # one of the 15 districts of The Dark City
    text: str = ""


_N, _R, _T, _M, _U = Colour.NOBLE, Colour.RELIGIOUS, Colour.TRADE, Colour.MILITARY, Colour.UNIQUE

DISTRICTS = (
    District("Manor", _N, 3, 3, (5, 5, 5)),
    District("Castle", _N, 4, 4, (4, 4, 4)),
    District("Palace", _N, 5, 5, (3, 2, 3)),
    District("Temple", _R, 1, 1, (3, 3, 3)),
    District("Church", _R, 2, 2, (3, 4, 3)),
    District("Monastery", _R, 3, 3, (3, 3, 3)),
    District("Cathedral", _R, 5, 5, (2, 2, 2)),
    District("Tavern", _T, 1, 1, (5, 5, 5)),
    District("Market", _T, 2, 2, (4, 4, 4)),
    District("Trading Post", _T, 2, 2, (3, 3, 3)),
    District("Docks", _T, 3, 3, (3, 3, 3)),
    District("Harbor", _T, 4, 4, (3, 3, 3)),
    District("Town Hall", _T, 5, 5, (2, 2, 2)),
    District("Watchtower", _M, 1, 1, (3, 3, 3)),
    District("Prison", _M, 2, 2, (3, 3, 3)),
    District("Battlefield", _M, 3, 3, (3, 3, 3)),
    District("Fortress", _M, 5, 5, (2, 2, 2)),
    District("Keep", _U, 3, 3, (2, 2, 2), text="The Warlord cannot destroy it, nor can the Diplomat take it."),
    District("Haunted City", _U, 2, 2, (1, 1, 1), text="At the end it may stand for any one colour in the bonus for five colours."),
    District("Laboratory", _U, 5, 5, (1, 1, 1), text="Once in your turn, discard a card from your hand for gold."),
    District("Smithy", _U, 5, 5, (1, 1, 1), text="Once in your turn, pay gold to draw cards."),
    District("Observatory", _U, 5, 5, (1, 1, 1), text="When your action is to draw, you see one card more."),
    District("Graveyard", _U, 5, 5, (1, 1, 1), text="When the Warlord destroys a district, you may pay 1 gold to take it into your hand."),
    District("Library", _U, 6, 6, (1, 1, 1), text="When your action is to draw, you keep one card more."),
    District("School of Magic", _U, 6, 6, (1, 1, 1), text="For income it has the colour of your role."),
    District("University", _U, 6, 8, (1, 1, 1), text="Costs 6, worth 8 points."),
    District("Dragon Gate", _U, 6, 8, (1, 1, 1), text="Costs 6, worth 8 points."),
    District("Great Wall", _U, 6, 6, (0, 0, 1), True, "Destroying or exchanging a district of your city costs 1 gold more."),
    District(
        "Quarry",
        _U,
        5,
        5,
        (0, 0, 0),
        True,
        "Identical districts: cheaper for each that stands in your city, or allowed at all (by edition).",
    ),
    District("Wishing Well", _U, 5, 5, (0, 0, 0), True, "At the end, 1 point for each other unique district of your city."),
    District("Imperial Treasury", _U, 4, 4, (0, 0, 0), True, "At the end, 1 point for each gold you have."),
    District("Map Room", _U, 5, 5, (0, 0, 0), True, "At the end, 1 point for each card in your hand."),
    District("Hospital", _U, 6, 6, (0, 0, 0), True, "Murdered, you still take your action, and nothing else."),
    District("Poor House", _U, 0, 0, (0, 0, 0), True, "If you end your turn without gold, take 1 gold."),
    District("Lighthouse", _U, 3, 3, (0, 0, 0), True, "When built, look through the deck, take one card, shuffle."),
    District("Park", _U, 6, 6, (0, 0, 0), True, "If you end your turn without cards, you may draw 2."),
    District("Powder Tower", _U, 3, 3, (0, 0, 0), True, "In your turn, blow it up together with any district of another player."),
    District("Ballroom", _U, 6, 6, (0, 0, 0), True, "While you hold the crown, whoever is called and does not thank loses the turn."),
    District("Factory", _U, 5, 5, (0, 0, 0), True, "Your other unique districts cost 1 gold less to build."),
    District("Museum", _U, 4, 4, (0, 0, 0), True, "Once in your turn, put a card from your hand under it: 1 point each at the end."),
    District(
        "Bell Tower", _U, 5, 5, (0, 0, 0), True, "When built, you decide whether the game ends one district earlier; until it is destroyed."
    ),
    District("Throne Room", _U, 6, 6, (0, 0, 0), True, "Take 1 gold each time the crown moves to another player."),
)

N_DISTRICTS = len(DISTRICTS)
DISTRICT_INDEX = {row.name: index for index, row in enumerate(DISTRICTS)}
NEW_DISTRICTS = tuple(row.name for row in DISTRICTS if row.new)
BASE_UNIQUES = tuple(row.name for row in DISTRICTS if row.colour == Colour.UNIQUE and not row.new)

# Types with several copies in the game come first: only these can stand in two cities at once.
N_REPEATED = next(index for index, row in enumerate(DISTRICTS) if row.colour == Colour.UNIQUE) + 1

KEEP, HAUNTED_CITY, LABORATORY, SMITHY, OBSERVATORY, GRAVEYARD, LIBRARY, SCHOOL_OF_MAGIC, UNIVERSITY, DRAGON_GATE = (
    DISTRICT_INDEX[name] for name in BASE_UNIQUES
)
(GREAT_WALL, QUARRY, WISHING_WELL, IMPERIAL_TREASURY, MAP_ROOM, HOSPITAL, POOR_HOUSE, LIGHTHOUSE, PARK, POWDER_TOWER,
 BALLROOM, FACTORY, MUSEUM, BELL_TOWER, THRONE_ROOM) = (DISTRICT_INDEX[name] for name in NEW_DISTRICTS)  # fmt: skip

COLOUR = np.array([row.colour for row in DISTRICTS], np.int64)
POINTS = np.array([row.points for row in DISTRICTS], np.int64)


class RoleRow(NamedTuple):
    """A role card: what is only a number."""

    role: Role
    colour: Colour = Colour.NONE  # 1 gold per district of this colour
    builds: int = 1  # districts per turn
    text: str = ""

    @property
    def name(self) -> str:
        """The name of the role as users write it."""
        return self.role.name.replace("_", " ").title()

    @property
    def rank(self) -> int:
        """The rank, 1 to 9, at which the role is called."""
        return self.role // 2 + 1


ROLES = (
    RoleRow(Role.ASSASSIN, text="Name a role: it is murdered and loses its turn."),
    RoleRow(Role.WITCH, text="After your action name a role: it only takes its action, then you go on with its powers."),
    RoleRow(Role.THIEF, text="Name a role: when it is called, you take all its gold."),
    RoleRow(Role.TAX_COLLECTOR, text="Whoever builds gives you 1 gold at the end of the turn, if any is left."),
    RoleRow(Role.MAGICIAN, text="Swap hands with a player, or exchange any number of cards with the deck."),
    RoleRow(Role.WIZARD, text="Look at a hand and take one card; you may build it at once beside your normal build."),
    RoleRow(Role.KING, _N, text="Take the crown. 1 gold per noble district."),
    RoleRow(Role.EMPEROR, _N, text="Give the crown to another player. 1 gold per noble district."),
    RoleRow(Role.BISHOP, _R, text="Your city is safe from rank 8. 1 gold per religious district."),
    RoleRow(Role.ABBOT, _R, text="The single richest other player gives you 1 gold. 1 gold per religious district."),
    RoleRow(Role.MERCHANT, _T, text="1 gold more. 1 gold per trade district."),
    RoleRow(Role.ALCHEMIST, text="You get back the gold spent on building this turn."),
    RoleRow(Role.ARCHITECT, builds=3, text="2 cards more. Build up to 3 districts."),
    RoleRow(Role.NAVIGATOR, builds=0, text="After your action 4 gold or 4 cards more; you may not build."),
    RoleRow(Role.WARLORD, _M, text="Destroy a district for 1 gold less than its cost. 1 gold per military district."),
    RoleRow(
        Role.DIPLOMAT, _M, text="Exchange a district of yours for another player's, paying the difference. 1 gold per military district."
    ),
    RoleRow(Role.ARTIST, text="Put 1 gold on one or two of your districts: each costs and scores 1 more."),
    RoleRow(Role.QUEEN, text="3 gold if you sit next to the King."),
)

N_ROLES = len(ROLES)
N_RANKS = N_ROLES // 2
ROLE_INDEX = {row.name: int(row.role) for row in ROLES}
BASE_ROLES = tuple(row.name for row in ROLES[0:16:2])
ROLE_COLOUR = np.array([row.colour for row in ROLES], np.int64)
ROLE_BUILDS = np.array([row.builds for row in ROLES], np.int64)

# Draft (B2, S-3): face-up roles by (number of roles, players).
FACE_UP = {
    (8, 2): 0, (8, 3): 0, (8, 4): 2, (8, 5): 1, (8, 6): 0, (8, 7): 0,
    (9, 4): 3, (9, 5): 2, (9, 6): 1, (9, 7): 0, (9, 8): 0,
}  # fmt: skip
