"""Any situation from a plain dictionary: play stands just before the next rank is called.

Keys, all optional but `players`:

    crown, round          seat (0) and number (1)
    drafted_first         seat that drafted first in this round, where the crown has moved since (the crown's holder)
    players               one dictionary per seat: gold (2), hand (4 cards from the deck), city, roles, museum (a number
                          of cards from the deck); a beautified district is written with a star, "Manor*"
    deck_top, discard     cards that are drawn first, in this order; cards in the discard pile
    face_up               roles lying face up
    called                ranks already called (0); the roles of these ranks are revealed, a murdered one is not
    murdered, robbed, bewitched   roles named this round; whoever names one holds his role, was called and had his turn
    murdered_revealed     the murdered role showed itself when called; if not said: a Hospital stands in its player's city
    silenced              roles that lost their turn for not thanking the crown (Ballroom); a King is crowned as the round ends
    first_completers      seats that completed their cities first; without it all whose city is complete
    end_at                districts that end the game, where a standing Bell Tower has been set to fewer
    tax_due               the rank-1 player has built this round (for the Tax Collector), false
    haunted_city_this_round   the Haunted City was built in this round (for haunted_city_not_in_last_round), false

Everything else is dealt from the seed.  Where no roles are given, they are dealt so that what is said can be.  A name that a rule
demands (witch_must_name) may be left out: nobody has been named then.  A robbery that a bewitched Thief named pays the Witch (R-WITCH-3).
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
    "first_completers", "end_at", "tax_due", "drafted_first", "murdered_revealed", "silenced", "haunted_city_this_round",
)  # fmt: skip
PLAYER_KEYS = ("gold", "hand", "city", "roles", "museum")
NAMERS = {"murdered": "Assassin", "bewitched": "Witch", "robbed": "Thief"}


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

    def flag(self, key: str) -> bool:
        value = self.position.get(key, False)
        if not isinstance(value, bool | np.bool_):
            raise PositionError(f"{key} must be True or False, not {shown(value)}")
        return bool(value)

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
    first_seat = lay.seat("drafted_first", position.get("drafted_first", crown))
    names = {key: lay.rank(key, position[key]) for key in NAMERS if position.get(key) is not None}
    silenced = {lay.rank("silenced", name) for name in lay.listed("silenced", position.get("silenced", []), "roles")}
    so_far = _Round(rules, called, crown, first_seat, names, silenced, lay.flag("tax_due"), position.get("murdered_revealed"))
    drafted_at, owner, face_down = _draft(lay, so_far, chance)
    so_far.check(owner, cities)
    haunted = lay.flag("haunted_city_this_round")
    if haunted and (called == 0 or not any(index == cards.HAUNTED_CITY for city in cities for index, _ in city)):
        raise PositionError(
            f"haunted_city_this_round is {shown(position['haunted_city_this_round'])}, but no Haunted City stands, or nobody has been "
            "called that could have built it (D-HAUNTED)"
        )
    target = _districts_to_end(lay, cities)
    named = lay.listed("first_completers", position.get("first_completers", []), "seats")
    completers = [lay.seat("first_completers", seat) for seat in named]

    # Nothing can go wrong from here on: write.
    g = states[0]
    batch.prepare(states, np.uint64(seed))
    g["crown"], g["round_number"], g["called"] = crown, round_number, called - 1
    g["draft_first"], g["draft_step"], g["face_down"] = first_seat, turn.N_STEPS[n], face_down
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
        g["revealed"][rank] = owner[rank] >= 0 and rank < called and (rank != murdered or so_far.murdered_revealed)
    _names_in_force(g, so_far, owner)
    g["rank_1_built"] = so_far.tax_due
    g["haunted_round"] = round_number if haunted else 0
    g["districts_to_end"] = target
    first = completers or [seat for seat in range(n) if len(cities[seat]) >= target]
    g["ending"] = bool(first)
    g["first_completers"] = sum(1 << seat for seat in set(first))


def _put(g: Any, place: int, index: int) -> None:
    g["hand"][place, index] += 1
    g["hand_size"][place] += 1


def _draft(lay: _SetUp, so_far: "_Round", chance: Any) -> tuple[list[int], list[int], int]:
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
        for rank, seats in so_far.holders().items():
            room = [seat for seat in seats if len(held[seat]) < each]
            if rank in free and room:
                free.remove(rank)
                held[room[int(chance.integers(len(room)))]].append(rank)
        for seat in range(n):
            while len(held[seat]) < each:
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
        seat = (so_far.drafted_first + int(turn.STEP_SEAT[n, step])) % n
        if turn.STEP_BURIES[n, step]:
            drafted_at[free.pop()] = step
        else:
            rank = left[seat].pop(0)
            drafted_at[rank], owner[rank] = step, seat
    return drafted_at, owner, face_down


class _Round:
    """What has happened in the round so far: who must have been there, and whether it can have been."""

    def __init__(
        self,
        rules: Rules,
        called: int,
        crown: int,
        drafted_first: int,
        names: dict[str, int],
        silenced: set[int],
        tax_due: bool,
        murdered_revealed: Any,
    ) -> None:
        self.rules, self.called, self.crown, self.drafted_first = rules, called, crown, drafted_first
        self.names, self.silenced, self.tax_due = names, silenced, tax_due
        self.murdered, self.bewitched = names.get("murdered", -1), names.get("bewitched", -1)
        if murdered_revealed is not None and not isinstance(murdered_revealed, bool | np.bool_):
            raise PositionError(f"murdered_revealed must be True or False, not {shown(murdered_revealed)}")
        self.said_revealed = murdered_revealed  # True, False, or None: not said
        self.murdered_revealed = bool(murdered_revealed)

    def name(self, rank: int) -> str:
        return self.rules.roles[rank]

    def crown_before(self, rank: int) -> int:
        """Who held the crown when a rank was called: rank 4 moves it, if it does."""
        return self.drafted_first if rank <= roles.KING_RANK else self.crown

    def holders(self) -> dict[int, list[int]]:
        """Ranks that somebody must hold, and who may."""
        everybody = range(self.rules.players)
        must: dict[int, list[int]] = {ROLE_INDEX[NAMERS[key]] // 2: list(everybody) for key in self.names}
        if self.tax_due:
            must[0] = list(everybody)
        if self.murdered_revealed and self.murdered >= 0:
            must[self.murdered] = list(everybody)
        if self.crown != self.drafted_first:
            king = self.name(roles.KING_RANK) == "King"
            must[roles.KING_RANK] = [seat for seat in everybody if (seat == self.crown) == king]
        for rank in self.silenced:
            must[rank] = [seat for seat in must.get(rank, everybody) if seat != self.crown_before(rank)]
        return must

    def check(self, owner: list[int], cities: list[list[tuple[int, int]]]) -> None:
        """Raises PositionError, naming the rule, for what cannot have happened; `owner` is the holder of each rank or -1."""
        for key, rank in self.names.items():
            self.check_name(key, rank)
        for key in self.names:
            self.check_turn(key, ROLE_INDEX[NAMERS[key]] // 2, owner)
        if self.tax_due:
            self.check_turn("tax_due", 0, owner)
            if self.name(0) == "Witch" and ("bewitched" in self.names or self.rules.witch_must_name):
                raise PositionError("tax_due: a Witch who names a role has built nothing before (R42)")
        if self.said_revealed is None:
            holder = owner[self.murdered] if self.murdered >= 0 else -1
            self.murdered_revealed = holder >= 0 and any(index == cards.HOSPITAL for index, _ in cities[holder])
        elif self.said_revealed and not (0 <= self.murdered < self.called and owner[self.murdered] >= 0 and "Hospital" in self.rules.deck):
            raise PositionError(
                f"murdered_revealed is {shown(self.said_revealed)}, but only a murdered role that was called and held by the owner of a "
                "Hospital shows itself (I11)"
            )
        for rank in sorted(self.silenced):
            self.check_silence(rank, owner)
        if self.crown != self.drafted_first:
            self.check_crown(owner)

    def check_name(self, key: str, named: int) -> None:
        """Is this a role that may be named by the one who names?"""
        by = NAMERS[key]
        if by not in self.rules.roles:
            raise PositionError(f"{key}: nobody can name a role, the {by} is not among the roles")
        if self.name(named) == by:
            raise PositionError(f"{key}: the {by} names another role (I2)")
        if key == "robbed" and named in (0, self.murdered, self.bewitched):
            raise PositionError(f"robbed: the Thief may name neither the {self.name(0)} nor the murdered or bewitched role (R9, R10)")

    def check_turn(self, key: str, rank: int, owner: list[int]) -> None:
        """Has the player of a rank had a turn in which a role can be named or a district built?"""
        name = self.name(rank)
        if owner[rank] < 0:
            raise PositionError(f"{key}: nobody holds the {name} in this round (B-CALL)")
        if self.called <= rank:
            raise PositionError(f"{key}: the {name} has not been called yet; called is {self.called} (B-CALL)")
        if rank == self.murdered:
            raise PositionError(f"{key}: the {name} was murdered and has no turn (R-ASSASSIN)")
        if rank in self.silenced:
            raise PositionError(f"{key}: the {name} was silenced and has no turn (X-14)")

    def check_silence(self, rank: int, owner: list[int]) -> None:
        """Can a role have lost its turn to the Ballroom?"""
        name = self.name(rank)
        if "Ballroom" not in self.rules.deck or self.rules.ballroom == "auto":
            raise PositionError(f"silenced: in these rules nobody loses a turn to the Ballroom, the {name} did not either (D-BALL, X-4)")
        if owner[rank] < 0 or self.called <= rank:
            raise PositionError(f"silenced: the {name} has not been called, or nobody holds it in this round (B-CALL)")
        if rank == self.bewitched:
            raise PositionError(f"silenced: the bewitched {name} need not thank (X-14)")
        if rank == self.murdered and not self.murdered_revealed:
            raise PositionError(f"silenced: the murdered {name} did not show itself and was not asked (R131)")
        if owner[rank] == self.crown_before(rank):
            raise PositionError(f"silenced: player {owner[rank]} held the crown and need not thank for the {name} (X-14)")

    def check_crown(self, owner: list[int]) -> None:
        """Can the crown have moved in this round?"""
        rank = roles.KING_RANK
        name, mover = self.name(rank), owner[rank]
        if name == "Emperor" and rank == self.bewitched and self.rules.bewitched_emperor_crown == "witch":
            mover = owner[0]
        turn_lost = rank in (self.murdered, *self.silenced)
        if self.called <= rank or owner[rank] < 0 or turn_lost or (self.crown == mover) != (name == "King"):
            went = "King takes it for his player" if name == "King" else "Emperor gives it to another player"
            raise PositionError(
                f"drafted_first is {self.drafted_first}, but player {self.crown} has the crown: it moves when the {went} (B-CROWN, R-EMP-2)"
            )


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


def _names_in_force(g: Any, so_far: _Round, owner: list[int]) -> None:
    rules, called, king = so_far.rules, so_far.called, roles.KING_RANK
    for key, rank in so_far.names.items():
        g[key] = rank
    if "bewitched" in so_far.names:
        g["witch"] = owner[0]
    if "robbed" in so_far.names:
        g["robber"] = owner[0] if so_far.bewitched == roles.THIEF_RANK else owner[roles.THIEF_RANK]
    if rules.roles[king] == "King" and called > king and king in (so_far.murdered, *so_far.silenced):
        g["heir"] = owner[king]
    if rules.roles[1] == "Tax Collector" and called > 1 and so_far.murdered != 1 and owner[1] >= 0:
        g["tax_seat"] = owner[0] if so_far.bewitched == 1 else owner[1]
