"""The state of a game: one structured record, and the verbs that move cards, gold and questions.

What every seat knows of hidden cards is part of the state: `known` holds, for each place where cards lie
unseen and each observer, how many cards of a type the observer is sure of.  It is a lower bound that never
says more than the observer can have seen; two bits a seat count up to three copies.
"""

from typing import Any

import numpy as np

from . import cards
from ._jit import COMPILED, kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS, N_RANKS, N_REPEATED
from .rules import Rules
from .vocabulary import Colour

MUSEUM_PILE = MAX_PLAYERS  # places of hidden cards after the hands of the seats
DISCARD_PILE = MAX_PLAYERS + 1
N_PLACES = MAX_PLAYERS + 2
DECK_CAPACITY = 128  # a power of two: the deck is a ring
STACK = 8
ALL_SEATS = 0xFF
EVEN_BITS = 0x5555
IN_POOL, FACE_UP, FACE_DOWN = 99, -1, -2  # `drafted_at` of a role nobody has taken yet, or that was laid aside

# Random streams, so that two games with the same seed share their deck whatever the players do in the draft.
DECK_STREAM, DRAFT_STREAM, CHANCE_STREAM, PLAY_STREAM = range(4)
N_STREAMS = 4


def _integer(width: str) -> Any:
    """An integer type; in plain Python all are wide, since small NumPy integers overflow there."""
    return np.dtype(width if COMPILED else "i8")


I1, I2, I4, U1, U2 = (_integer(width) for width in ("i1", "i2", "i4", "u1", "u2"))

OPTIONS = (
    "city_size", "max_rounds", "first_crown", "tie_break", "first_bonus_lost_if_destroyed", "haunted_city_not_in_last_round",
    "duplicates_allowed", "quarry", "wizard_may_duplicate", "laboratory_gold", "great_wall_protects_itself",
    "powder_tower_complete_city", "bell_tower_choice", "museum_once_per_turn", "throne_room_emperor_counts", "ballroom",
    "discard_to", "power_before_action", "merchant_bonus_timing", "architect_cards_timing", "navigator_can_never_build",
    "navigator_bonus_ends_turn", "warlord_timing", "warlord_own_city", "diplomat_timing",
    "diplomat_may_target_complete_city", "diplomat_no_duplicates", "emperor_tribute", "emperor_may_return_crown",
    "emperor_may_keep_crown_in_place", "bewitched_emperor_crown", "queen_bound_to", "alchemist_refund", "assassin_must_name",
    "thief_must_name", "witch_must_name", "hospital_turn_end_effects", "cut_turn_end_effects",
)  # fmt: skip
# Values of the options that are words, in the order in which `Rules` lists them.
OLDEST, RANDOM_SEAT = range(2)
BUILDINGS, BUILDINGS_THEN_GOLD, SHARED = range(3)
DISCOUNT, ANY_DUPLICATES, ONE_DUPLICATE = range(3)
MUST_DECIDE, MAY_ANNOUNCE = range(2)
DECISION, AUTO, FORGET = range(3)
TO_DISCARD_PILE, TO_DECK_BOTTOM = range(2)
ANY, START, AFTER_ACTION = range(3)
ANY_TIME, END_OF_TURN = range(2)
NO_TRIBUTE, PAYER_CHOOSES = range(2)
BY_WITCH, BY_EMPEROR_PLAYER = range(2)
KING_ONLY, CARD, BY_CROWN = range(3)
AT_END, IMMEDIATE = range(2)

RULES = np.dtype(
    [
        ("n_players", I1),
        ("n_roles", I1),
        ("n_face_up", I1),
        ("role", I1, N_RANKS),  # the role of each rank, -1 for a rank not in play
        ("copies", I1, N_DISTRICTS),  # of each district in the deck
        ("cost", I1, N_DISTRICTS),
        ("points", I1, N_DISTRICTS),
        ("smithy_cost", I1),
        ("smithy_cards", I1),
        ("forget", I4),  # probability of forgetting to thank, in 1/65536
        ("template", I4),  # row of the observation templates (observation.py) that belongs to these rules
        ("retro_tax", I1, 2),  # does the Assassin, the Witch pay tax on building before the Tax Collector appears?
        *((name, I2) for name in OPTIONS),
    ]
)

