"""A sensible player as one kernel function: `choose` weighs every answer and takes the best.

It reads only what its seat knows: public figures, its own hand and roles, and the roles it saw in the draft.
Values are in points of the final score, roughly: a gold is worth about half a point, a card in hand less.
The order in which a turn is played comes from the size of the values: free gains first, then naming, building,
income, and what may follow with the gold that is left.
"""

import numpy as np

from citadels_env import actions, cards, districts, roles, state, turn
from citadels_env._jit import kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.cards import N_DISTRICTS
from citadels_env.state import players
from citadels_env.vocabulary import Ask, Role

NEVER = -1000.0
# Points that a unique district is worth beyond those printed, for a city with some turns to go.
EXTRA = np.zeros(N_DISTRICTS)
for _name, _extra in {
    "Laboratory": 1.0, "Smithy": 1.0, "Observatory": 1.0, "Graveyard": 0.5, "Library": 1.5, "School of Magic": 1.5, "Great Wall": 0.5,
    "Quarry": 0.5, "Wishing Well": 1.0, "Imperial Treasury": 2.0, "Map Room": 2.0, "Poor House": 1.5, "Lighthouse": 1.0, "Park": 1.0,
    "Factory": 1.0, "Museum": 3.0, "Bell Tower": 1.0, "Throne Room": 1.0, "Powder Tower": 1.0, "Haunted City": 1.0, "Hospital": 0.3,
}.items():  # fmt: skip
    EXTRA[cards.DISTRICT_INDEX[_name]] = _extra


@kernel
def choose(g, moves, n):
    """The answer of the seat that is asked, out of the first `n` of `moves`."""
    asked, seat = np.int64(g.ask[g.depth - 1]), np.int64(g.actor[g.depth - 1])
    colours = colours_shown(g, seat)
    naming = asked == Ask.NAME or (asked == Ask.PLAY and (g.turn_role == Role.ASSASSIN or g.turn_role == Role.THIEF) and not g.power_used)
    passed = roles_passed(g, seat) if naming else 0
    urgent = saving_matters(g, seat, colours) if asked == Ask.PLAY else False
    best, best_value = moves[0], -1.0e9
    for i in range(n):
        value = value_of(g, asked, seat, moves[i], colours, passed, urgent)
        if value > best_value:
            best, best_value = moves[i], value
    return best


@kernel
def noise(g):
    """A random number in [0, 1): drafts and names must not be foreseen."""
    return state.random_below(g, state.PLAY_STREAM, 1024) / 1024.0


# --- figures ------------------------------------------------------------------


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
def last_round(g, seat):
    """Is this most likely the seat's last turn?"""
    return g.ending > 0


@kernel
def card_value(g, seat, card, colours):
    """What holding `card` is worth to a seat that would like to build it."""
    price = districts.price_to_build(g, seat, card)
    gold = np.int64(g.gold[seat])
    value = np.int64(g.rules.points[card]) + EXTRA[card]
    if not colours >> cards.COLOUR[card] & 1:
        value += 1.5
    if g.city[seat, card] > 0 and not districts.may_stand_twice(g, seat, card):
        return 0.2
    if price > gold + 4:
        value -= 0.7 * (price - gold - 4)
    if to_go(g, seat) <= 2 and price > gold + 2:
        value -= 2.0
    if card == cards.QUARRY and g.rules.duplicates_allowed and g.rules.quarry != state.DISCOUNT:
        value -= 0.5
    return value


@kernel
def build_value(g, seat, card, colours):
    """What building `card` now is worth."""
    value = card_value(g, seat, card, colours)
    if g.turn_role == Role.ALCHEMIST:
        value += 0.5 * districts.price_to_build(g, seat, card)
    if to_go(g, seat) == 1:
        value += 3.0
    return value


@kernel
def best_affordable(g, seat, gold, colours):
    """The best value of a hand card that costs at most `gold`; negative if there is none."""
    best = -1.0
    for card in range(N_DISTRICTS):
        if g.hand[seat, card] > 0 and districts.price_to_build(g, seat, card) <= gold:
            if g.city[seat, card] == 0 or districts.may_stand_twice(g, seat, card):
                best = max(best, card_value(g, seat, card, colours))
    return best


@kernel
def saving_matters(g, seat, colours):
    """Would the income of this turn make a better district affordable?"""
    if g.income_taken or g.builds == 0:
        return False
    gold = np.int64(g.gold[seat])
    pay = districts.income(g, seat, np.int64(g.turn_role))
    return pay > 0 and best_affordable(g, seat, gold + pay, colours) > best_affordable(g, seat, gold, colours)


@kernel
def loss(g, owner, card, coin):
    """Points a player loses with a standing district."""
    return np.int64(g.rules.points[card]) + coin + 0.5 * EXTRA[card]


