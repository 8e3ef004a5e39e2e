"""What roles do, in rank order; their rows of numbers are in cards.py.

`add_<role>` writes the answers that the role offers in PLAY, and a function named for the verb carries one out.
A role of which nothing stands here is a row, or a named line in turn.py (Tax Collector, King, Queen).
"""

import numpy as np

from . import actions, cards, districts, state
from ._jit import kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS
from .state import bit, players
from .vocabulary import Ask, Role

THIEF_RANK, BISHOP_RANK, KING_RANK = Role.THIEF // 2, Role.BISHOP // 2, Role.KING // 2


# === 1 Assassin, 1 Witch, 2 Thief: they name a role ===========================


@kernel
def add_names(g, moves, n):
    """Roles that may be named: another role; for the Thief not rank 1, the murdered or the bewitched (R9, R10)."""
    own = np.int64(g.turn_role) // 2
    for rank in range(np.int64(g.rules.n_roles)):
        forbidden = g.turn_role == Role.THIEF and (rank == 0 or rank == g.murdered or rank == g.bewitched)
        if rank != own and not forbidden:
            moves[n] = actions.NAME + np.int64(g.rules.role[rank])
            n += 1
    return n


@kernel
def must_name(g):
    """May the turn not end before a role is named?"""
    if g.power_used:
        return False
    if g.turn_role == Role.ASSASSIN:
        return g.rules.assassin_must_name > 0
    return g.turn_role == Role.THIEF and g.rules.thief_must_name > 0


@kernel
def name(g, seat, action):
    """The Assassin or the Thief (or the Witch with the Thief's power) names a role."""
    rank = (action - actions.NAME) // 2
    g.power_used = 1
    if g.turn_role == Role.ASSASSIN:
        g.murdered = rank
    else:
        g.robbed = rank
        g.robber = seat


@kernel
def legal_name(g, seat, moves):
    """The Witch names after her action (R-WITCH-1)."""
    n = add_names(g, moves, 0)
    if not g.rules.witch_must_name:
        moves[n] = actions.DONE
        n += 1
    return n


# === 3 Magician ===============================================================


@kernel
def add_magician(g, seat, moves, n):
    for other in range(players(g)):
        if other != seat:
            moves[n] = actions.SWAP_HANDS + state.distance(g, seat, other) - 1
            n += 1
    return districts.add_hand(g, seat, moves, n, actions.DISCARD)


@kernel
def swap_hands(g, seat, action):
    g.power_used = 1
    other = state.left_of(g, seat, action - actions.SWAP_HANDS + 1)
    for card in range(N_DISTRICTS):
        g.hand[seat, card], g.hand[other, card] = g.hand[other, card], g.hand[seat, card]
        g.known[seat, card], g.known[other, card] = g.known[other, card], g.known[seat, card]
    g.hand_size[seat], g.hand_size[other] = g.hand_size[other], g.hand_size[seat]
    g.any_known[seat], g.any_known[other] = g.any_known[other], g.any_known[seat]
    state.learn_all(g, seat, other)
    state.learn_all(g, other, seat)


@kernel
def legal_discard(g, seat, moves):
    n = districts.add_hand(g, seat, moves, 0, actions.DISCARD)
    moves[n] = actions.DONE
    return n + 1


@kernel
def discard(g, seat, action):
    """Discard card by card; `done` draws as many (R-MAGICIAN)."""
    if action == actions.DONE:
        state.draw(g, seat, state.answered(g))
    else:
        card = action - actions.DISCARD
        state.remove(g, seat, card, bit(seat))
        state.discard(g, card, bit(seat))
        g.arg[g.depth - 1] += 1


# === 3 Wizard =================================================================


@kernel
def add_wizard(g, seat, moves, n):
    for other in range(players(g)):
        if other != seat and g.hand_size[other] > 0:
            moves[n] = actions.LOOK_AT + state.distance(g, seat, other) - 1
            n += 1
    return n


@kernel
def look_at(g, seat, action):
    g.power_used = 1
    other = state.left_of(g, seat, action - actions.LOOK_AT + 1)
    state.learn_all(g, other, seat)
    state.ask(g, Ask.WIZARD_TAKE, seat, other)


