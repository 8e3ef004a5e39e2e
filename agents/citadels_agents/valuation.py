"""What cards, roles and harm are worth to a seat: the judgement behind the heuristic player.

Every function reads only what its seat knows: public figures and, where `own` says so, its own hand.  `w` is a
record of weights (weights.py).
"""

import numpy as np

from citadels_env import cards, districts, roles, state
from citadels_env._jit import kernel
from citadels_env.cards import N_DISTRICTS
from citadels_env.state import players
from citadels_env.vocabulary import Role


@kernel
def colours_shown(g, seat):
    """The colours (a set of bits) of a city."""
    shown = 0
    for colour in range(5):
        if state.count_colour(g, seat, colour) > 0:
            shown |= 1 << colour
    return shown


@kernel
def to_go(g, seat):
    """Districts a seat still needs to complete its city."""
    return max(0, np.int64(g.districts_to_end) - np.int64(g.city_size[seat]))


@kernel
def leader(g, seat):
    """The most dangerous other seat: the largest city, then the most gold and cards."""
    best, best_value = -1, -1.0
    for other in range(players(g)):
        if other != seat:
            value = 10.0 * g.city_size[other] + g.gold[other] + 0.5 * g.hand_size[other]
            if value > best_value:
                best, best_value = other, value
    return best


@kernel
def threat(g, seat, owner, w):
    """How much it helps to take a point from a player."""
    if owner == seat:
        return -1.0
    value = w.threat
    if owner == leader(g, seat):
        value += w.threat_leader
    if to_go(g, owner) <= w.near:
        value += w.threat_near
    return value


@kernel
def card_value(g, seat, card, colours, w):
    """What holding `card` is worth to a seat that would like to build it."""
    if g.city[seat, card] > 0 and not districts.may_stand_twice(g, seat, card):
        return w.useless
    price = districts.price_to_build(g, seat, card)
    gold = np.int64(g.gold[seat])
    value = w.printed * g.rules.points[card] + w.extra[card] - w.price * price
    if not colours >> cards.COLOUR[card] & 1:
        value += w.new_colour
    if g.turn_role >= 0 and cards.ROLE_COLOUR[g.turn_role] == cards.COLOUR[card]:
        value += w.own_colour
    if price > gold + w.reach:
        value -= w.out_of_reach * (price - gold - w.reach)
    if to_go(g, seat) <= 2 and price > gold + 2:
        value -= w.late
    return value


@kernel
def build_value(g, seat, card, colours, w):
    """What building `card` now is worth."""
    value = card_value(g, seat, card, colours, w)
    if g.turn_role == Role.ALCHEMIST:
        value += w.refund * districts.price_to_build(g, seat, card)
    if to_go(g, seat) == 1:
        value += w.finish
    return value


@kernel
def best_affordable(g, seat, gold, colours, w):
    """The best value of a hand card that costs at most `gold`; negative if there is none."""
    best = -1.0
    for card in range(N_DISTRICTS):
        if g.hand[seat, card] > 0 and districts.price_to_build(g, seat, card) <= gold:
            if g.city[seat, card] == 0 or districts.may_stand_twice(g, seat, card):
                best = max(best, card_value(g, seat, card, colours, w))
    return best


@kernel
def loss(g, owner, card, coin, w):
    """Points a player loses with a standing district."""
    return np.int64(g.rules.points[card]) + coin + 0.5 * w.extra[card]


@kernel
def exchange_gain(g, seat, mine, coin, target, w):
    """Points won by an exchange, for oneself and against its victim."""
    owner, theirs, their_coin = target >> 8, target >> 1 & 127, target & 1
    won = loss(g, owner, theirs, their_coin, w) - loss(g, seat, mine, coin, w)
    price = roles.difference(g, mine, coin, owner, theirs, their_coin)
    return won * (1.0 + 0.5 * threat(g, seat, owner, w)) - w.exchange_price * price


@kernel
def best_exchange(g, seat, mine, coin, w):
    """The best that can be had for a district of one's own."""
    best = -10.0
    protected = roles.protected_seat(g)
    for owner in range(players(g)):
        if owner == seat or owner == protected or (districts.complete(g, owner) and not g.rules.diplomat_may_target_complete_city):
            continue
        for card in range(N_DISTRICTS):
            if g.city[owner, card] > 0 and card != cards.KEEP:
                their_coin = 1 if g.coins[owner, card] > 0 else 0
                if roles.may_exchange(g, seat, mine, coin, owner, card, their_coin):
                    best = max(best, exchange_gain(g, seat, mine, coin, owner * 256 + card * 2 + their_coin, w))
    return best


@kernel
def role_value(g, seat, role, own, w):
    """What a role promises to a seat; with `own` its hand is known and counts."""
    gold, size, hand = np.int64(g.gold[seat]), np.int64(g.city_size[seat]), np.int64(g.hand_size[seat])
    value = w.role[role] + w.income * districts.income(g, seat, role)
    near = to_go(g, leader(g, seat)) <= w.near
    if role == Role.ASSASSIN:
        value += (w.murder_near if near else 0.0) + (w.murder_ahead if size >= 5 else 0.0)
    elif role == Role.WITCH:
        value += w.witch_rich if gold >= 4 else 0.0
    elif role == Role.THIEF:
        purse = 0
        for other in range(players(g)):
            if other != seat:
                purse += np.int64(g.gold[other])
        value += w.purse * purse / (players(g) - 1)
    elif role == Role.TAX_COLLECTOR:
        value += w.taxes * (players(g) - 1)
    elif role == Role.MAGICIAN:
        most = 0
        for other in range(players(g)):
            if other != seat:
                most = max(most, np.int64(g.hand_size[other]))
        value += w.swap * max(0, most - hand) + (w.swap_empty if hand == 0 else 0.0)
    elif role == Role.WIZARD:
        value += w.look_poor if hand <= 1 else 0.0
    elif role == Role.BISHOP:
        value += w.shelter if size >= 5 and g.rules.role[7] == Role.WARLORD else 0.3
    elif role == Role.ALCHEMIST:
        value += w.alchemy * min(gold + 2, 6) if hand > 0 else 0.0
    elif role == Role.ARCHITECT:
        value += (w.architect_ready if gold >= 4 and hand >= 2 else 0.0) + (w.architect_near if near and gold >= 5 else 0.0)
    elif role == Role.NAVIGATOR:
        value += w.navigate_poor if gold <= 2 or hand == 0 else 0.0
        if to_go(g, seat) <= 1:
            value += w.navigate_last
    elif role == Role.WARLORD:
        value += w.war_near if near else 0.0
    elif role == Role.DIPLOMAT:
        value += w.diplomacy if size >= 3 else 0.0
    elif role == Role.ARTIST:
        value += w.art_ready if size >= 3 and gold >= 2 else 0.0
    if own and (role == Role.ARCHITECT or role == Role.ALCHEMIST):
        affordable = 0
        for card in range(N_DISTRICTS):
            if g.hand[seat, card] > 0 and districts.price_to_build(g, seat, card) <= gold + 2:
                affordable += 1
        if affordable == 0:
            value -= w.hand_fits
        elif role == Role.ARCHITECT and affordable >= 2:
            value += 0.7 * w.hand_fits
    return value
