"""The kernel's front door: new_game, legal, apply, settle.  The two routers are the index of the rules."""

import numpy as np

from . import actions, districts, roles, state, turn
from ._jit import kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS
from .state import players
from .vocabulary import Ask

MAX_MOVES = 512  # more than any question can have answers


@kernel
def legal(g, moves):
    """Write the answers to the open question into `moves` (int64 array of MAX_MOVES); return how many they are."""
    asked, seat = np.int64(g.ask[g.depth - 1]), np.int64(g.actor[g.depth - 1])
    if asked == Ask.PLAY: return turn.legal_play(g, seat, moves)  # fmt: skip
    if asked == Ask.DRAFT: return turn.legal_draft(g, seat, moves)  # fmt: skip
    if asked == Ask.BURY: return turn.legal_bury(g, seat, moves)  # fmt: skip
    if asked == Ask.ACTION: return turn.legal_action(g, seat, moves)  # fmt: skip
    if asked == Ask.KEEP: return turn.legal_keep(g, seat, moves)  # fmt: skip
    if asked == Ask.THANK: return turn.legal_thank(g, seat, moves)  # fmt: skip
    if asked == Ask.NAME: return roles.legal_name(g, seat, moves)  # fmt: skip
    if asked == Ask.DISCARD: return roles.legal_discard(g, seat, moves)  # fmt: skip
    if asked == Ask.WIZARD_TAKE: return roles.legal_wizard_take(g, seat, moves)  # fmt: skip
    if asked == Ask.WIZARD_BUILD: return roles.legal_wizard_build(g, seat, moves)  # fmt: skip
    if asked == Ask.CROWN: return roles.legal_crown(g, seat, moves)  # fmt: skip
    if asked == Ask.TRIBUTE: return roles.legal_tribute(g, seat, moves)  # fmt: skip
    if asked == Ask.EXCHANGE: return roles.legal_exchange(g, seat, moves)  # fmt: skip
    if asked == Ask.GRAVEYARD: return districts.legal_graveyard(g, seat, moves)  # fmt: skip
    if asked == Ask.LIGHTHOUSE: return districts.legal_lighthouse(g, seat, moves)  # fmt: skip
    if asked == Ask.BELL_TOWER: return districts.legal_bell_tower(g, seat, moves)  # fmt: skip
    if asked == Ask.PARK: return districts.legal_park(g, seat, moves)  # fmt: skip
    return 0  # Ask.NOTHING


@kernel
def apply(g, action):
    """Answer the open question with `action` (int64, which must be legal)."""
    g.steps += 1
    asked, seat = np.int64(g.ask[g.depth - 1]), np.int64(g.actor[g.depth - 1])
    if asked == Ask.PLAY: turn.play(g, seat, action)  # fmt: skip
    elif asked == Ask.DRAFT: turn.draft(g, seat, action)  # fmt: skip
    elif asked == Ask.BURY: turn.bury(g, seat, action)  # fmt: skip
    elif asked == Ask.ACTION: turn.action(g, seat, action)  # fmt: skip
    elif asked == Ask.KEEP: turn.keep(g, seat, action)  # fmt: skip
    elif asked == Ask.THANK: turn.thank(g, seat, action)  # fmt: skip
    elif asked == Ask.NAME: turn.name(g, seat, action)  # fmt: skip
    elif asked == Ask.DISCARD: roles.discard(g, seat, action)  # fmt: skip
    elif asked == Ask.WIZARD_TAKE: roles.wizard_take(g, seat, action)  # fmt: skip
    elif asked == Ask.WIZARD_BUILD: roles.wizard_build(g, seat, action)  # fmt: skip
    elif asked == Ask.CROWN: roles.crown(g, seat, action)  # fmt: skip
    elif asked == Ask.TRIBUTE: roles.tribute(g, seat, action)  # fmt: skip
    elif asked == Ask.EXCHANGE: roles.exchange(g, seat, action)  # fmt: skip
    elif asked == Ask.GRAVEYARD: districts.graveyard(g, seat, action)  # fmt: skip
    elif asked == Ask.LIGHTHOUSE: districts.lighthouse(g, seat, action)  # fmt: skip
    elif asked == Ask.BELL_TOWER: districts.bell_tower(g, seat, action)  # fmt: skip
    elif asked == Ask.PARK: turn.park(g, seat, action)  # fmt: skip


@kernel
def settle(g, moves):
    """Let questions with a single answer answer themselves (P-9); return the number of answers to the open one."""
    while True:
        n = legal(g, moves)
        if n != 1 or moves[0] == actions.END_TURN:
            return n
        apply(g, moves[0])


@kernel
def clear(g):
    """An empty table under `g.rules`."""
    g.steps = 0
    g.round_number = 0
    g.crown = 0
    g.over = 0
    g.truncated = 0
    g.depth = 0
    g.deck_bottom = 0
    g.deck_size = 0
    g.deck_ordered = 0
    g.deck_viewer = -1
    g.n_drawn = 0
    g.face_down = -1
    g.spent = 0
    g.queen_waits = 0
    g.ending = 0
    g.first_completers = 0
    g.districts_to_end = g.rules.city_size
    g.haunted_round = 0
    for place in range(state.N_PLACES):
        for card in range(N_DISTRICTS):
            g.hand[place, card] = 0
            g.known[place, card] = 0
        g.hand_size[place] = 0
        g.any_known[place] = 0
    for seat in range(MAX_PLAYERS):
        for card in range(N_DISTRICTS):
            g.city[seat, card] = 0
            g.coins[seat, card] = 0
        g.city_size[seat] = 0
        g.gold[seat] = 0
        g.score[seat] = 0


@kernel
def new_game(g, seed):
    """Deal a game under `g.rules` (B1): `seed` is a uint64."""
    state.seed_streams(g, seed)
    clear(g)
    for card in range(N_DISTRICTS):
        for _ in range(np.int64(g.rules.copies[card])):
            state.put_on_deck(g, card)
    state.shuffle_deck(g)
    for seat in range(players(g)):
        g.gold[seat] = 2
        state.draw(g, seat, 4)
    if g.rules.first_crown == state.RANDOM_SEAT:
        g.crown = state.random_below(g, state.DRAFT_STREAM, players(g))
    turn.start_round(g)
