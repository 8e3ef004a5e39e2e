"""A sensible player as one kernel function: `choose` weighs every answer and takes the best.

It reads only what its seat knows: public figures, its own hand and roles, and the roles it saw in the draft.
The order in which a turn is played comes from the size of the values: naming and free gains first, then the action,
building, income, and what may follow with the gold that is left.
"""

import numpy as np

from citadels_env import actions, cards, districts, state
from citadels_env._jit import kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.cards import N_DISTRICTS
from citadels_env.state import players
from citadels_env.vocabulary import Ask, Role

from . import belief as beliefs
from . import valuation
from .valuation import best_affordable, card_value, role_value

NEVER = -1000.0


@kernel
def choose(g, moves, n, w, belief, buffer):
    """The answer of the seat that is asked, out of the first `n` of `moves`.

    `belief` and `buffer` are arrays to work with (see belief.py).
    """
    seat = prepare(g, w, belief, buffer)
    colours, urgent = valuation.colours_shown(g, seat), False
    asked = np.int64(g.ask[g.depth - 1])
    if asked == Ask.PLAY:
        urgent = income_first(g, seat, colours, w)
    best, best_value = moves[0], -1.0e9
    for i in range(n):
        value = value_of(g, asked, seat, moves[i], colours, urgent, w, belief)
        if value > best_value:
            best, best_value = moves[i], value
    return best


@kernel
def weigh(g, moves, n, w, belief, buffer, values):
    """The values behind `choose`, one per answer."""
    seat = prepare(g, w, belief, buffer)
    colours, asked = valuation.colours_shown(g, seat), np.int64(g.ask[g.depth - 1])
    urgent = asked == Ask.PLAY and income_first(g, seat, colours, w)
    for i in range(n):
        values[i] = value_of(g, asked, seat, moves[i], colours, urgent, w, belief)


@kernel
def prepare(g, w, belief, buffer):
    """Make up beliefs where a role is to be named; returns the seat that is asked."""
    asked, seat = np.int64(g.ask[g.depth - 1]), np.int64(g.actor[g.depth - 1])
    if asked == Ask.NAME or (asked == Ask.PLAY and (g.turn_role == Role.ASSASSIN or g.turn_role == Role.THIEF) and not g.power_used):
        beliefs.believe(g, seat, np.int64(w.inference), w, belief, buffer)
    return seat


@kernel
def noise(g):
    """A random number in [0, 1)."""
    return state.random_below(g, state.PLAY_STREAM, 1024) / 1024.0


@kernel
def income_first(g, seat, colours, w):
    """Would the income of this turn make a better district affordable?"""
    if g.income_taken or g.builds == 0:
        return False
    gold = np.int64(g.gold[seat])
    pay = districts.income(g, seat, np.int64(g.turn_role))
    return pay > 0 and best_affordable(g, seat, gold + pay, colours, w) > best_affordable(g, seat, gold, colours, w)


@kernel
def value_of(g, asked, seat, action, colours, urgent, w, belief):
    """The value of one answer."""
    if action < actions.BURY:
        return draft_value(g, seat, action - actions.DRAFT, w) + w.draft_noise * noise(g)
    if action < actions.NAME:
        return role_value(g, valuation.leader(g, seat), action - actions.BURY, False, w) + 0.5 * w.draft_noise * noise(g)
    if action < actions.TAKE_GOLD:
        value = name_value(g, seat, action - actions.NAME, w, belief) + w.name_noise * noise(g)
        return 200.0 + value if asked == Ask.PLAY else value
    if action < actions.SWAP_HANDS:
        return plain_value(g, asked, seat, action, colours, urgent, w)
    if action < actions.KEEP:
        return player_value(g, seat, action, w)
    if action < actions.OFFER:
        return card_answer_value(g, asked, seat, action, colours, w)
    return table_value(g, seat, action, w)


@kernel
def draft_value(g, seat, role, w):
    """A role in the draft: for oneself, and lest another has it."""
    value = role_value(g, seat, role, True, w)
    if w.deny != 0.0:
        most = 0.0
        for other in range(players(g)):
            if other != seat:
                most = max(most, valuation.threat(g, seat, other, w) * role_value(g, other, role, False, w))
        value += w.deny * most
    return value


