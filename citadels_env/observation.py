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
from .cards import DISTRICTS, N_DISTRICTS, N_RANKS, N_ROLES, ROLES
from .checks import whole_number
from .errors import InvalidArgumentError
from .rules import Rules
from .state import players
from .vocabulary import ASKED, Ask, Role, Turn

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
DISTRICT_NAMES = tuple(row.name for row in DISTRICTS)
ROLE_NAMES = tuple(row.name for row in ROLES)
RANK_NAMES = tuple(f"rank {rank + 1}" for rank in range(N_RANKS))
QUESTIONS = tuple(ask.name for ask in Ask)
VISITS = ("first visit", "second visit")
# Columns that are 1 or 0 for yes and no; the others are numbers.
FLAGS = frozenset((
    "in play", "holds the crown", "drafted first", "answers now", "has the turn", "collects taxes", "receives the robbed gold",
    "waits as the Witch", "completed first", "city complete", "action taken", "income taken", "power used", "only `end turn` left",
    "has built", "Laboratory used", "Smithy used", "Museum used", "somebody has completed a city", "rank 1 has built this round",
    *GAME_COLUMNS[-4:], *(name for name in state.OPTIONS if isinstance(Rules.__dataclass_fields__[name].default, bool)),
))  # fmt: skip


class Block(NamedTuple):
    """A named piece of the observation."""

    name: str
    shape: tuple[int, ...]
    high: int  # largest value, larger ones are cut off
    text: str
    columns: tuple[str, ...]  # what the last axis counts
    lines: tuple[str, ...] = ()  # what the first axis counts, where there are two

    @property
    def size(self) -> int:
        """Entries of the block."""
        return math.prod(self.shape)