@kernel
def legal_wizard_take(g, seat, moves):
    n = districts.add_hand(g, np.int64(g.arg[g.depth - 1]), moves, 0, actions.TAKE)
    moves[n] = actions.DONE
    return n + 1


@kernel
def wizard_take(g, seat, action):
    other = state.answered(g)
    if action == actions.DONE:
        return
    card = action - actions.TAKE
    state.remove(g, other, card, bit(seat) | bit(other))
    state.put(g, seat, card, bit(other))
    if districts.may_build(g, seat, card):
        state.ask(g, Ask.WIZARD_BUILD, seat, card)


@kernel
def legal_wizard_build(g, seat, moves):
    moves[0], moves[1] = actions.BUILD + np.int64(g.arg[g.depth - 1]), actions.DONE
    return 2


@kernel
def wizard_build(g, seat, action):
    card = state.answered(g)
    if action != actions.DONE:
        districts.build(g, seat, card)


# === 4 Emperor ================================================================


@kernel
def legal_crown(g, seat, moves):
    """Anybody but himself; the former holder, or nobody, only if the options say so (R68, X-34)."""
    n = 0
    for other in range(players(g)):
        if other != seat and (other != g.crown or g.rules.emperor_may_return_crown):
            moves[n] = actions.CROWN + state.distance(g, seat, other) - 1
            n += 1
    if g.rules.emperor_may_keep_crown_in_place:
        moves[n] = actions.DONE
        n += 1
    return n


@kernel
def crown(g, seat, action):
    """The crown goes on, with the Throne Room's gold and the tribute; `done` leaves it where it is, without either (X-34)."""
    state.answered(g)
    if action == actions.DONE:
        return
    other = state.left_of(g, seat, action - actions.CROWN + 1)
    holder = np.int64(g.crown)
    if g.rules.throne_room_emperor_counts == 2:
        moves = (1 if holder != seat else 0) + 1
    else:
        moves = 1 if holder != other else 0
    districts.crown_moves(g, other, moves)
    if g.rules.emperor_tribute == state.PAYER_CHOOSES and (g.gold[other] > 0 or g.hand_size[other] > 0):
        state.ask(g, Ask.TRIBUTE, other, seat)


@kernel
def legal_tribute(g, seat, moves):
    n = 0
    if g.gold[seat] > 0:
        moves[0] = actions.GIVE_GOLD
        n = 1
    return districts.add_hand(g, seat, moves, n, actions.GIVE)


@kernel
def tribute(g, seat, action):
    emperor = state.answered(g)
    if action == actions.GIVE_GOLD:
        g.gold[seat] -= 1
        g.gold[emperor] += 1
    else:
        card = action - actions.GIVE
        state.remove(g, seat, card, bit(seat) | bit(emperor))
        state.put(g, emperor, card, bit(seat))


# === 5 Bishop, 5 Abbot ========================================================


@kernel
def protected_seat(g):
    """The city that rank 8 cannot touch: the living Bishop's, or the Witch's if she bewitched him (R-WITCH-7); or -1."""
    if g.rules.role[BISHOP_RANK] != Role.BISHOP or g.murdered == BISHOP_RANK:
        return -1
    if g.bewitched == BISHOP_RANK and g.owner[BISHOP_RANK] >= 0:
        return np.int64(g.witch)
    return np.int64(g.owner[BISHOP_RANK])


@kernel
def abbot_payer(g, seat):
    """The single richest player, unless that is the Abbot (R-ABB-2); or -1."""
    richest, ties = 0, 0
    for other in range(1, players(g)):
        if g.gold[other] > g.gold[richest]:
            richest, ties = other, 0
        elif g.gold[other] == g.gold[richest]:
            ties += 1
    return -1 if ties or richest == seat else richest


# === 6 Merchant, 7 Architect, 5 Abbot, 7 Navigator: gold and cards ============


