"""The action space: a table of blocks (verb, arguments, size).  An index means the same thing in every situation.

Players are named relative to the actor: player k of a block is the seat k places to the left.  A district
on the table is named by its type, by whether it is beautified, and by its owner; a type with a single copy
in the game needs no owner, since it stands in one city at most.
"""

from typing import NamedTuple

from .cards import DISTRICTS, N_DISTRICTS, N_REPEATED, N_ROLES, ROLES

MAX_PLAYERS = 8
N_SINGLE = N_DISTRICTS - N_REPEATED
N_OWN = 2 * N_REPEATED + N_SINGLE  # districts of one city: plain and beautified copies of repeated types, single types
FIRST_END = 5  # the smallest number of districts a Bell Tower can name


def n_targets(owners: int) -> int:
    """How many actions name a district on the table, with `owners` possible owners."""
    return owners * 2 * N_REPEATED + N_SINGLE


class Block(NamedTuple):
    """One verb of the action space."""

    verb: str
    argument: str  # "", "role", "district", "player", "number", "own" or "target"
    size: int
    first_player: int = 0  # relative player of the first index
    text: str = ""


BLOCKS = (
    Block("draft", "role", N_ROLES, text="take this role in the draft"),
    Block("bury", "role", N_ROLES, text="two players: put this role away face down"),
    Block("name", "role", N_ROLES, text="Assassin, Thief, Witch: name this role"),
    Block("take gold", "", 1, text="action: 2 gold"),
    Block("draw cards", "", 1, text="action: draw cards and keep one"),
    Block("income", "", 1, text="1 gold per district of the role's colour"),
    Block("use power", "", 1, text="Merchant's gold, Architect's cards, Abbot's coin"),
    Block("take 4 gold", "", 1, text="Navigator"),
    Block("draw 4 cards", "", 1, text="Navigator"),
    Block("smithy", "", 1, text="pay for cards"),
    Block("give gold", "", 1, text="tribute for the crown"),
    Block("thank", "", 1, text="Ballroom"),
    Block("stay silent", "", 1, text="Ballroom: lose the turn"),
    Block("yes", "", 1, text="Graveyard, Park"),
    Block("no", "", 1, text="Graveyard, Park"),
    Block("done", "", 1, text="decline, or finish a choice of several parts"),
    Block("end turn", "", 1),
    Block("end at", "number", 4, text="Bell Tower: the game ends with this many districts"),
    Block("swap hands with", "player", MAX_PLAYERS - 1, 1, "Magician"),
    Block("look at", "player", MAX_PLAYERS - 1, 1, "Wizard"),
    Block("crown", "player", MAX_PLAYERS - 1, 1, "Emperor"),
    Block("keep", "district", N_DISTRICTS, text="keep this card of those drawn"),
    Block("take", "district", N_DISTRICTS, text="Wizard, Lighthouse"),
    Block("build", "district", N_DISTRICTS),
    Block("discard", "district", N_DISTRICTS, text="Magician: exchange this card with the deck"),
    Block("give", "district", N_DISTRICTS, text="tribute for the crown"),
    Block("laboratory", "district", N_DISTRICTS, text="discard this card for gold"),
    Block("museum", "district", N_DISTRICTS, text="put this card under the Museum"),
    Block("beautify", "district", N_DISTRICTS, text="Artist"),
    Block("offer", "own", N_OWN, text="Diplomat: the district to give away"),
    Block("destroy", "target", n_targets(MAX_PLAYERS), 0, "Warlord"),
    Block("blow up", "target", n_targets(MAX_PLAYERS - 1), 1, "Powder Tower"),
    Block("exchange for", "target", n_targets(MAX_PLAYERS - 1), 1, "Diplomat: the district to receive"),
)

OFFSET: dict[str, int] = {}
N_ACTIONS = 0
for _block in BLOCKS:
    OFFSET[_block.verb] = N_ACTIONS
    N_ACTIONS += _block.size

(DRAFT, BURY, NAME, TAKE_GOLD, DRAW_CARDS, INCOME, USE_POWER, TAKE_4_GOLD, DRAW_4_CARDS, SMITHY, GIVE_GOLD, THANK,
 STAY_SILENT, YES, NO, DONE, END_TURN, END_AT, SWAP_HANDS, LOOK_AT, CROWN, KEEP, TAKE, BUILD, DISCARD, GIVE, LABORATORY,
 MUSEUM, BEAUTIFY, OFFER, DESTROY, BLOW_UP, EXCHANGE_FOR) = OFFSET.values()  # fmt: skip


def block_of(action: int) -> Block:
    """The block that `action` lies in."""
    if not 0 <= action < N_ACTIONS:
        raise ValueError(f"there is no action {action}; actions are 0 to {N_ACTIONS - 1}")
    return next(block for block in reversed(BLOCKS) if OFFSET[block.verb] <= action)


def split(action: int) -> tuple[str, int | None, int | None, bool]:
    """Take `action` apart: verb, argument (role, district or number), relative player, beautified.

    The player of a single-copy district on the table is None: it stands where it stands.
    """
    block = block_of(action)
    index = action - OFFSET[block.verb]
    if block.argument == "":
        return block.verb, None, None, False
    if block.argument == "player":
        return block.verb, None, index + block.first_player, False
    if block.argument == "number":
        return block.verb, index + FIRST_END, None, False
    if block.argument in ("own", "target"):
        repeated = block.size - N_SINGLE
        if index >= repeated:
            return block.verb, index - repeated + N_REPEATED, None, False
        player, rest = divmod(index, 2 * N_REPEATED)
        own = block.argument == "own"
        return block.verb, rest // 2, None if own else player + block.first_player, bool(rest % 2)
    return block.verb, index, None, False


def describe(action: int, seat: int, n_players: int, owner: int | None = None, coined: bool = False) -> str:
    """The text of `action` when `seat` answers (players in texts are absolute seats).

    Where the action names a single-copy district on the table, `owner` is its seat and `coined` says whether it is beautified.
    """
    verb, argument, player, beautified = split(action)
    kind = block_of(action).argument
    if kind == "role":
        return f"{verb} {ROLES[argument].name}"  # type: ignore[index]
    if kind == "number":
        return f"{verb} {argument}"
    if kind == "player":
        return f"{verb} player {(seat + player) % n_players}"  # type: ignore[operator]
    if kind == "":
        return verb
    star = "*" if beautified or coined else ""
    text = f"{verb} {DISTRICTS[argument].name}{star}"  # type: ignore[index]
    if kind != "target":
        return text
    if player is not None:
        owner = (seat + player) % n_players
    return f"{text} of player {'?' if owner is None else owner}"


def table() -> str:
    """The action space as a Markdown table (this is docs/actions.md)."""
    what = {
        "": "",
        "role": "ROLE",
        "district": "DISTRICT",
        "own": "DISTRICT or DISTRICT*",
        "player": "player N",
        "number": "NUMBER",
        "target": "DISTRICT or DISTRICT* of player N",
    }
    lines = ["| first index | size | text | meaning |", "|---:|---:|---|---|"]
    for block in BLOCKS:
        text = f"`{block.verb} {what[block.argument]}`".replace(" `", "`")
        lines.append(f"| {OFFSET[block.verb]} | {block.size} | {text} | {block.text} |")
    return "\n".join(lines) + "\n"
