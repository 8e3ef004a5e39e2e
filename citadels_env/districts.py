"""What districts do: the numbers they change, and the questions they open.

Every number of the rule book that cards change is one function here, which names every card that changes it.
"""

import numpy as np

from . import actions, cards, state
from ._jit import kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS
from .state import ALL_SEATS, bit, players
from .vocabulary import Ask, Colour, Role

FIRST_UNIQUE = state.FIRST_OF_COLOUR[Colour.UNIQUE]


# --- numbers that districts change --------------------------------------------


@kernel
def has(g, seat, card):
    """Does `card` stand in the city of `seat`?"""
    return g.city[seat, card] > 0


@kernel
def owner_of(g, card):
    """The seat in whose city the single-copy district `card` stands, or -1."""
    for seat in range(players(g)):
        if g.city[seat, card] > 0:
            return seat
    return -1


@kernel
def complete(g, seat):
    """Has the city the number of districts that ends the game? (Bell Tower: X-23)"""
    return g.city_size[seat] >= g.districts_to_end


@kernel
def cost(g, card, beautified):
    """What a standing district counts for destruction and exchange: as printed, and the Artist's coin (R-ART-2)."""
    return np.int64(g.rules.cost[card]) + beautified


@kernel
def price_to_build(g, seat, card):
    """Factory first, then Quarry, whose minimum of 1 never raises a price (X-21)."""
    price = np.int64(g.rules.cost[card])
    if card >= FIRST_UNIQUE and card != cards.FACTORY and g.city[seat, cards.FACTORY] > 0:
        price = max(0, price - 1)
    if g.rules.quarry == state.DISCOUNT and g.city[seat, card] > 0 and g.city[seat, cards.QUARRY] > 0:
        price = max(min(1, price), price - np.int64(g.city[seat, card]))
    return price


@kernel
def may_stand_twice(g, seat, card):
    """May `seat` build `card` although it stands there already? (D2, Quarry, Wizard)"""
    if g.rules.duplicates_allowed:
        return True
    if g.rules.wizard_may_duplicate and g.turn_role == Role.WIZARD:
        return True
    if g.city[seat, cards.QUARRY] == 0 or g.rules.quarry == state.DISCOUNT:
        return False
    if g.rules.quarry == state.ANY_DUPLICATES:
        return True
    for other in range(N_DISTRICTS):
        if g.city[seat, other] > 1:
            return False
    return True


@kernel
def may_build(g, seat, card):
    """Can `seat` pay for a `card` of its hand and is it allowed in the city?"""
    return np.int64(g.gold[seat]) >= price_to_build(g, seat, card) and (g.city[seat, card] == 0 or may_stand_twice(g, seat, card))


@kernel
def wall_surcharge(g, owner, card):
    """The Great Wall: 1 gold more for a district of its owner (D31: or only for the others)."""
    return 1 if g.city[owner, cards.GREAT_WALL] > 0 and (card != cards.GREAT_WALL or g.rules.great_wall_protects_itself) else 0


@kernel
def price_to_destroy(g, owner, card, beautified):
    """The Warlord pays 1 less than the cost, and the Great Wall's surcharge (X-20)."""
    return max(0, cost(g, card, beautified) - 1) + wall_surcharge(g, owner, card)


@kernel
def cards_drawn(g, seat):
    """Cards seen in the action (Observatory)."""
    return 3 if has(g, seat, cards.OBSERVATORY) else 2


@kernel
def cards_kept(g, seat):
    """Cards kept of those (Library)."""
    return 2 if has(g, seat, cards.LIBRARY) else 1


@kernel
def income(g, seat, role):
    """Gold for the districts of the role's colour; the School of Magic has that colour, too."""
    colour = cards.ROLE_COLOUR[role]
    if colour < 0:
        return 0
    return state.count_colour(g, seat, colour) + np.int64(g.city[seat, cards.SCHOOL_OF_MAGIC])


@kernel
def crown_moves(g, to, times):
    """The Throne Room's owner takes 1 gold for each move of the crown."""
    g.crown = to
    owner = owner_of(g, cards.THRONE_ROOM)
    if owner >= 0:
        g.gold[owner] += times


# --- building and losing districts --------------------------------------------


@kernel
def build(g, seat, card):
    """Pay for a card of the hand and place it."""
    price = price_to_build(g, seat, card)
    state.remove(g, seat, card, ALL_SEATS)
    g.gold[seat] -= price
    g.built = 1
    if g.turn_role == Role.ALCHEMIST:
        if g.rules.alchemist_refund == state.IMMEDIATE:
            g.gold[seat] += price
        else:
            g.spent += price
    g.city[seat, card] += 1
    g.city_size[seat] += 1
    certain = g.ending  # before this district
    if complete(g, seat) and not g.ending:
        g.ending = 1
        g.first_completers = bit(seat)
    if card == cards.HAUNTED_CITY:
        g.haunted_round = g.round_number
    elif card == cards.LIGHTHOUSE and g.deck_size > 0:
        see_deck(g, seat)
        state.ask(g, Ask.LIGHTHOUSE, seat, 0)
    elif card == cards.BELL_TOWER and not (certain and g.rules.bell_tower_choice == state.MAY_ANNOUNCE):
        state.ask(g, Ask.BELL_TOWER, seat, 0)