@kernel
def name_value(g, seat, role, w, belief):
    """What naming a role is worth: over all players, the chance that they hold it times what that does."""
    rank = role // 2
    value = 0.0
    for other in range(players(g)):
        held = belief[other, rank]
        if other == seat or held == 0.0 or g.revealed[rank]:
            continue
        if g.turn_role == Role.WITCH:
            value += held
        elif g.turn_role == Role.THIEF:
            value += held * w.rob_gold * g.gold[other]
        else:
            harm = w.murder_base + w.murder_role * max(0.0, role_value(g, other, role, False, w))
            if role == Role.WARLORD or role == Role.DIPLOMAT:
                harm += w.murder_fear * g.city_size[seat]
            elif role == Role.THIEF:
                harm += w.murder_thief * g.gold[seat]
            value += held * valuation.threat(g, seat, other, w) * harm
    if g.turn_role == Role.WITCH:
        return value * (1.0 + w.bewitch_role * max(0.0, role_value(g, seat, role, True, w)))
    return value


@kernel
def plain_value(g, asked, seat, action, colours, urgent, w):
    """Answers without an argument, and the Bell Tower's."""
    gold, hand = np.int64(g.gold[seat]), np.int64(g.hand_size[seat])
    if action == actions.TAKE_GOLD:
        return 100.0 + w.gold_bias
    if action == actions.DRAW_CARDS:
        income = districts.income(g, seat, np.int64(g.turn_role)) if not g.income_taken else 0
        value = 100.0 + w.draw_hand * hand + w.draw_gold * gold
        if hand == 0:
            return value + w.draw_empty
        if best_affordable(g, seat, gold + 2 + income, colours, w) < 0.5 and gold >= 4:
            value += w.draw_stuck
        if hand <= 1 and gold >= 5 and best_affordable(g, seat, gold + income, colours, w) > 2.0:
            value += w.draw_rich
        return value
    if action == actions.INCOME:
        return 90.0 if urgent else 20.0
    if action == actions.USE_POWER:
        return 150.0
    if action == actions.TAKE_4_GOLD:
        return 80.0 if hand >= w.keep_hand else 78.0
    if action == actions.DRAW_4_CARDS:
        return 79.0
    if action == actions.SMITHY:
        spare = gold - np.int64(g.rules.smithy_cost)
        return 8.0 if (hand <= w.smithy_hand or (hand == 0 and spare >= 2)) and not g.ending else NEVER
    if action == actions.GIVE_GOLD:
        return 1.6 if gold >= w.tribute_gold or hand == 0 else 0.6
    if action == actions.END_TURN:
        return 0.0
    if action == actions.DONE:
        return crown_value(g, seat, np.int64(g.crown), w) if asked == Ask.CROWN else 0.5
    if action == actions.YES:
        if asked == Ask.GRAVEYARD:
            return card_value(g, seat, np.int64(g.arg[g.depth - 1]), colours, w) - w.exhume
        return 1.0
    if action == actions.STAY_SILENT:
        return NEVER
    if action >= actions.END_AT:
        early = action - actions.END_AT + actions.FIRST_END < g.rules.city_size
        front = np.int64(g.city_size[valuation.leader(g, seat)])
        return 1.0 if early == (g.city_size[seat] > front or (g.ending > 0 and districts.complete(g, seat))) else 0.0
    return 0.0  # thank, no


@kernel
def player_value(g, seat, action, w):
    """Magician's swap, Wizard's look, the Emperor's crown."""
    if action < actions.LOOK_AT:
        other = state.left_of(g, seat, action - actions.SWAP_HANDS + 1)
        more = np.int64(g.hand_size[other]) - np.int64(g.hand_size[seat])
        return 120.0 + more + 0.1 * valuation.threat(g, seat, other, w) if more >= w.swap_least else NEVER
    if action < actions.CROWN:
        other = state.left_of(g, seat, action - actions.LOOK_AT + 1)
        return 110.0 + g.hand_size[other] + 0.3 * g.city_size[other]
    other = state.left_of(g, seat, action - actions.CROWN + 1)
    value = crown_value(g, seat, other, w)
    if g.rules.emperor_tribute == state.PAYER_CHOOSES and g.gold[other] + g.hand_size[other] > 0:
        value += 1.0
    return value