# --- roles --------------------------------------------------------------------


@kernel
def role_value(g, seat, role, own):
    """What a role promises to a seat; with `own` its hand is known and counts."""
    gold, size, hand = np.int64(g.gold[seat]), np.int64(g.city_size[seat]), np.int64(g.hand_size[seat])
    value = 1.0 * districts.income(g, seat, role)
    danger = np.int64(g.city_size[leader(g, seat)])
    near = np.int64(g.districts_to_end) - danger <= 2
    if role == Role.ASSASSIN:
        value += 1.6 + (2.5 if near else 0.0) + (1.5 if size >= 5 else 0.0)
    elif role == Role.WITCH:
        value += 1.8 + (1.0 if gold >= 4 else 0.0)
    elif role == Role.THIEF:
        purse = 0
        for other in range(players(g)):
            if other != seat:
                purse += np.int64(g.gold[other])
        value += 0.6 + 0.9 * purse / (players(g) - 1)
    elif role == Role.TAX_COLLECTOR:
        value += 0.6 + 0.45 * (players(g) - 1)
    elif role == Role.MAGICIAN:
        most = 0
        for other in range(players(g)):
            if other != seat:
                most = max(most, np.int64(g.hand_size[other]))
        value += 0.6 + 0.7 * max(0, most - hand) + (0.8 if hand == 0 else 0.0)
    elif role == Role.WIZARD:
        value += 2.0 + (0.8 if hand <= 1 else 0.0)
    elif role == Role.KING:
        value += 1.8
    elif role == Role.EMPEROR:
        value += 1.4
    elif role == Role.BISHOP:
        value += 0.7 + (1.5 if size >= 5 and g.rules.role[7] == Role.WARLORD else 0.3)
    elif role == Role.ABBOT:
        value += 1.3
    elif role == Role.MERCHANT:
        value += 1.6
    elif role == Role.ALCHEMIST:
        value += 0.4 + 0.45 * min(gold + 2, 6) if hand > 0 else 0.3
    elif role == Role.ARCHITECT:
        value += 2.0 + (1.5 if gold >= 4 and hand >= 2 else 0.0) + (1.5 if near and gold >= 5 else 0.0)
    elif role == Role.NAVIGATOR:
        value += 3.2 if gold <= 2 or hand == 0 else 1.5
        if to_go(g, seat) <= 1:
            value -= 2.0
    elif role == Role.WARLORD:
        value += 0.9 + (1.8 if near else 0.0)
    elif role == Role.DIPLOMAT:
        value += 1.0 + (0.8 if size >= 3 else 0.0)
    elif role == Role.ARTIST:
        value += 1.2 + (0.8 if size >= 3 and gold >= 2 else 0.0)
    elif role == Role.QUEEN:
        value += 1.2
    if own and (role == Role.ARCHITECT or role == Role.ALCHEMIST):
        affordable = 0
        for card in range(N_DISTRICTS):
            if g.hand[seat, card] > 0 and districts.price_to_build(g, seat, card) <= gold + 2:
                affordable += 1
        if affordable == 0:
            value -= 1.5
        elif role == Role.ARCHITECT and affordable >= 2:
            value += 1.0
    return value


@kernel
def roles_passed(g, seat):
    """Ranks (a set of bits) the seat passed on at its last visit of the draft: later drafters or nobody hold them."""
    pool = 0
    n_steps = turn.N_STEPS[g.rules.n_players]
    for step in range(n_steps):
        if turn.step_seat(g, step) == seat:
            pool = turn.offered(g, step)
            for rank in range(np.int64(g.rules.n_roles)):
                if g.drafted_at[rank] == step:
                    pool &= ~(1 << rank)
    return pool


@kernel
def seats_after(g, seat):
    """Choices that were made in the draft after the seat's last one."""
    n_steps = turn.N_STEPS[g.rules.n_players]
    after = 0
    for step in range(n_steps):
        if turn.step_seat(g, step) == seat:
            after = 0
        elif not turn.STEP_BURIES[g.rules.n_players, step]:
            after += 1
    return after


@kernel
def chance_held(g, seat, rank, passed):
    """How likely another seat still to be called holds `rank`: by elimination from the draft and the calls."""
    if g.drafted_at[rank] == state.FACE_UP or g.owner[rank] == seat or rank <= g.called:
        return 0.0
    n_roles = np.int64(g.rules.n_roles)
    among = 0
    for other in range(n_roles):
        aside = g.drafted_at[other] == state.FACE_UP or g.owner[other] == seat
        if not aside and passed >> other & 1 == passed >> rank & 1:
            among += 1
    after = seats_after(g, seat)
    picks = 0
    for step in range(turn.N_STEPS[g.rules.n_players]):
        if turn.step_seat(g, step) != seat and not turn.STEP_BURIES[g.rules.n_players, step]:
            picks += 1
    holders = after if passed >> rank & 1 else picks - after
    return min(1.0, holders / max(1, among))


