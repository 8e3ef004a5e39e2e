"""Any situation from a plain dictionary: play stands just before the next rank is called.

Keys, all optional but `players`:

    crown, round          seat (0) and number (1)
    players               one dictionary per seat: gold (2), hand (4 cards from the deck), city, roles, museum (a number
                          of cards from the deck); a beautified district is written with a star, "Manor*"
    deck_top, discard     cards that are drawn first, in this order; cards in the discard pile
    face_up               roles lying face up
    called                ranks already called (0); the roles of these ranks are revealed, a murdered one is not
    murdered, robbed, bewitched   roles named this round
    first_completers      seats that completed their cities first; without it all whose city is complete
    end_at                districts that end the game, where a standing Bell Tower has been set to fewer
    tax_due               the rank-1 player has built this round (for the Tax Collector), false

Everything else is dealt from the seed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import batch, cards, roles, state, turn
from .cards import DISTRICT_INDEX, ROLE_INDEX
from .checks import items, shown, whole_number
from .errors import PositionError
from .names import canonical
from .rules import Rules

KEYS = (
    "crown", "round", "players", "deck_top", "discard", "face_up", "called", "murdered", "robbed", "bewitched",
    "first_completers", "end_at", "tax_due",
)  # fmt: skip
PLAYER_KEYS = ("gold", "hand", "city", "roles", "museum")


def normalised(position: Mapping[str, Any]) -> dict[str, Any]:
    """A deep copy in plain lists and dictionaries; raises PositionError (a ValueError) for unknown keys."""
    if not isinstance(position, Mapping):
        raise PositionError(f"a position is a dictionary, not {shown(position)}")
    for key in position:
        if key not in KEYS:
            raise PositionError(f"a position has no key {shown(key)}; the keys are {', '.join(KEYS)}")
    result = {key: list(value) if isinstance(value, tuple | set) else value for key, value in position.items()}
    if "players" in position:
        result["players"] = []
        for seat, player in enumerate(items("players", position["players"], "dictionaries", PositionError)):
            if not isinstance(player, Mapping):
                raise PositionError(f"player {seat} must be a dictionary, not {shown(player)}")
            for key in player:
                if key not in PLAYER_KEYS:
                    raise PositionError(f"player {seat} has no key {shown(key)}; the keys are {', '.join(PLAYER_KEYS)}")
            result["players"].append({key: list(value) if isinstance(value, tuple) else value for key, value in player.items()})
    return result


class _SetUp:
    """One position being laid out; every method checks before anything is written to the record."""

    def __init__(self, rules: Rules, position: dict[str, Any]) -> None:
        self.rules = rules
        self.position = position
        self.copies = dict(rules.deck)
        self.players = position.get("players", [{}] * rules.players)
        if len(self.players) != rules.players:
            raise PositionError(f"the rules are for {rules.players} players, the position has {len(self.players)}")

    def number(self, what: str, value: Any, least: int, most: int) -> int:
        return whole_number(what, value, least, most, PositionError)

    def seat(self, what: str, value: Any) -> int:
        return self.number(what, value, 0, self.rules.players - 1)

    def take(self, what: str, name: Any) -> int:
        """One copy of the card `name` out of the deck."""
        given, name = name, canonical(name, DISTRICT_INDEX)
        if name is None:
            raise PositionError(f"{what}: there is no district {shown(given)}")
        if self.copies.get(name, 0) == 0:
            raise PositionError(f"{what}: the deck of these rules holds {self.rules.deck.get(name, 0)} {name}, all of them placed already")
        self.copies[name] -= 1
        return DISTRICT_INDEX[name]

    def listed(self, what: str, values: Any, of: str) -> list[Any]:
        return items(what, values, of, PositionError)

    def cards(self, what: str, names: Any) -> list[int]:
        return [self.take(what, name) for name in self.listed(what, names, "districts")]

    def city(self, seat: int) -> list[tuple[int, int]]:
        names = self.listed(f"city of player {seat}", self.players[seat].get("city", []), "districts")
        plain = [name.removesuffix("*") if isinstance(name, str) else name for name in names]
        indices = self.cards(f"city of player {seat}", plain)
        for name in names:
            if name.endswith("*") and "Artist" not in self.rules.roles:
                raise PositionError(f"city of player {seat}: {name} is beautified, but no Artist is among the roles (R-ART-1)")
        return [(index, int(name.endswith("*"))) for index, name in zip(indices, names, strict=True)]

    def rank(self, what: str, name: Any) -> int:
        given, name = name, canonical(name, self.rules.roles)
        if name is None:
            raise PositionError(f"{what}: {shown(given)} is none of the roles {', '.join(self.rules.roles)}")
        return ROLE_INDEX[name] // 2


def set_up(states: Any, rules: Rules, position: dict[str, Any], seed: int) -> None:
    """Lay out `position` in the single record of `states`, whose rules are filled in."""
    lay = _SetUp(rules, position)
    n = rules.players
    chance = np.random.default_rng([seed, 0xC17ADE15])
    crown = lay.seat("crown", position.get("crown", 0))
    round_number = lay.number("round", position.get("round", 1), 1, rules.max_rounds)
    called = lay.number("called", position.get("called", 0), 0, len(rules.roles))
    gold = [lay.number(f"gold of player {seat}", p.get("gold", 2), 0, 10_000) for seat, p in enumerate(lay.players)]
    cities = [lay.city(seat) for seat in range(n)]
    for seat, city in enumerate(cities):
        if len(city) > 20:
            raise PositionError(f"city of player {seat} has {len(city)} districts; no city grows beyond 20")
    hands: list[list[int] | None] = [
        lay.cards(f"hand of player {seat}", p["hand"]) if "hand" in p else None for seat, p in enumerate(lay.players)
    ]
    top = lay.cards("deck_top", position.get("deck_top", []))
    discards = lay.cards("discard", position.get("discard", []))
    if discards and rules.discard_to != "discard_pile":
        raise PositionError("discard: cards go under the deck in these rules; there is no discard pile (D37)")
    rest = [DISTRICT_INDEX[name] for name, copies in lay.copies.items() for _ in range(copies)]
    chance.shuffle(rest)
    museums = [lay.number(f"museum of player {seat}", p.get("museum", 0), 0, 80) for seat, p in enumerate(lay.players)]
    for seat, number in enumerate(museums):
        if number and (cards.MUSEUM, 0) not in cities[seat] and (cards.MUSEUM, 1) not in cities[seat]:
            raise PositionError(f"player {seat} has cards under a Museum that does not stand in the city")
    needed = sum(museums) + sum(4 for hand in hands if hand is None)
    if needed > len(rest):
        raise PositionError(f"{needed} cards are to be dealt, but only {len(rest)} are left in the deck")
    names = {key: lay.rank(key, position[key]) for key in ("murdered", "robbed", "bewitched") if position.get(key) is not None}
    drafted_at, owner, face_down = _draft(lay, crown, chance)
    _check_names(lay, names, owner)
    target = _districts_to_end(lay, cities)
    named = lay.listed("first_completers", position.get("first_completers", []), "seats")
    completers = [lay.seat("first_completers", seat) for seat in named]

    # Nothing can go wrong from here on: write.
    g = states[0]
    batch.prepare(states, np.uint64(seed))
    g["crown"], g["round_number"], g["called"] = crown, round_number, called - 1
    g["draft_first"], g["draft_step"], g["face_down"] = crown, turn.N_STEPS[n], face_down
    for seat in range(n):
        g["gold"][seat] = gold[seat]
        g["city_size"][seat] = len(cities[seat])
        for index, coin in cities[seat]:
            g["city"][seat, index] += 1
            g["coins"][seat, index] += coin
        dealt = hands[seat]
        for index in [rest.pop() for _ in range(4)] if dealt is None else dealt:
            _put(g, seat, index)
        for _ in range(museums[seat]):
            index = rest.pop()
            _put(g, state.MUSEUM_PILE, index)
            g["known"][state.MUSEUM_PILE, index] = min(3, g["hand"][state.MUSEUM_PILE, index]) << 2 * seat
            g["any_known"][state.MUSEUM_PILE] = 1
    for index in discards:
        _put(g, state.DISCARD_PILE, index)
    for height, index in enumerate(rest + top[::-1]):
        g["deck"][height] = index
    g["deck_size"] = len(rest) + len(top)
    murdered = names.get("murdered", -1)
    for rank in range(len(rules.roles)):
        g["drafted_at"][rank], g["owner"][rank] = drafted_at[rank], owner[rank]
        silent = rank == murdered and not g["city"][owner[rank], cards.HOSPITAL]
        g["revealed"][rank] = owner[rank] >= 0 and rank < called and not silent
    _names_in_force(g, rules, names, owner, called)
    g["rank_1_built"] = bool(position.get("tax_due", False))
    g["districts_to_end"] = target
    first = completers or [seat for seat in range(n) if len(cities[seat]) >= target]
    g["ending"] = bool(first)
    g["first_completers"] = sum(1 << seat for seat in set(first))


def _put(g: Any, place: int, index: int) -> None:
    g["hand"][place, index] += 1
    g["hand_size"][place] += 1


def _draft(lay: _SetUp, crown: int, chance: Any) -> tuple[list[int], list[int], int]:
    """A draft that leads to the roles wanted: the step of each rank, its owner, and the rank laid face down."""
    rules, n = lay.rules, lay.rules.players
    each = 2 if n <= 3 else 1
    wanted = [p.get("roles") for p in lay.players]
    if any(w is not None for w in wanted) and any(w is None for w in wanted):
        missing = [seat for seat, w in enumerate(wanted) if w is None]
        raise PositionError(f"roles must be given for all players or for none; they are missing for player {missing[0]}")
    up = [lay.rank("face_up", name) for name in lay.listed("face_up", lay.position.get("face_up", []), "roles")]
    if roles.KING_RANK in up:
        raise PositionError(f"face_up: the {rules.roles[roles.KING_RANK]} never lies face up (S-4)")
    if len(up) > rules.face_up or len(set(up)) != len(up):
        of = f"with {n} players and {len(rules.roles)} roles"
        raise PositionError(f"face_up: {rules.face_up} different roles lie face up {of} (S-3), not {len(up)}")
    free = [rank for rank in range(len(rules.roles)) if rank not in up]
    held: list[list[int]] = [[] for _ in range(n)]
    if wanted[0] is not None:
        for seat, names in enumerate(wanted):
            if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != each:
                raise PositionError(f"player {seat} holds {each} role{'s' if each > 1 else ''} with {n} players, not {shown(names)} (B2)")
            for name in names:
                rank = lay.rank(f"roles of player {seat}", name)
                if rank not in free:
                    raise PositionError(f"roles of player {seat}: the {name} is already face up or held by another player")
                free.remove(rank)
                held[seat].append(rank)
    chance.shuffle(free)
    if wanted[0] is None:
        for seat in range(n):
            for _ in range(each):
                held[seat].append(free.pop())
    while len(up) < rules.face_up:
        rank = next(rank for rank in free if rank != roles.KING_RANK)
        free.remove(rank)
        up.append(rank)
    drafted_at = [state.IN_POOL] * len(rules.roles)
    owner = [-1] * len(rules.roles)
    for rank in up:
        drafted_at[rank] = state.FACE_UP
    face_down = free.pop()
    drafted_at[face_down] = state.FACE_DOWN
    left = [list(ranks) for ranks in held]
    for step in range(int(turn.N_STEPS[n])):
        seat = (crown + int(turn.STEP_SEAT[n, step])) % n
        if turn.STEP_BURIES[n, step]:
            drafted_at[free.pop()] = step
        else:
            rank = left[seat].pop(0)
            drafted_at[rank], owner[rank] = step, seat
    return drafted_at, owner, face_down


def _check_names(lay: _SetUp, names: dict[str, int], owner: list[int]) -> None:
    """Names in force must be possible: by a role in play, of a role that may be named (R9, R10)."""
    role_of = lay.rules.roles
    first, thief = role_of[0], role_of[1]
    for key, by, rank in (("murdered", "Assassin", 0), ("bewitched", "Witch", 0), ("robbed", "Thief", 1)):
        if key not in names:
            continue
        if by not in role_of:
            raise ValueError(f"{key}: nobody can name a role, the {by} is not among the roles")
        if names[key] == rank:
            raise ValueError(f"{key}: the {by} names another role (I2)")
        if key != "murdered" and owner[rank] < 0:
            raise ValueError(f"{key}: nobody holds the {by}")
    robbed = names.get("robbed", -1)
    if robbed == 0 or (robbed >= 0 and robbed in (names.get("murdered"), names.get("bewitched"))):
        raise ValueError(f"robbed: the {thief} may name neither the {first} nor the murdered or bewitched role (R9, R10)")
    if "bewitched" in names and "murdered" in names:
        raise ValueError("murdered and bewitched: Assassin and Witch are never in one game (S-1)")


def _districts_to_end(lay: _SetUp, cities: list[list[tuple[int, int]]]) -> int:
    full = lay.rules.city_size
    target = lay.position.get("end_at", full)
    try:
        target = whole_number("end_at", target, full - 1, full, PositionError)
    except PositionError:
        raise PositionError(f"end_at must be {full - 1} or {full}, not {shown(target)} (D-BELL)") from None
    bell = any(index == cards.BELL_TOWER for city in cities for index, _ in city)
    if target != full and not bell:
        raise PositionError(f"end_at is {target}, but no Bell Tower stands (D-BELL)")
    return int(target)


def _names_in_force(g: Any, rules: Rules, names: dict[str, int], owner: list[int], called: int) -> None:
    for key, rank in names.items():
        g[key] = rank
    if "robbed" in names:
        g["robber"] = owner[1]
    if "bewitched" in names:
        g["witch"] = owner[0]
    murdered, bewitched = names.get("murdered", -1), names.get("bewitched", -1)
    king = roles.KING_RANK
    if murdered == king and called > king and rules.roles[king] == "King":
        g["heir"] = owner[king]
    if called > 1 and rules.roles[1] == "Tax Collector" and murdered != 1 and owner[1] >= 0:
        g["tax_seat"] = owner[0] if bewitched == 1 else owner[1]