@kernel
def crown_value(g, seat, holder, w):
    """What it is worth that `holder` drafts first in the next round: best is oneself, for then no rival does."""
    places = (holder - seat - 1) % players(g) + 1
    rival = np.int64(g.city_size[holder]) if holder != seat else 0
    return w.crown_far * places / players(g) - w.crown_weak * (rival - np.int64(g.city_size[seat]))


@kernel
def card_answer_value(g, asked, seat, action, colours, w):
    """Answers that name a card: kept, taken, built, given away, put under the Museum, beautified."""
    if action < actions.BUILD:  # keep, take
        return 0.6 + card_value(g, seat, (action - actions.KEEP) % N_DISTRICTS, colours, w)
    if action < actions.DISCARD:
        card = action - actions.BUILD
        value = valuation.build_value(g, seat, card, colours, w)
        if asked == Ask.WIZARD_BUILD:
            return value
        return 50.0 + value if value > 0.0 or districts.price_to_build(g, seat, card) == 0 else NEVER
    if action < actions.BEAUTIFY:
        worth = card_value(g, seat, (action - actions.DISCARD) % N_DISTRICTS, colours, w)
        hand = np.int64(g.hand_size[seat])
        if action < actions.GIVE:  # the Magician changes cards he will not build
            return 0.6 + w.change_below - worth if worth < w.change_below or (hand > 5 and worth < 2.7 * w.change_below) else NEVER
        if action < actions.LABORATORY:
            return 2.0 - 0.5 * worth
        if action < actions.MUSEUM:
            return 10.0 - worth if worth < w.laboratory_below or (hand >= 4 and worth < 3.0 * w.laboratory_below) else NEVER
        return 15.0 - worth if g.ending or hand >= w.museum_above or worth < w.museum_below else NEVER
    if g.ending or g.gold[seat] >= w.beautify_gold:
        return 6.0 + 0.1 * np.int64(g.rules.cost[action - actions.BEAUTIFY])
    return NEVER


@kernel
def table_value(g, seat, action, w):
    """Warlord, Powder Tower, Diplomat."""
    if action < actions.DESTROY:
        index = action - actions.OFFER
        repeated = 2 * cards.N_REPEATED
        card, coin = index >> 1, index & 1
        if index >= repeated:
            card = index - repeated + cards.N_REPEATED
            coin = np.int64(g.coins[seat, card])
        gain = valuation.best_exchange(g, seat, card, coin, w)
        return 12.0 + gain if gain > w.exchange_least else NEVER
    if action < actions.BLOW_UP:
        target = state.target_of(g, seat, action - actions.DESTROY, 0, MAX_PLAYERS)
        owner, card, coin = target >> 8, target >> 1 & 127, target & 1
        price = districts.price_to_destroy(g, owner, card, coin)
        gain = valuation.threat(g, seat, owner, w) * (valuation.loss(g, owner, card, coin, w) + w.destroy_count) - w.destroy_price * price
        return 5.0 + gain if gain > 0.0 else NEVER
    if action < actions.EXCHANGE_FOR:
        target = state.target_of(g, seat, action - actions.BLOW_UP, 1, MAX_PLAYERS - 1)
        owner, card, coin = target >> 8, target >> 1 & 127, target & 1
        gain = valuation.threat(g, seat, owner, w) * (valuation.loss(g, owner, card, coin, w) + w.destroy_count) - w.blow_up_cost
        return 4.0 + gain if gain > 0.0 else NEVER
    target = state.target_of(g, seat, action - actions.EXCHANGE_FOR, 1, MAX_PLAYERS - 1)
    offered = np.int64(g.arg[g.depth - 1])
    return valuation.exchange_gain(g, seat, offered >> 1, offered & 1, target, w)