@kernel
def use_power(g, seat):
    """Merchant's gold, Architect's cards, Abbot's coin."""
    g.power_used = 1
    if g.turn_role == Role.MERCHANT:
        g.gold[seat] += 1
    elif g.turn_role == Role.ARCHITECT:
        state.draw(g, seat, 2)
    else:
        g.gold[abbot_payer(g, seat)] -= 1
        g.gold[seat] += 1


@kernel
def bonus_at(g, seat, timing):
    """Merchant and Architect where their bonus comes by itself (D36)."""
    if (g.turn_role == Role.MERCHANT and g.rules.merchant_bonus_timing == timing) or (
        g.turn_role == Role.ARCHITECT and g.rules.architect_cards_timing == timing
    ):
        use_power(g, seat)


@kernel
def navigate(g, seat, action):
    g.power_used = 1
    g.builds = 0
    if g.rules.navigator_bonus_ends_turn:
        g.closing = 1
    if action == actions.TAKE_4_GOLD:
        g.gold[seat] += 4
    else:
        state.draw(g, seat, 4)


# === 8 Warlord ================================================================


@kernel
def add_warlord(g, seat, moves, n):
    """Districts he can pay for, not in a completed or the Bishop's city, no Keep (R-WARLORD)."""
    protected = protected_seat(g)
    gold = np.int64(g.gold[seat])
    for owner in range(players(g)):
        if owner == protected or districts.complete(g, owner) or (owner == seat and not g.rules.warlord_own_city):
            continue
        for card in range(N_DISTRICTS):
            standing = np.int64(g.city[owner, card])
            if standing == 0 or card == cards.KEEP:
                continue
            coins = np.int64(g.coins[owner, card])
            for beautified in range(2):
                if (coins if beautified else standing - coins) > 0 and gold >= districts.price_to_destroy(g, owner, card, beautified):
                    moves[n] = actions.DESTROY + state.target_offset(g, seat, owner, 0, card, beautified, MAX_PLAYERS)
                    n += 1
    return n


@kernel
def destroy(g, seat, action):
    g.power_used = 1
    if g.rules.warlord_timing == state.END_OF_TURN:
        g.closing = 1
    target = state.target_of(g, seat, action - actions.DESTROY, 0, MAX_PLAYERS)
    owner, card, beautified = target >> 8, target >> 1 & 127, target & 1
    g.gold[seat] -= districts.price_to_destroy(g, owner, card, beautified)
    districts.destroy(g, seat, owner, card, beautified)


# === 8 Diplomat ===============================================================


@kernel
def may_exchange(g, seat, mine, coin, owner, theirs, their_coin):
    """Can the Diplomat pay the difference, and does no forbidden duplicate arise? (R-DIP-2, R-DIP-6, X-10, X-20)"""
    if g.rules.diplomat_no_duplicates:
        allowed = 1 if mine == theirs else 0  # an identical pair changes nothing, unless it stands twice already
        if g.city[seat, theirs] > allowed or g.city[owner, mine] > allowed:
            return False
    return np.int64(g.gold[seat]) >= difference(g, mine, coin, owner, theirs, their_coin)


@kernel
def difference(g, mine, coin, owner, theirs, their_coin):
    """What the Diplomat pays to the other player."""
    wanted = districts.cost(g, theirs, their_coin) + districts.wall_surcharge(g, owner, theirs)
    return max(0, wanted - districts.cost(g, mine, coin))


@kernel
def add_exchanges(g, seat, mine, coin, moves, n, only_one):
    """The districts that may be had for `mine`; with `only_one` the first found is enough."""
    protected = protected_seat(g)
    for owner in range(players(g)):
        if owner == seat or owner == protected or (districts.complete(g, owner) and not g.rules.diplomat_may_target_complete_city):
            continue
        for card in range(N_DISTRICTS):
            standing = np.int64(g.city[owner, card])
            if standing == 0 or card == cards.KEEP:
                continue
            coins = np.int64(g.coins[owner, card])
            for beautified in range(2):
                if (coins if beautified else standing - coins) > 0 and may_exchange(g, seat, mine, coin, owner, card, beautified):
                    moves[n] = actions.EXCHANGE_FOR + state.target_offset(g, seat, owner, 1, card, beautified, MAX_PLAYERS - 1)
                    n += 1
                    if only_one:
                        return n
    return n