@kernel
def take_down(g, owner, card, beautified):
    """Take a district off a city; what lies on or under it goes, too."""
    g.city[owner, card] -= 1
    g.coins[owner, card] -= beautified
    g.city_size[owner] -= 1
    if card == cards.BELL_TOWER:
        g.districts_to_end = g.rules.city_size
    elif card == cards.MUSEUM:
        for under in range(N_DISTRICTS):
            for _ in range(np.int64(g.hand[state.MUSEUM_PILE, under])):
                state.discard(g, under, bit(owner))
            g.hand[state.MUSEUM_PILE, under] = 0
            g.known[state.MUSEUM_PILE, under] = 0
        g.hand_size[state.MUSEUM_PILE] = 0


@kernel
def destroy(g, by, owner, card, beautified):
    """The Warlord's destruction: the Graveyard's owner may take the card (D-GRAVEYARD, X-22)."""
    take_down(g, owner, card, beautified)
    seat = owner_of(g, cards.GRAVEYARD)
    if seat >= 0 and seat != by and g.gold[seat] > 0:
        state.ask(g, Ask.GRAVEYARD, seat, card)
    else:
        state.discard(g, card, ALL_SEATS)


# --- Graveyard ----------------------------------------------------------------


@kernel
def legal_graveyard(g, seat, moves):
    moves[0], moves[1] = actions.YES, actions.NO
    return 2


@kernel
def graveyard(g, seat, action):
    card = state.answered(g)
    if action == actions.YES:
        g.gold[seat] -= 1
        state.put(g, seat, card, ALL_SEATS)
    else:
        state.discard(g, card, ALL_SEATS)


# --- Lighthouse ---------------------------------------------------------------


@kernel
def see_deck(g, seat):
    """`seat` looks through the whole deck."""
    g.deck_viewer = seat
    for height in range(np.int64(g.deck_ordered)):
        g.deck_seen[state.place_in_deck(g, height)] |= bit(seat)


@kernel
def legal_lighthouse(g, seat, moves):
    n = 0
    for card in range(N_DISTRICTS):
        for height in range(np.int64(g.deck_size)):
            if g.deck[state.place_in_deck(g, height)] == card:
                moves[n] = actions.TAKE + card
                n += 1
                break
    moves[n] = actions.DONE
    return n + 1


@kernel
def lighthouse(g, seat, action):
    state.answered(g)
    if action != actions.DONE:
        card = action - actions.TAKE
        height = 0
        while g.deck[state.place_in_deck(g, height)] != card:
            height += 1
        top = np.int64(g.deck_size) - 1
        g.deck[state.place_in_deck(g, height)] = g.deck[state.place_in_deck(g, top)]
        g.deck_size = top
        state.put(g, seat, card, 0)
    state.shuffle_deck(g)
    g.deck_viewer = seat


# --- Bell Tower ---------------------------------------------------------------


@kernel
def legal_bell_tower(g, seat, moves):
    full = np.int64(g.rules.city_size)
    moves[0], moves[1] = actions.END_AT + full - 1 - actions.FIRST_END, actions.END_AT + full - actions.FIRST_END
    return 2


@kernel
def bell_tower(g, seat, action):
    """All who have the smaller number when it is announced complete their cities together (R136)."""
    state.answered(g)
    g.districts_to_end = action - actions.END_AT + actions.FIRST_END
    if not g.ending:
        for other in range(players(g)):
            if complete(g, other):
                g.ending = 1
                g.first_completers |= bit(other)


# --- Powder Tower -------------------------------------------------------------


@kernel
def add_blow_up(g, seat, moves, n):
    """`blow up`: any district of another player, protected or not (D-POWDER)."""
    for owner in range(players(g)):
        if owner != seat and (g.rules.powder_tower_complete_city or not complete(g, owner)):
            for card in range(N_DISTRICTS):
                standing = np.int64(g.city[owner, card])
                if standing == 0:
                    continue
                coins = np.int64(g.coins[owner, card])
                for beautified in range(2):
                    if (coins if beautified else standing - coins) > 0:
                        offset = state.target_offset(g, seat, owner, 1, card, beautified, MAX_PLAYERS - 1)
                        moves[n] = actions.BLOW_UP + offset
                        n += 1
    return n


@kernel
def blow_up(g, seat, action):
    target = state.target_of(g, seat, action - actions.BLOW_UP, 1, MAX_PLAYERS - 1)
    take_down(g, seat, cards.POWDER_TOWER, np.int64(g.coins[seat, cards.POWDER_TOWER]))
    state.discard(g, cards.POWDER_TOWER, ALL_SEATS)
    card = target >> 1 & 127
    take_down(g, target >> 8, card, target & 1)
    state.discard(g, card, ALL_SEATS)


# --- Laboratory, Smithy, Museum -----------------------------------------------


@kernel
def add_hand(g, seat, moves, n, verb):
    """One answer per type of card in hand."""
    for card in range(N_DISTRICTS):
        if g.hand[seat, card] > 0:
            moves[n] = verb + card
            n += 1
    return n


@kernel
def laboratory(g, seat, card):
    state.remove(g, seat, card, bit(seat))
    state.discard(g, card, bit(seat))
    g.gold[seat] += np.int64(g.rules.laboratory_gold)
    g.used_laboratory = 1


@kernel
def smithy(g, seat):
    g.gold[seat] -= np.int64(g.rules.smithy_cost)
    g.used_smithy = 1
    state.draw(g, seat, np.int64(g.rules.smithy_cards))


@kernel
def museum(g, seat, card):
    state.remove(g, seat, card, bit(seat))
    state.put(g, state.MUSEUM_PILE, card, bit(seat))
    g.used_museum = 1


# --- Park ---------------------------------------------------------------------


@kernel
def legal_park(g, seat, moves):
    moves[0], moves[1] = actions.YES, actions.NO
    return 2
