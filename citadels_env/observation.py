"""What a seat sees: one row of small integers, made of named blocks.

Players are rows relative to the observer: row 0 is the observer, row k the seat k places to the left.  The full
form has eight rows whatever the number of players; the compact form has as many as there are players.  Every
value is a count or a flag of the table; nothing depends on a hidden card or role that the seat cannot know.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from . import cards, districts, state, turn
from ._jit import kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS, N_RANKS, N_ROLES
from .state import players
from .vocabulary import Ask, Role, Turn

VERSION = 2  # changes whenever the meaning of an entry does

PLAYER_COLUMNS = (
    "in play", "gold", "cards in hand", "districts", "holds the crown", "drafted first", "answers now", "has the turn",
    "collects taxes", "receives the robbed gold", "waits as the Witch", "completed first", "city complete", "cards under the Museum",
)  # fmt: skip
TURN_COLUMNS = (
    "action taken", "income taken", "power used", "only `end turn` left", "districts that may be built", "has built",
    "gold the Alchemist gets back", "districts beautified", "Laboratory used", "Smithy used", "Museum used",
)  # fmt: skip
GAME_COLUMNS = (
    "round", "players", "roles", "cards in the deck", "cards in the discard pile", "districts that end the game",
    "somebody has completed a city", "rank 1 has built this round", "turn: the Witch's first half", "turn: bewitched",
    "turn: Hospital", "turn: the Witch resumed",
)  # fmt: skip
RULE_COLUMNS = (*state.OPTIONS, "smithy cost", "smithy cards", "Observatory", "Imperial Treasury", "Factory", "Poor House")
COST_COLUMNS = np.array([cards.OBSERVATORY, cards.IMPERIAL_TREASURY, cards.FACTORY, cards.POOR_HOUSE], np.int64)


class Block(NamedTuple):
    """A named piece of the observation."""

    name: str
    shape: tuple[int, ...]
    high: int  # largest value, larger ones are cut off
    text: str

    @property
    def size(self) -> int:
        """Entries of the block."""
        return math.prod(self.shape)


@cache
def blocks(rows: int = MAX_PLAYERS) -> tuple[Block, ...]:
    """The blocks in order, for `rows` player rows (8: full form; the number of players: compact form)."""
    return (
        Block("role_set", (N_ROLES,), 1, "the roles of the game"),
        Block("deck_list", (N_DISTRICTS,), 9, "copies of each district in the game"),
        Block("options", (len(RULE_COLUMNS),), 60, "options of the rules (words as their number), costs: " + ", ".join(RULE_COLUMNS)),
        Block("question", (len(Ask),), 1, "one-hot: the question, if the observer must answer it"),
        Block("subject", (N_DISTRICTS,), 1, "one-hot: the district that question is about (Graveyard, Wizard's build, Diplomat's offer)"),
        Block("shown", (N_DISTRICTS,), 9, "cards shown to the observer by that question: drawn, in the hand looked at, in the deck"),
        Block("turn", (len(TURN_COLUMNS),), 60, "this turn: " + ", ".join(TURN_COLUMNS)),
        Block("game", (len(GAME_COLUMNS),), 255, ", ".join(GAME_COLUMNS)),
        Block("called", (N_RANKS,), 1, "one-hot: the rank that is called; none in the draft"),
        Block("face_up", (N_RANKS,), 1, "ranks lying face up this round"),
        Block("murdered", (N_RANKS,), 1, "one-hot: the rank named by the Assassin"),
        Block("robbed", (N_RANKS,), 1, "one-hot: the rank named by the Thief"),
        Block("bewitched", (N_RANKS,), 1, "one-hot: the rank named by the Witch"),
        Block("roles", (N_RANKS,), 1, "ranks the observer holds"),
        Block("offered", (2, N_RANKS), 1, "ranks the observer could choose from at its first and second visit of the draft"),
        Block("passed", (2, N_RANKS), 1, "ranks the observer passed on after each visit"),
        Block("buried", (N_RANKS,), 1, "ranks the observer buried (two players)"),
        Block("hand", (N_DISTRICTS,), 9, "cards in the observer's hand"),
        Block("museum", (N_DISTRICTS,), 3, "cards the observer knows under the Museum"),
        Block("players", (rows, len(PLAYER_COLUMNS)), 255, "one row per player: " + ", ".join(PLAYER_COLUMNS)),
        Block("revealed", (rows, N_RANKS), 1, "ranks each player has revealed this round"),
        Block("city", (rows, N_DISTRICTS), 9, "districts in each city, beautified ones included"),
        Block("beautified", (rows, N_DISTRICTS), 9, "beautified districts in each city"),
        Block("known", (rows - 1, N_DISTRICTS), 3, "cards the observer is sure of in the hand of each other player"),
    )


@cache
def size(rows: int = MAX_PLAYERS) -> int:
    """Entries of an observation with `rows` player rows."""
    return sum(block.size for block in blocks(rows))


@cache
def offsets(rows: int = MAX_PLAYERS) -> dict[str, int]:
    """Where each block begins."""
    at, result = 0, {}
    for block in blocks(rows):
        result[block.name] = at
        at += block.size
    return result


def rows_of(observation: Any) -> int:
    """The number of player rows of an observation array (its last axis)."""
    for rows in range(2, MAX_PLAYERS + 1):
        if size(rows) == observation.shape[-1]:
            return rows
    raise ValueError(f"an observation has {', '.join(str(size(rows)) for rows in range(2, 9))} entries, not {observation.shape[-1]}")


def view(observation: Any, name: str) -> Any:
    """The block `name` of an observation (or of an array of them) as a view in the block's shape.

    Raises ValueError for an unknown block or an array of another size.
    """
    rows = rows_of(observation)
    for block in blocks(rows):
        if block.name == name:
            at = offsets(rows)[name]
            return observation[..., at : at + block.size].reshape(*observation.shape[:-1], *block.shape)
    raise ValueError(f"there is no block {name!r}; the blocks are {', '.join(block.name for block in blocks())}")


def high(rows: int = MAX_PLAYERS) -> Any:
    """The largest value of every entry, uint8 array of `size(rows)`: dividing by it scales an observation to [0, 1]."""
    return np.concatenate([np.full(block.size, block.high, np.uint8) for block in blocks(rows)])


def table() -> str:
    """The observation as a Markdown table (this is docs/observation.md)."""
    lines = ["| block | first entry | shape | largest | meaning |", "|---|---:|---|---:|---|"]
    at = offsets()
    for block in blocks():
        shape = " x ".join(map(str, block.shape))
        lines.append(f"| `{block.name}` | {at[block.name]} | {shape} | {block.high} | {block.text} |")
    return "\n".join(lines) + "\n"


# --- writing it ---------------------------------------------------------------

(_ROLE_SET, _DECK_LIST, _OPTIONS, _QUESTION, _SUBJECT, _SHOWN, _TURN, _GAME, _CALLED, _FACE_UP, _MURDERED, _ROBBED, _BEWITCHED,
 _ROLES, _OFFERED, _PASSED, _BURIED, _HAND, _MUSEUM, _PLAYERS, *_) = offsets().values()  # fmt: skip
_N_PLAYER_COLUMNS = len(PLAYER_COLUMNS)


def template(rules: Any, rows: int = MAX_PLAYERS) -> Any:
    """The entries that never change in games of a RULES record, the others zero: uint8 array of `size(rows)`."""
    result = np.zeros(size(rows), np.uint8)
    for role in rules["role"]:
        if role >= 0:
            view(result, "role_set")[role] = 1
    view(result, "deck_list")[:] = rules["copies"]
    values = [int(rules[name]) for name in (*state.OPTIONS, "smithy_cost", "smithy_cards")]
    most = next(block.high for block in blocks(rows) if block.name == "options")
    view(result, "options")[:] = np.minimum(values + [int(rules["cost"][card]) for card in COST_COLUMNS], most)
    view(result, "game")[1:3] = rules["n_players"], rules["n_roles"]
    view(result, "players")[: rules["n_players"], 0] = 1
    return result


@kernel
def write(g, seat, rows, width, templates, out):
    """Write what `seat` sees into `out` (uint8 array of size(rows)).

    `templates` has a row of `template` for every set of rules; `width` is N_DISTRICTS, given at run time, since
    copies of a length known to the compiler are unrolled into slow scalar code.  Cards are written into slices from 0 on,
    because Numba's check for negative indices keeps other loops from being vectorised.
    """
    fixed = templates[g.rules.template]
    for index in range(fixed.size):
        out[index] = fixed[index]
    write_question(g, seat, width, out)
    write_game(g, seat, out)
    write_draft(g, seat, out)
    hand = out[_HAND : _HAND + width]
    for card in range(width):
        hand[card] = g.hand[seat, card]
    if g.any_known[state.MUSEUM_PILE]:
        for card in range(width):
            out[_MUSEUM + card] = np.int64(g.known[state.MUSEUM_PILE, card]) >> 2 * seat & 3
    revealed = _PLAYERS + rows * _N_PLAYER_COLUMNS
    city = revealed + rows * N_RANKS
    coins = city + rows * width
    known = coins + rows * width
    n = players(g)
    for rank in range(min(np.int64(g.called) + 1, np.int64(g.rules.n_roles))):  # after the last turn all have been called
        if g.revealed[rank]:
            out[revealed + state.distance(g, seat, np.int64(g.owner[rank])) * N_RANKS + rank] = 1
    artist = g.rules.role[N_RANKS - 1] == Role.ARTIST
    other = seat
    for row in range(n):
        write_player(g, other, out, _PLAYERS + row * _N_PLAYER_COLUMNS)
        cells = out[city + row * width : city + row * width + width]
        for card in range(width):
            cells[card] = g.city[other, card]
        if artist:
            cells = out[coins + row * width : coins + row * width + width]
            for card in range(width):
                cells[card] = g.coins[other, card]
        if row > 0 and g.any_known[other]:
            cells = out[known + (row - 1) * width : known + row * width]
            for card in range(width):
                cells[card] = np.int64(g.known[other, card]) >> 2 * seat & 3
        other = other + 1 if other + 1 < n else 0
    write_marks(g, seat, n, out)


@kernel
def write_marks(g, seat, n, out):
    """Marks of single players: crown, first to draft, to answer, turn, taxes, robbery, Witch, first to complete."""
    out[row_at(seat, n, np.int64(g.crown)) + 4] = 1
    out[row_at(seat, n, np.int64(g.draft_first)) + 5] = 1
    if not g.over:
        out[row_at(seat, n, np.int64(g.actor[g.depth - 1])) + 6] = 1
        if g.turn_role >= 0:
            out[row_at(seat, n, np.int64(g.turn_seat)) + 7] = 1
    if g.tax_seat >= 0:
        out[row_at(seat, n, np.int64(g.tax_seat)) + 8] = 1
    if g.robber >= 0:
        out[row_at(seat, n, np.int64(g.robber)) + 9] = 1
    if g.witch >= 0:
        out[row_at(seat, n, np.int64(g.witch)) + 10] = 1
    if g.first_completers:
        for other in range(n):
            out[row_at(seat, n, other) + 11] = np.int64(g.first_completers) >> other & 1


@kernel
def row_at(seat, n, other):
    """Where the row of `other` in the block `players` begins."""
    return _PLAYERS + (other - seat if other >= seat else other - seat + n) * _N_PLAYER_COLUMNS


@kernel
def write_question(g, seat, width, out):
    """The open question, if it is the seat's to answer, and the cards it shows."""
    if g.over or g.actor[g.depth - 1] != seat:
        return
    asked, arg = np.int64(g.ask[g.depth - 1]), np.int64(g.arg[g.depth - 1])
    out[_QUESTION + asked] = 1
    if asked == Ask.KEEP:
        for i in range(np.int64(g.n_drawn)):
            out[_SHOWN + np.int64(g.drawn[i])] += 1
    elif asked == Ask.GRAVEYARD or asked == Ask.WIZARD_BUILD:
        out[_SUBJECT + arg] = 1
    elif asked == Ask.EXCHANGE:
        out[_SUBJECT + (arg >> 1)] = 1
    elif asked == Ask.WIZARD_TAKE:
        for card in range(width):
            out[_SHOWN + card] = g.hand[arg, card]
    elif asked == Ask.LIGHTHOUSE:
        for height in range(np.int64(g.deck_size)):
            out[_SHOWN + np.int64(g.deck[state.place_in_deck(g, height)])] += 1


