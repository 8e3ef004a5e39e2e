"""The weights of the heuristic player: one record, a sentence per weight.

Values are in points of the final score.  `HEURISTIC` is the plain player; personas are other values of the
same record.
"""

from typing import Any, NamedTuple

import numpy as np

from citadels_env import ROLES
from citadels_env.cards import DISTRICT_INDEX, N_DISTRICTS, N_ROLES, ROLE_INDEX
from citadels_env.checks import one_of, real_number

LARGEST = 1e6  # points: no value computed from weights below it leaves the range of its numbers


class Weight(NamedTuple):
    """One weight: name, the plain player's value, what it means, and how many entries it has."""

    name: str
    value: float
    text: str
    size: int = 1


WEIGHTS = (
    # judging cards
    Weight("printed", 1.0, "a printed point of a district"),
    Weight("extra", 0.0, "a district beyond its printed points, by district", N_DISTRICTS),
    Weight("new_colour", 1.5, "a colour that the city does not show yet"),
    Weight("own_colour", 0.0, "a district of the colour of the role in use"),
    Weight("price", 0.0, "a gold of the price to build"),
    Weight("reach", 4.0, "gold that is expected before a card can be built"),
    Weight("out_of_reach", 0.7, "each gold of the price beyond reach"),
    Weight("late", 2.0, "what a card beyond 2 gold more loses when the city is nearly complete"),
    Weight("useless", 0.2, "a card that may not be built"),
    Weight("finish", 3.0, "building the last district of the city"),
    Weight("refund", 0.5, "the Alchemist: a gold of the price that comes back"),
    # the action
    Weight("draw_empty", 3.0, "drawing cards with an empty hand"),
    Weight("draw_stuck", 2.0, "drawing when nothing in hand can be built soon and gold is there"),
    Weight("draw_rich", 1.5, "drawing when a good card can be built and hardly any other is left"),
    Weight("draw_hand", 0.0, "drawing, for each card in hand"),
    Weight("draw_gold", 0.0, "drawing, for each gold"),
    Weight("gold_bias", 1.0, "taking gold"),
    Weight("keep_hand", 2.0, "the Navigator takes cards with fewer in hand"),
    # the draft
    Weight("role", 0.0, "a role by itself, by role", N_ROLES),
    Weight("income", 1.0, "a district that pays the role"),
    Weight("near", 2, "districts that a rival may still lack to count as nearly complete"),
    Weight("murder_near", 2.5, "the Assassin when a rival is nearly complete"),
    Weight("murder_ahead", 1.5, "the Assassin when one's own city is large"),
    Weight("witch_rich", 1.0, "the Witch with 4 gold or more"),
    Weight("purse", 0.9, "the Thief, for the gold that other players have on average"),
    Weight("taxes", 0.45, "the Tax Collector, for each other player"),
    Weight("swap", 0.7, "the Magician, for each card by which the largest hand exceeds one's own"),
    Weight("swap_empty", 0.8, "the Magician with an empty hand"),
    Weight("look_poor", 0.8, "the Wizard with at most one card"),
    Weight("shelter", 1.5, "the Bishop with a large city when the Warlord is among the roles"),
    Weight("alchemy", 0.45, "the Alchemist, for each gold up to 6"),
    Weight("architect_ready", 1.5, "the Architect with gold and cards"),
    Weight("architect_near", 1.5, "the Architect with gold when a rival is nearly complete"),
    Weight("navigate_poor", 1.7, "the Navigator without gold or cards"),
    Weight("navigate_last", -2.0, "the Navigator when one district is missing"),
    Weight("war_near", 1.8, "the Warlord when a rival is nearly complete"),
    Weight("diplomacy", 0.8, "the Diplomat with 3 districts or more"),
    Weight("art_ready", 0.8, "the Artist with districts and gold"),
    Weight("hand_fits", 1.5, "Architect and Alchemist, for a hand that can be built"),
    Weight("deny", 0.0, "a role that is worth much to another player"),
    Weight("draft_noise", 1.0, "the size of a random part: a draft must not be foreseen"),
    # naming and beliefs
    Weight("inference", 1.0, "0 none, 1 elimination, 2 behavioural (see belief.py)"),
    Weight("preference", 0.4, "behavioural: how strongly players prefer a role of a higher value"),
    Weight("murder_base", 1.0, "murdering a role that a rival holds, whatever it is worth to him"),
    Weight("murder_role", 1.0, "murdering, for each point the role is worth to the rival"),
    Weight("murder_fear", 0.2, "murdering rank 8, for each district of one's own city"),
    Weight("murder_thief", 0.0, "murdering the Thief, for each gold of one's own"),
    Weight("rob_gold", 1.0, "robbing, for each gold expected"),
    Weight("bewitch_role", 1.0, "bewitching, for each point the role is worth to oneself"),
    Weight("name_noise", 0.8, "the size of a random part when naming"),
    # harming others
    Weight("threat", 0.35, "a point that any rival loses"),
    Weight("threat_leader", 0.45, "more of it for the leading rival"),
    Weight("threat_near", 0.5, "more of it for a rival who is nearly complete"),
    Weight("destroy_price", 0.7, "a gold paid for destroying"),
    Weight("destroy_count", 1.0, "that a city grows smaller"),
    Weight("blow_up_cost", 5.5, "the Powder Tower itself"),
    Weight("exchange_price", 0.7, "a gold paid for an exchange"),
    Weight("exchange_least", 0.8, "what an exchange must be worth"),
    # the rest
    Weight("swap_least", 2.0, "cards by which a hand must exceed one's own to swap"),
    Weight("change_below", 0.9, "the Magician changes cards of less value"),
    Weight("laboratory_below", 0.9, "the Laboratory takes cards of less value, with a large hand of three times that"),
    Weight("museum_above", 3.0, "cards in hand from which the Museum takes any card"),
    Weight("museum_below", 1.5, "the Museum takes cards of less value with smaller hands"),
    Weight("smithy_hand", 1.0, "the Smithy works with at most as many cards in hand, or with none and 2 gold to spare"),
    Weight("beautify_gold", 2.0, "the Artist spends gold when he has as much"),
    Weight("exhume", 2.5, "what a destroyed card must be worth to pay for it"),
    Weight("crown_far", 3.0, "the Emperor gives the crown to a player just before himself"),
    Weight("crown_weak", 0.8, "and to one with a smaller city"),
    Weight("tribute_gold", 3.0, "pays the tribute in gold with as much of it"),
)