STATE = np.dtype(
    [
        ("rng", np.uint64, N_STREAMS),
        ("rules", RULES),
        ("steps", I4),  # questions answered, those that answered themselves included
        ("round_number", I2),
        ("crown", I1),  # seat
        ("over", U1),
        ("truncated", U1),  # cut off by max_rounds
        ("depth", I1),  # open questions, the last one is to be answered
        ("ask", I1, STACK),
        ("actor", I1, STACK),
        ("arg", I2, STACK),
        # places
        ("gold", I4, MAX_PLAYERS),  # below 2**21: a position gives 10,000 a seat, the bank fewer than 200 in a round
        ("hand", I1, (N_PLACES, N_DISTRICTS)),  # copies in each hand, under the Museum, in the discard pile
        ("hand_size", I2, N_PLACES),
        ("known", U2, (N_PLACES, N_DISTRICTS)),  # two bits per observer: copies there that the observer is sure of
        ("any_known", U1, N_PLACES),
        ("city", I1, (MAX_PLAYERS, N_DISTRICTS)),
        ("coins", I1, (MAX_PLAYERS, N_DISTRICTS)),  # beautified copies
        ("city_size", I1, MAX_PLAYERS),
        ("deck", I1, DECK_CAPACITY),  # a ring; the top is drawn
        ("deck_seen", U1, DECK_CAPACITY),  # seats that know the card at this place
        ("deck_bottom", I2),
        ("deck_size", I2),
        ("deck_ordered", I2),  # cards put under since the last shuffle: their places are known to who saw them
        ("deck_viewer", I1),  # the seat that knows which cards the shuffled rest holds (Lighthouse), or -1
        ("drawn", I1, 4),  # cards drawn and not yet kept
        ("n_drawn", I1),
        # the draft
        ("drafted_at", I1, N_RANKS),  # step at which each rank was taken or buried; IN_POOL, FACE_UP, FACE_DOWN
        ("face_down", I1),  # the rank laid face down at the start
        ("draft_first", I1),  # the seat that drafted first
        ("draft_step", I1),
        ("owner", I1, N_RANKS),  # seat, or -1
        # the round
        ("called", I1),  # rank index being called, -1 in the draft
        ("revealed", U1, N_RANKS),
        ("murdered", I1),  # rank index, or -1
        ("robbed", I1),
        ("bewitched", I1),
        ("robber", I1),  # seat that receives the robbed gold
        ("witch", I1),  # seat whose turn waits for the bewitched role
        ("tax_seat", I1),  # seat that receives taxes, once the Tax Collector has appeared
        ("rank_1_built", U1),
        ("heir", I1),  # seat of a King whose turn was lost: the crown is his at the end of the round
        ("queen_waits", U1),  # the Queen's gold for a murdered King comes after the turn
        # the turn
        ("turn_kind", I1),
        ("turn_seat", I1),
        ("turn_role", I1),  # the role whose powers are in use
        ("acted", U1),
        ("income_taken", U1),
        ("power_used", U1),
        ("closing", U1),  # only `end turn` is left
        ("builds", I1),  # districts that may still be built
        ("built", U1),
        ("spent", I2),  # gold the Alchemist gets back at the end
        ("beautified", I1),
        ("used_laboratory", U1),
        ("used_smithy", U1),
        ("used_museum", U1),
        # the end
        ("ending", U1),  # somebody has completed a city
        ("first_completers", U1),  # one bit per seat
        ("districts_to_end", I1),
        ("haunted_round", I2),  # round in which the Haunted City was built
        ("score", I4, MAX_PLAYERS),
    ]
)


def rules_row(rules: Rules) -> Any:
    """`rules` as a RULES record."""
    row = np.zeros(1, RULES)
    row["n_players"] = rules.players
    row["n_roles"] = len(rules.roles)
    row["n_face_up"] = rules.face_up
    row["role"] = -1
    row["role"][0, : len(rules.roles)] = [cards.ROLE_INDEX[role] for role in rules.roles]
    for index, district in enumerate(cards.DISTRICTS):
        row["copies"][0, index] = rules.deck.get(district.name, 0)
        row["cost"][0, index] = rules.cost(district.name)
        row["points"][0, index] = rules.points(district.name)
    row["smithy_cost"], row["smithy_cards"] = rules.smithy
    row["forget"] = round(rules.ballroom_forget_probability * 65536)
    row["retro_tax"] = ["Assassin" in rules.retro_tax_roles, "Witch" in rules.retro_tax_roles]
    for name in OPTIONS:
        value = getattr(rules, name)
        if isinstance(value, str):
            value = Rules.__dataclass_fields__[name].metadata["values"].index(value)
        row[name] = value
    return row[0]