@kernel
def add_diplomat(g, seat, moves, n):
    """Own districts for which some exchange is possible."""
    for card in range(N_DISTRICTS):
        standing = np.int64(g.city[seat, card])
        if standing == 0:
            continue
        coins = np.int64(g.coins[seat, card])
        for beautified in range(2):
            if (coins if beautified else standing - coins) > 0 and add_exchanges(g, seat, card, beautified, moves, n, True) > n:
                moves[n] = actions.OFFER + state.own_offset(card, beautified)
                n += 1
    return n


@kernel
def offer(g, seat, action):
    index = action - actions.OFFER
    repeated = 2 * cards.N_REPEATED
    if index >= repeated:
        card = index - repeated + cards.N_REPEATED
        index = card * 2 + np.int64(g.coins[seat, card])
    state.ask(g, Ask.EXCHANGE, seat, index)


@kernel
def legal_exchange(g, seat, moves):
    mine = np.int64(g.arg[g.depth - 1])
    return add_exchanges(g, seat, mine >> 1, mine & 1, moves, 0, False)


@kernel
def exchange(g, seat, action):
    """Districts change cities with their coins; cards under the Museum go along (R-ART-3, X-30)."""
    offered = state.answered(g)
    mine, coin = offered >> 1, offered & 1
    target = state.target_of(g, seat, action - actions.EXCHANGE_FOR, 1, MAX_PLAYERS - 1)
    owner, theirs, their_coin = target >> 8, target >> 1 & 127, target & 1
    g.power_used = 1
    if g.rules.diplomat_timing == state.END_OF_TURN:
        g.closing = 1
    price = difference(g, mine, coin, owner, theirs, their_coin)
    g.gold[seat] -= price
    g.gold[owner] += price
    g.city[seat, mine] -= 1
    g.coins[seat, mine] -= coin
    g.city[owner, mine] += 1
    g.coins[owner, mine] += coin
    g.city[owner, theirs] -= 1
    g.coins[owner, theirs] -= their_coin
    g.city[seat, theirs] += 1
    g.coins[seat, theirs] += their_coin
    if mine == cards.MUSEUM:
        state.learn_all(g, state.MUSEUM_PILE, owner)
    elif theirs == cards.MUSEUM:
        state.learn_all(g, state.MUSEUM_PILE, seat)


# === 9 Artist =================================================================


@kernel
def add_artist(g, seat, moves, n):
    """Districts without a coin (R-ART-1)."""
    for card in range(N_DISTRICTS):
        if g.city[seat, card] > g.coins[seat, card]:
            moves[n] = actions.BEAUTIFY + card
            n += 1
    return n


@kernel
def beautify(g, seat, action):
    g.gold[seat] -= 1
    g.coins[seat, action - actions.BEAUTIFY] += 1
    g.beautified += 1
    if g.beautified == 2:
        g.power_used = 1


# === 9 Queen ==================================================================


@kernel
def queen_seat_bound(g):
    """The seat that the Queen must sit next to (R-QUEEN-1, R-QUEEN-4, D20), or -1; 64 is added if it is not yet known."""
    role, owner = np.int64(g.rules.role[KING_RANK]), np.int64(g.owner[KING_RANK])
    if role == Role.EMPEROR:
        if g.rules.queen_bound_to == state.KING_ONLY:
            return -1
        if g.rules.queen_bound_to == state.BY_CROWN:
            return np.int64(g.crown)
    if owner < 0:
        return -1
    return owner if g.revealed[KING_RANK] else owner + 64


@kernel
def queen_reveals(g, seat):
    """3 gold next to the King at once; for one whose murder is not yet out, after the turn (R-QUEEN-2)."""
    bound = queen_seat_bound(g)
    if bound >= 0:
        apart = state.distance(g, seat, bound & 63)
        if apart == 1 or apart == players(g) - 1:
            if bound >= 64:
                g.queen_waits = 1
            else:
                g.gold[seat] += 3