DTYPE = np.dtype([(w.name, np.float64) if w.size == 1 else (w.name, np.float64, w.size) for w in WEIGHTS])

_EXTRA = {
    "Laboratory": 1.0, "Smithy": 1.0, "Observatory": 1.0, "Graveyard": 0.5, "Library": 1.5, "School of Magic": 1.5, "Great Wall": 0.5,
    "Quarry": 0.5, "Wishing Well": 1.0, "Imperial Treasury": 2.0, "Map Room": 2.0, "Poor House": 1.5, "Lighthouse": 1.0, "Park": 1.0,
    "Factory": 1.0, "Museum": 3.0, "Bell Tower": 1.0, "Throne Room": 1.0, "Powder Tower": 1.0, "Haunted City": 1.0, "Hospital": 0.3,
}  # fmt: skip
_ROLE = {
    "Assassin": 1.6, "Witch": 1.8, "Thief": 0.6, "Tax Collector": 0.6, "Magician": 0.6, "Wizard": 2.0, "King": 1.8, "Emperor": 1.4,
    "Bishop": 0.7, "Abbot": 1.3, "Merchant": 1.6, "Alchemist": 0.4, "Architect": 2.0, "Navigator": 1.5, "Warlord": 0.9,
    "Diplomat": 1.0, "Artist": 1.2, "Queen": 1.2,
}  # fmt: skip


def plain() -> Any:
    """The weights of the plain heuristic player: a record array of one."""
    record = np.zeros(1, DTYPE)
    for weight in WEIGHTS:
        record[weight.name] = weight.value
    for name, value in _EXTRA.items():
        record["extra"][0, DISTRICT_INDEX[name]] = value
    for row in ROLES:
        record["role"][0, row.role] = _ROLE[row.name]
    return record


def changed(record: Any, **changes: float | dict[str, float]) -> Any:
    """A copy of one record with other values; `role` and `extra` take dictionaries by name.

    Raises ValueError for a weight that does not exist and a value beyond -LARGEST to LARGEST.
    """
    record = record.copy()
    for name, value in changes.items():
        if name not in (DTYPE.names or ()):
            raise ValueError(f"there is no weight {name!r}; the weights are {', '.join(DTYPE.names or ())}")
        if isinstance(value, dict) and name in ("role", "extra"):
            for key, number in value.items():
                one_of(name, key, DISTRICT_INDEX if name == "extra" else ROLE_INDEX)
                record[name][0, _entry(name, key)] = real_number(f"{name} of {key}", number, -LARGEST, LARGEST)
        else:
            record[name] = real_number(name, value, -LARGEST, LARGEST)
    return record


def raised(record: Any, name: str, **by: float) -> dict[str, float]:
    """Entries of `role` or `extra` of a record, raised by some points; underscores stand for spaces in their names."""
    found = {}
    for key, value in by.items():
        shown = key.replace("_", " ")
        found[shown] = float(record[name][0, _entry(name, shown)]) + value
    return found


def _entry(name: str, key: str) -> int:
    return DISTRICT_INDEX[key] if name == "extra" else ROLE_INDEX[key]


def table() -> str:
    """The weights as a Markdown table."""
    lines = ["| weight | plain | meaning |", "|---|---:|---|"]
    for w in WEIGHTS:
        lines.append(f"| `{w.name}` | {'by name' if w.size > 1 else format(w.value, 'g')} | {w.text} |")
    return "\n".join(lines) + "\n"