def records(n: int, dtype: Any = STATE) -> Any:
    """An array of `n` empty records for the kernel.

    In plain Python its elements have attributes, as in the kernel; compiled code takes plain arrays much faster.
    """
    array = np.zeros(n, dtype)
    return array if COMPILED else array.view(np.recarray)


def copied(array: Any) -> Any:
    """A copy of an array, byte by byte: NumPy copies records field by field, which is thirty times slower."""
    copy = np.empty_like(array)
    copy.view(np.uint8)[...] = array.view(np.uint8)
    return copy


# --- chance ------------------------------------------------------------------


@kernel
def mix(z):
    """The output function of splitmix64 (Steele, Lea, Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def seed_streams(g, seed):
    """Start every random stream of the game from `seed` (uint64)."""
    for stream in range(N_STREAMS):
        g.rng[stream] = mix(mix(seed) + np.uint64(stream + 1) * np.uint64(0x9E3779B97F4A7C15))


@kernel
def random_below(g, stream, n):
    """A random integer in [0, n) from one of the game's streams."""
    z = g.rng[stream] + np.uint64(0x9E3779B97F4A7C15)
    g.rng[stream] = z
    return np.int64((mix(z) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


# --- questions ---------------------------------------------------------------


@kernel
def ask(g, question, seat, arg):
    """Open a question: `seat` must answer it next."""
    g.ask[g.depth] = question
    g.actor[g.depth] = seat
    g.arg[g.depth] = arg
    g.depth += 1


@kernel
def answered(g):
    """Close the question just answered; return what it was about."""
    g.depth -= 1
    return np.int64(g.arg[g.depth])


# --- hidden cards and what is known of them ----------------------------------


@kernel
def lanes(seats):
    """The even bits of `known` for the seats of an eight-bit set."""
    spread = 0
    for seat in range(MAX_PLAYERS):
        if seats >> seat & 1:
            spread |= 1 << 2 * seat
    return spread


@kernel
def learn(g, place, card, seats):
    """The `seats` (a set of bits) are sure of one more `card` at `place`."""
    known = np.int64(g.known[place, card])
    full = known & known >> 1 & EVEN_BITS  # three already: the count stays
    g.known[place, card] = known + (lanes(seats) & ~full)
    g.any_known[place] = 1


@kernel
def learn_all(g, place, seat):
    """`seat` sees every card at `place`."""
    for card in range(N_DISTRICTS):
        count = min(3, np.int64(g.hand[place, card]))
        g.known[place, card] = np.int64(g.known[place, card]) & ~(3 << 2 * seat) | count << 2 * seat
    g.any_known[place] = 1


@kernel
def put(g, place, card, witnesses):
    """Lay `card` at a hidden place; `witnesses` see it."""
    g.hand[place, card] += 1
    g.hand_size[place] += 1
    if witnesses:
        learn(g, place, card, witnesses)


@kernel
def remove(g, place, card, witnesses):
    """Take `card` from a hidden place; who does not see it can be sure of one card less, of whatever type."""
    g.hand[place, card] -= 1
    g.hand_size[place] -= 1
    if g.any_known[place]:
        seeing = lanes(witnesses)
        for other in range(N_DISTRICTS):
            known = np.int64(g.known[place, other])
            if known:
                some = (known | known >> 1) & EVEN_BITS
                g.known[place, other] = known - (some & ~seeing | (some & seeing if other == card else 0))


# --- the deck ----------------------------------------------------------------


@kernel
def place_in_deck(g, height):
    """Index into the ring of the card `height` places above the bottom."""
    return (np.int64(g.deck_bottom) + height) & (DECK_CAPACITY - 1)


@kernel
def shuffle_deck(g):
    """Shuffle all cards of the deck; places known before are known no more."""
    for height in range(np.int64(g.deck_size) - 1, 0, -1):
        i, j = place_in_deck(g, height), place_in_deck(g, random_below(g, DECK_STREAM, height + 1))
        g.deck[i], g.deck[j] = g.deck[j], g.deck[i]
    g.deck_ordered = 0
    g.deck_viewer = -1


@kernel
def cards_left(g):
    """Cards that can still be drawn: the deck, and the discards that will become it (X-25)."""
    return np.int64(g.deck_size) + np.int64(g.hand_size[DISCARD_PILE])


@kernel
def put_on_deck(g, card):
    """Lay `card` on top of the deck (when a game is set up)."""
    g.deck[place_in_deck(g, np.int64(g.deck_size))] = card
    g.deck_size += 1


@kernel
def put_under(g, card, witnesses):
    """Lay `card` under the deck."""
    g.deck_bottom = (np.int64(g.deck_bottom) - 1) & (DECK_CAPACITY - 1)
    g.deck[g.deck_bottom] = card
    g.deck_seen[g.deck_bottom] = witnesses
    g.deck_size += 1
    g.deck_ordered += 1


@kernel
def reshuffle_discards(g):
    """The discard pile becomes the deck (X-25)."""
    for card in range(N_DISTRICTS):
        for _ in range(np.int64(g.hand[DISCARD_PILE, card])):
            put_on_deck(g, card)
        g.hand[DISCARD_PILE, card] = 0
        g.known[DISCARD_PILE, card] = 0
    g.hand_size[DISCARD_PILE] = 0
    g.any_known[DISCARD_PILE] = 0
    shuffle_deck(g)


@kernel
def top_card(g, seat):
    """Take the top card for `seat`; return it and, above eight bits, the seats that know it (-1: none left)."""
    if g.deck_size == 0:
        if g.hand_size[DISCARD_PILE] == 0:
            return -1
        reshuffle_discards(g)
    g.deck_size -= 1
    index = place_in_deck(g, np.int64(g.deck_size))
    if g.deck_ordered > g.deck_size:
        g.deck_ordered = g.deck_size
        return np.int64(g.deck[index]) | np.int64(g.deck_seen[index]) << 8
    if g.deck_viewer != seat:
        g.deck_viewer = -1
    return np.int64(g.deck[index])


@kernel
def draw(g, seat, n):
    """Draw up to `n` cards into the hand of `seat`."""
    for _ in range(n):
        top = top_card(g, seat)
        if top < 0:
            return
        put(g, seat, top & 0xFF, top >> 8)


@kernel
def discard(g, card, witnesses):
    """Lay a card where discards go (D37); `witnesses` see it."""
    if g.rules.discard_to == TO_DECK_BOTTOM:
        put_under(g, card, witnesses)
    else:
        put(g, DISCARD_PILE, card, witnesses)


# --- small questions asked everywhere ----------------------------------------

FIRST_OF_COLOUR = np.array(
    [next(i for i, row in enumerate(cards.DISTRICTS) if row.colour == colour) for colour in Colour if colour >= 0] + [N_DISTRICTS], np.int64
)


@kernel
def bit(seat):
    """The set that holds `seat` alone."""
    return 1 << seat


@kernel
def players(g):
    """The number of players, as an int64 (seats counted from it keep every function to one signature)."""
    return np.int64(g.rules.n_players)


@kernel
def left_of(g, seat, places):
    """The seat `places` to the left of `seat`."""
    return (seat + places) % players(g)


@kernel
def distance(g, seat, other):
    """How many places to the left of `seat` the seat `other` is."""
    return (other - seat) % players(g)


@kernel
def count_colour(g, seat, colour):
    """Districts of a colour in a city."""
    count = 0
    for card in range(FIRST_OF_COLOUR[colour], FIRST_OF_COLOUR[colour + 1]):
        count += np.int64(g.city[seat, card])
    return count


# --- districts on the table in the action space (actions.py has the blocks) ---


@kernel
def target_offset(g, seat, owner, first_player, card, beautified, n_owners):
    """Offset within a block `target` of the district `card` of `owner`, seen from `seat`."""
    if card >= N_REPEATED:
        return n_owners * 2 * N_REPEATED + card - N_REPEATED
    return ((distance(g, seat, owner) - first_player) * N_REPEATED + card) * 2 + beautified


@kernel
def target_of(g, seat, offset, first_player, n_owners):
    """The inverse: (owner, card, beautified) packed as owner * 256 + card * 2 + beautified."""
    repeated = n_owners * 2 * N_REPEATED
    if offset >= repeated:
        card = offset - repeated + N_REPEATED
        for owner in range(players(g)):
            if g.city[owner, card] > 0:
                return owner * 256 + card * 2 + np.int64(g.coins[owner, card])
        return -1
    owner = left_of(g, seat, offset // (2 * N_REPEATED) + first_player)
    return owner * 256 + offset % (2 * N_REPEATED)


@kernel
def own_offset(card, beautified):
    """Offset within a block `own` of a district of one's own city."""
    if card >= N_REPEATED:
        return 2 * N_REPEATED + card - N_REPEATED
    return card * 2 + beautified