@kernel
def name_value(g, seat, action, passed):
    """What naming a role is worth: the chance that it is held, times what it is worth to its likely holder."""
    role = action - actions.NAME
    rank = role // 2
    held = chance_held(g, seat, rank, passed)
    if g.turn_role == Role.WITCH:
        return held * (1.0 + role_value(g, seat, role, True)) + 0.5 * noise(g)
    front = leader(g, seat)
    if g.turn_role == Role.THIEF:
        richest = 0.0
        for other in range(players(g)):
            if other != seat and not has_revealed(g, other):
                richest = max(richest, g.gold[other] * (0.5 + 0.15 * role_value(g, other, role, False)))
        return held * (1.0 + richest) + 0.8 * noise(g)
    worth = role_value(g, front, role, False)
    if to_go(g, front) <= 2 and (role == Role.ARCHITECT or role == Role.BISHOP or role == Role.KING):
        worth += 1.0
    if role == Role.WARLORD or role == Role.DIPLOMAT:
        worth += 0.2 * g.city_size[seat]
    return held * (1.0 + worth) + 1.2 * noise(g)


@kernel
def has_revealed(g, seat):
    for rank in range(np.int64(g.rules.n_roles)):
        if g.revealed[rank] and g.owner[rank] == seat:
            return True
    return False


# --- answers ------------------------------------------------------------------


@kernel
def value_of(g, asked, seat, action, colours, passed, urgent):
    """The value of one answer."""
    if action < actions.BURY:
        return role_value(g, seat, action - actions.DRAFT, True) + 1.0 * noise(g)
    if action < actions.NAME:
        return role_value(g, leader(g, seat), action - actions.BURY, False) + 0.5 * noise(g)
    if action < actions.TAKE_GOLD:
        value = name_value(g, seat, action, passed)
        return 200.0 + value if asked == Ask.PLAY else value
    if action < actions.SWAP_HANDS:
        return plain_value(g, asked, seat, action, colours, urgent)
    if action < actions.KEEP:
        return player_value(g, seat, action)
    if action < actions.OFFER:
        return card_answer_value(g, asked, seat, action, colours)
    return table_value(g, seat, action)


@kernel
def plain_value(g, asked, seat, action, colours, urgent):
    """Answers without an argument, and the Bell Tower's."""
    gold, hand = np.int64(g.gold[seat]), np.int64(g.hand_size[seat])
    if action == actions.TAKE_GOLD:
        return 100.0
    if action == actions.DRAW_CARDS:
        income = districts.income(g, seat, np.int64(g.turn_role)) if not g.income_taken else 0
        soon = best_affordable(g, seat, gold + 2 + income, colours)
        now = best_affordable(g, seat, gold + income, colours)
        if hand == 0 or (soon < 0.5 and gold >= 4) or (now > 2.0 and hand <= 1 and gold >= 5):
            return 101.0
        return 99.0
    if action == actions.INCOME:
        return 90.0 if urgent else 20.0
    if action == actions.USE_POWER:
        return 150.0
    if action == actions.TAKE_4_GOLD:
        return 80.0 if hand >= 2 else 78.0
    if action == actions.DRAW_4_CARDS:
        return 79.0
    if action == actions.SMITHY:
        return 8.0 if hand <= 1 and gold >= np.int64(g.rules.smithy_cost) and not last_round(g, seat) else NEVER
    if action == actions.GIVE_GOLD:
        return 1.0 if gold >= 3 or hand == 0 else 0.6
    if action == actions.END_TURN:
        return 0.0
    if action == actions.DONE:
        return 0.5
    if action == actions.YES:
        if asked == Ask.GRAVEYARD:
            return card_value(g, seat, np.int64(g.arg[g.depth - 1]), colours) - 2.5
        return 1.0
    if action == actions.STAY_SILENT:
        return NEVER
    if action >= actions.END_AT:
        early = action - actions.END_AT + actions.FIRST_END < g.rules.city_size
        front = np.int64(g.city_size[leader(g, seat)])
        return 1.0 if early == (g.city_size[seat] > front or (g.ending > 0 and districts.complete(g, seat))) else 0.0
    return 0.0