@kernel
def write_game(g, seat, out):
    """Turn, round, names, and the seat's own roles."""
    if g.called >= 0 and not g.over:
        out[_TURN] = g.acted
        out[_TURN + 1] = g.income_taken
        out[_TURN + 2] = g.power_used
        out[_TURN + 3] = g.closing
        out[_TURN + 4] = g.builds
        out[_TURN + 5] = g.built
        out[_TURN + 6] = g.spent
        out[_TURN + 7] = g.beautified
        out[_TURN + 8] = g.used_laboratory
        out[_TURN + 9] = g.used_smithy
        out[_TURN + 10] = g.used_museum
        out[_CALLED + np.int64(g.called)] = 1
        if g.turn_kind != Turn.NORMAL:
            out[_GAME + 7 + np.int64(g.turn_kind)] = 1
    out[_GAME] = min(255, np.int64(g.round_number))
    out[_GAME + 3] = g.deck_size
    out[_GAME + 4] = g.hand_size[state.DISCARD_PILE]
    out[_GAME + 5] = g.districts_to_end
    out[_GAME + 6] = g.ending
    out[_GAME + 7] = g.rank_1_built
    for rank in range(np.int64(g.rules.n_roles)):
        out[_ROLES + rank] = g.owner[rank] == seat
        out[_FACE_UP + rank] = g.drafted_at[rank] == state.FACE_UP
    if g.murdered >= 0:
        out[_MURDERED + np.int64(g.murdered)] = 1
    if g.robbed >= 0:
        out[_ROBBED + np.int64(g.robbed)] = 1
    if g.bewitched >= 0:
        out[_BEWITCHED + np.int64(g.bewitched)] = 1