@cache
def blocks(rows: int = MAX_PLAYERS) -> tuple[Block, ...]:
    """The blocks in order, for `rows` player rows (8: full form; the number of players: compact form)."""
    everybody = tuple(f"player {row}" for row in range(rows))
    return (
        Block("role_set", (N_ROLES,), 1, "the roles of the game", ROLE_NAMES),
        Block("deck_list", (N_DISTRICTS,), 9, "copies of each district in the game", DISTRICT_NAMES),
        Block("options", (len(RULE_COLUMNS),), 60, "options of the rules (words as their number), costs", RULE_COLUMNS),
        Block("question", (len(Ask),), 1, "one-hot: the question, if the observer must answer it", QUESTIONS),
        Block(
            "subject",
            (N_DISTRICTS,),
            1,
            "one-hot: the district that question is about (Graveyard, Wizard's build, Diplomat's offer)",
            DISTRICT_NAMES,
        ),
        Block(
            "shown",
            (N_DISTRICTS,),
            9,
            "cards shown to the observer by that question: drawn, in the hand looked at, in the deck",
            DISTRICT_NAMES,
        ),
        Block("turn", (len(TURN_COLUMNS),), 60, "this turn", TURN_COLUMNS),
        Block("game", (len(GAME_COLUMNS),), 255, "figures of the game", GAME_COLUMNS),
        Block("called", (N_RANKS,), 1, "one-hot: the rank that is called; none in the draft", RANK_NAMES),
        Block("face_up", (N_RANKS,), 1, "ranks lying face up this round", RANK_NAMES),
        Block("murdered", (N_RANKS,), 1, "one-hot: the rank named by the Assassin", RANK_NAMES),
        Block("robbed", (N_RANKS,), 1, "one-hot: the rank named by the Thief", RANK_NAMES),
        Block("bewitched", (N_RANKS,), 1, "one-hot: the rank named by the Witch", RANK_NAMES),
        Block("roles", (N_RANKS,), 1, "ranks the observer holds", RANK_NAMES),
        Block(
            "offered",
            (2, N_RANKS),
            1,
            "ranks the observer could choose from at its first and second visit of the draft",
            RANK_NAMES,
            VISITS,
        ),
        Block("passed", (2, N_RANKS), 1, "ranks the observer passed on after each visit", RANK_NAMES, VISITS),
        Block("buried", (N_RANKS,), 1, "ranks the observer buried (two players)", RANK_NAMES),
        Block("hand", (N_DISTRICTS,), 9, "cards in the observer's hand", DISTRICT_NAMES),
        Block("museum", (N_DISTRICTS,), 3, "cards the observer knows under the Museum", DISTRICT_NAMES),
        Block("players", (rows, len(PLAYER_COLUMNS)), 255, "figures of each player", PLAYER_COLUMNS, everybody),
        Block("revealed", (rows, N_RANKS), 1, "ranks each player has revealed this round", RANK_NAMES, everybody),
        Block("city", (rows, N_DISTRICTS), 9, "districts in each city, beautified ones included", DISTRICT_NAMES, everybody),
        Block("beautified", (rows, N_DISTRICTS), 9, "beautified districts in each city", DISTRICT_NAMES, everybody),
        Block(
            "known",
            (rows - 1, N_DISTRICTS),
            3,
            "cards the observer is sure of in the hand of each other player",
            DISTRICT_NAMES,
            everybody[1:],
        ),
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


# --- reading it ---------------------------------------------------------------


def names(rows: int = MAX_PLAYERS) -> tuple[str, ...]:
    """The name of every entry, ``size(rows)`` different texts: "hand.Palace", "city.player 3.Palace", "options.city_size".

    rows: player rows, 8 (full form) or the number of players (compact form); an entry has one name in both.
    Raises InvalidArgumentError for another number of rows.
    """
    return _names(whole_number("rows", rows, 2, MAX_PLAYERS))


@cache
def _names(rows: int) -> tuple[str, ...]:
    return tuple(
        f"{block.name}.{line}{column}"
        for block in blocks(rows)
        for line in ([f"{line}." for line in block.lines] or [""])
        for column in block.columns
    )


def describe(row: Any) -> dict[str, Any]:
    """One observation in words: the blocks by their names, in nested dictionaries.

    row: (size,) array of whole numbers, full or compact form.

    Cards are dictionaries of counts by name ("hand": {"Palace": 1}), ranks are the names of their roles in this game, a one-hot
    block is the one name or None, and options have the values of `Rules`.  "players" is a list with one dictionary per player
    of the game, the observer first and then to the left: its figures, and its entries of the blocks with a row per player.
    Numbers are cut off where the block's `high` says so: `max_rounds` reads 60 for 60 and more.

    Raises InvalidArgumentError for anything but one row of a size that an observation has, and for values that none holds.
    """
    seen = row if isinstance(row, np.ndarray) else np.zeros(0)
    sizes = {size(rows): rows for rows in range(2, MAX_PLAYERS + 1)}
    if seen.ndim != 1 or len(seen) not in sizes or seen.dtype.kind not in "iu":
        shown = f"{seen.dtype} of shape {seen.shape}" if isinstance(row, np.ndarray) else type(row).__name__
        raise InvalidArgumentError(f"an observation is one array of {', '.join(map(str, sizes))} whole numbers, not {shown}")
    rows = sizes[len(seen)]
    if ((seen < 0) | (seen > high(rows))).any():
        at = int(np.argmax((seen < 0) | (seen > high(rows))))
        raise InvalidArgumentError(f"{names(rows)[at]} is {seen[at]}, but at most {high(rows)[at]} in an observation")
    role_set = np.flatnonzero(view(seen, "role_set"))
    held_by = {RANK_NAMES[role // 2]: ROLE_NAMES[role] for role in role_set}
    result: dict[str, Any] = {}
    of_players: dict[str, list[Any]] = {}
    for block in blocks(rows):
        part = view(seen, block.name)
        if len(block.lines) in (rows, rows - 1) and block.lines[0].startswith("player"):
            of_players[block.name] = [_read(block, line, held_by) for line in part]
        elif block.lines:
            result[block.name] = {name: _read(block, line, held_by) for name, line in zip(block.lines, part, strict=True)}
        else:
            result[block.name] = _read(block, part, held_by)
    number = result["game"]["players"]
    if not 2 <= number <= rows:
        raise InvalidArgumentError(f"game.players is {number}, but this observation has room for 2 to {rows}")
    result["players"] = [
        {
            **of_players["players"][k],
            **{name: lines[k] for name, lines in of_players.items() if len(lines) == rows and name != "players"},
            **({"known": of_players["known"][k - 1]} if k else {}),
        }
        for k in range(number)
    ]
    return result


def _read(block: Block, values: Any, held_by: dict[str, str]) -> Any:
    """One line of a block in words."""
    if block.columns == RANK_NAMES:
        named = [held_by.get(rank, rank) for rank in block.columns]
    else:
        named = list(block.columns)
    if block.name == "options":
        return {name: option_value(name, int(value)) for name, value in zip(named, values, strict=True)}
    if block.name in ("turn", "game", "players"):
        return {name: bool(value) if name in FLAGS else int(value) for name, value in zip(named, values, strict=True)}
    there = [(name, int(value)) for name, value in zip(named, values, strict=True) if value]
    if block.text.startswith("one-hot"):
        if len(there) > 1:
            raise InvalidArgumentError(f"{block.name} is {' and '.join(name for name, _ in there)} at once; an observation has one at most")
        return there[0][0] if there else None
    return dict(there) if block.columns == DISTRICT_NAMES else [name for name, _ in there]


def option_words(name: str) -> tuple[str, ...]:
    """What the numbers 0, 1, ... of a column of `options` mean, where its values are words; otherwise empty."""
    option = Rules.__dataclass_fields__.get(name)
    return tuple(option.metadata["values"]) if option is not None and isinstance(option.default, str) else ()


def option_value(name: str, value: int) -> Any:
    """The value of an option in `Rules` that a number in the block `options` stands for."""
    words = option_words(name)
    if words or name in FLAGS:
        allowed = words or (False, True)
        if value >= len(allowed):
            raise InvalidArgumentError(f"options.{name} is {value}, but at most {len(allowed) - 1} in an observation")
        return allowed[value]
    return value


# --- the page -----------------------------------------------------------------


def table() -> str:
    """The blocks as a Markdown table."""
    lines = ["| block | first entry | shape | largest | meaning | last axis |", "|---|---:|---|---:|---|---|"]
    at = offsets()
    for block in blocks():
        shape = " x ".join(map(str, block.shape))
        lines.append(f"| `{block.name}` | {at[block.name]} | {shape} | {block.high} | {block.text} | {_AXES[block.columns]} |")
    return "\n".join(lines) + "\n"


_AXES = {
    ROLE_NAMES: "[roles](#roles)",
    RANK_NAMES: "[ranks](#roles)",
    DISTRICT_NAMES: "[districts](#districts)",
    QUESTIONS: "[questions](#questions)",
    RULE_COLUMNS: "[options](#options)",
    TURN_COLUMNS: "[turn](#turn)",
    GAME_COLUMNS: "[game](#game)",
    PLAYER_COLUMNS: "[players](#players)",
}


def orders() -> str:
    """What the axes of the blocks count, as Markdown sections: roles, districts, questions, options, and the figures."""
    parts = []
    rows: list[tuple[Any, ...]] = [(k, row.name, row.rank - 1) for k, row in enumerate(ROLES)]
    note = "On an axis of ranks, entry k is rank k + 1: whichever of its two roles is in the game."
    parts.append(f"## Roles\n\n{note}\n\n" + _table(("entry", "role", "entry on an axis of ranks"), rows))
    rows = [(k, row.name, row.colour.name.lower()) for k, row in enumerate(DISTRICTS)]
    parts.append("## Districts\n\n" + _table(("entry", "district", "colour"), rows))
    rows = [(ask.value, f"`{ask.name}`", ASKED[ask]) for ask in Ask]
    parts.append("## Questions\n\n" + _table(("entry", "question", "what is asked"), rows))
    rows = []
    for k, name in enumerate(RULE_COLUMNS):
        words = option_words(name)
        if words:
            values = ", ".join(f"{number} {word}" for number, word in enumerate(words))
        elif name in FLAGS:
            values = "0 no, 1 yes"
        else:
            values = "the number"
        option = Rules.__dataclass_fields__.get(name)
        text = option.metadata["text"] if option is not None else f"Cost of the {name}." if name in DISTRICT_NAMES else "Option `smithy`."
        rows.append((k, f"`{name}`" if option is not None else name, values, text))
    parts.append("## Options\n\n" + _table(("entry", "option", "values", "meaning"), rows))
    for title, columns in (("Turn", TURN_COLUMNS), ("Game", GAME_COLUMNS), ("Players", PLAYER_COLUMNS)):
        rows = [(k, name, "0 no, 1 yes" if name in FLAGS else "the number") for k, name in enumerate(columns)]
        parts.append(f"## {title}\n\n" + _table(("entry", "figure", "values"), rows))
    return "\n".join(parts)


def _table(heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---:|" + "---|" * (len(heads) - 1)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
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