@kernel
def player_value(g, seat, action):
    """Magician's swap, Wizard's look, the Emperor's crown."""
    if action < actions.LOOK_AT:
        other = state.left_of(g, seat, action - actions.SWAP_HANDS + 1)
        more = np.int64(g.hand_size[other]) - np.int64(g.hand_size[seat])
        return 120.0 + more if more >= 2 else NEVER
    if action < actions.CROWN:
        other = state.left_of(g, seat, action - actions.LOOK_AT + 1)
        return 110.0 + g.hand_size[other] + 0.3 * g.city_size[other]
    other = state.left_of(g, seat, action - actions.CROWN + 1)
    places = action - actions.CROWN + 1
    value = 3.0 * places / players(g) - 0.8 * (np.int64(g.city_size[other]) - np.int64(g.city_size[seat]))
    if g.rules.emperor_tribute == state.PAYER_CHOOSES and g.gold[other] + g.hand_size[other] > 0:
        value += 1.0
    return value


@kernel
def card_answer_value(g, asked, seat, action, colours):
    """Answers that name a card: kept, taken, built, given away, put under the Museum, beautified."""
    if action < actions.BUILD:  # keep, take
        card = (action - actions.KEEP) % N_DISTRICTS
        return 0.6 + card_value(g, seat, card, colours)
    if action < actions.DISCARD:
        card = action - actions.BUILD
        value = build_value(g, seat, card, colours)
        if asked == Ask.WIZARD_BUILD:
            return value
        return 50.0 + value if value > 0.0 or districts.price_to_build(g, seat, card) == 0 else NEVER
    if action < actions.BEAUTIFY:
        card = (action - actions.DISCARD) % N_DISTRICTS
        worth = card_value(g, seat, card, colours)
        spare = np.int64(g.hand_size[seat])
        if action < actions.GIVE:  # the Magician changes cards he will not build
            return 0.6 + 0.9 - worth if worth < 0.9 or (spare > 5 and worth < 2.5) else NEVER
        if action < actions.LABORATORY:
            return 2.0 - 0.5 * worth
        if action < actions.MUSEUM:
            return 10.0 - worth if worth < 0.9 or (spare >= 4 and worth < 3.0) else NEVER
        if last_round(g, seat) or spare >= 3 or worth < 1.5:
            return 15.0 - worth
        return NEVER
    gold = np.int64(g.gold[seat])
    if last_round(g, seat) or gold >= 2:
        return 6.0 + 0.1 * np.int64(g.rules.cost[action - actions.BEAUTIFY])
    return NEVER


@kernel
def threat(g, seat, owner):
    """How much it helps to harm a player: most against who leads, and against who is about to finish."""
    if owner == seat:
        return -1.0
    value = 0.35
    if owner == leader(g, seat):
        value = 0.8
    if to_go(g, owner) <= 2:
        value += 0.5
    return value


@kernel
def table_value(g, seat, action):
    """Warlord, Powder Tower, Diplomat."""
    if action < actions.DESTROY:
        index = action - actions.OFFER
        repeated = 2 * cards.N_REPEATED
        card, coin = index >> 1, index & 1
        if index >= repeated:
            card = index - repeated + cards.N_REPEATED
            coin = np.int64(g.coins[seat, card])
        gain = best_exchange(g, seat, card, coin)
        return 12.0 + gain if gain > 0.8 else NEVER
    if action < actions.BLOW_UP:
        target = state.target_of(g, seat, action - actions.DESTROY, 0, MAX_PLAYERS)
        owner, card, coin = target >> 8, target >> 1 & 127, target & 1
        price = districts.price_to_destroy(g, owner, card, coin)
        gain = threat(g, seat, owner) * (loss(g, owner, card, coin) + 1.0) - 0.7 * price
        return 5.0 + gain if gain > 0.0 else NEVER
    if action < actions.EXCHANGE_FOR:
        target = state.target_of(g, seat, action - actions.BLOW_UP, 1, MAX_PLAYERS - 1)
        owner, card, coin = target >> 8, target >> 1 & 127, target & 1
        gain = threat(g, seat, owner) * (loss(g, owner, card, coin) + 1.0) - 5.5
        return 4.0 + gain if gain > 0.0 else NEVER
    target = state.target_of(g, seat, action - actions.EXCHANGE_FOR, 1, MAX_PLAYERS - 1)
    offered = np.int64(g.arg[g.depth - 1])
    return exchange_gain(g, seat, offered >> 1, offered & 1, target)


@kernel
def exchange_gain(g, seat, mine, coin, target):
    """Points won by an exchange, for oneself and against its victim."""
    owner, theirs, their_coin = target >> 8, target >> 1 & 127, target & 1
    won = loss(g, owner, theirs, their_coin) - loss(g, seat, mine, coin)
    price = roles.difference(g, mine, coin, owner, theirs, their_coin)
    return won * (1.0 + 0.4 * threat(g, seat, owner)) - 0.7 * price


@kernel
def best_exchange(g, seat, mine, coin):
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
                    best = max(best, exchange_gain(g, seat, mine, coin, owner * 256 + card * 2 + their_coin))
    return best