@kernel
def write_draft(g, seat, out):
    """What the seat was offered, passed on and buried at its visits of the draft."""
    n_players, now = players(g), np.int64(g.draft_step)
    place = state.distance(g, np.int64(g.draft_first), seat)
    for visit in range(turn.N_VISITS[n_players]):
        step = turn.VISIT[n_players, place, visit]
        if step > now:
            break
        pool = turn.offered(g, step)
        write_set(pool, out, _OFFERED + visit * N_RANKS)
        buries = turn.VISIT_BURIES[n_players, place, visit]
        if now > step + buries:
            for rank in range(np.int64(g.rules.n_roles)):
                if g.drafted_at[rank] == step:
                    pool &= ~(1 << rank)
                elif buries and g.drafted_at[rank] == step + 1:
                    pool &= ~(1 << rank)
                    out[_BURIED + rank] = 1
            write_set(pool, out, _PASSED + visit * N_RANKS)


@kernel
def write_set(ranks, out, at):
    for rank in range(N_RANKS):
        out[at + rank] = ranks >> rank & 1


@kernel
def write_player(g, other, out, at):
    """The public figures of one player."""
    out[at + 1] = min(255, np.int64(g.gold[other]))
    out[at + 2] = g.hand_size[other]
    out[at + 3] = g.city_size[other]
    out[at + 12] = districts.complete(g, other)
    if districts.has(g, other, cards.MUSEUM):
        out[at + 13] = g.hand_size[state.MUSEUM_PILE]
