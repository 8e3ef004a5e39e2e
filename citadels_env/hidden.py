"""Hidden information: deal everything a seat cannot know anew (determinisation).

`redeal` keeps all that the seat knows - its cards and roles, what it saw and passed on in the draft, what
others revealed or did not answer to, cards it is sure of in other places - and draws the rest uniformly from
what that leaves possible.
"""

import numpy as np

from . import cards, districts, roles, state, turn
from ._jit import kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS, N_RANKS
from .state import players
from .vocabulary import Ask, Role

TRIES = 64  # for the one condition that is checked after the draw: a silent murdered role has no Hospital
DOWN_SLOT, POOL_SLOT = 100, 101  # places of roles that are no step of the draft
BUFFER = state.DECK_CAPACITY + N_DISTRICTS  # entries of the array that redeal works with
KNOWN_GROUP = 50  # the group of a single place whose role the seat knows


@kernel
def redeal(g, seat, seed, buffer):
    """Give `g` other hidden cards, roles and chances that are consistent with what `seat` knows.

    `seed` is a uint64, `buffer` an int64 array of BUFFER.  The result depends on what the seat knows and on the seed, not on the
    true state: equal information sets and seeds give equal games, as far as the seat's own knowledge goes.
    """
    state.seed_streams(g, seed)
    redeal_roles(g, seat, buffer)
    redeal_cards(g, seat, buffer)


# --- roles --------------------------------------------------------------------


@kernel
def last_own(g, seat, before):
    """The seat's last step before step `before`, or -1."""
    own = -1
    for step in range(before):
        if turn.step_seat(g, step) == seat:
            own = step
    return own


@kernel
def nobody_has(g, rank):
    """Was `rank` called without anybody answering, although it was not murdered?"""
    return rank <= g.called and not g.revealed[rank] and rank != g.murdered


@kernel
def last_choice(g, seat):
    """What `seat` knows of the last chooser, who had one role passed to him and the one laid face down (B2).

    -1: there is no such choice, or it is not made yet, or it was the seat's own; 0 or 1: he kept the passed or the
    face-down role, as his revealed role or an unanswered call shows; 2: both are possible.
    """
    last = turn.N_STEPS[g.rules.n_players] - 1
    if not turn.last_chooser(g, last) or g.draft_step <= last or turn.step_seat(g, last) == seat:
        return -1
    down = np.int64(g.face_down)
    took_down = 1 if g.drafted_at[down] == last else 0
    rest = other_last_role(g, last)
    held, left = (down, rest) if took_down else (rest, down)
    return took_down if g.revealed[held] or nobody_has(g, left) else 2


@kernel
def other_last_role(g, last):
    """The role that was passed to the last chooser."""
    rest = -1
    for rank in range(np.int64(g.rules.n_roles)):
        if rank != g.face_down and (g.drafted_at[rank] == last or g.drafted_at[rank] == state.IN_POOL):
            rest = rank
    return rest


@kernel
def places(g, seat, took_down, slot, group, holder, role):
    """The places of the draft whose roles `seat` cannot tell apart; returns how many there are.

    Of each place: the slot (a step, DOWN_SLOT or POOL_SLOT), the group of roles that may lie there, whether a player
    holds it, and the role that lies there.  A role that the seat last saw at its step t lies in a place that was
    filled after t and before the seat's next step.  `took_down` is the last chooser's choice (-1: there is none).
    """
    now = np.int64(g.draft_step)
    last = turn.N_STEPS[g.rules.n_players] - 1
    seen_until = min(now + 1, last + 1)  # the seat that chooses now sees the pool
    down = np.int64(g.face_down)
    rest = other_last_role(g, last) if took_down >= 0 else -1
    seen_down = turn.last_chooser(g, last) and turn.step_seat(g, last) == seat and now >= last
    n = 0
    for rank in range(np.int64(g.rules.n_roles)):
        at = np.int64(g.drafted_at[rank])
        if at == state.FACE_UP or (at >= 0 and at != state.IN_POOL and turn.step_seat(g, at) == seat) or (rank == down and seen_down):
            continue
        if g.revealed[rank] and not (took_down >= 0 and at == last):
            continue
        if rank == rest:
            slot[n], group[n], holder[n] = last, last_own(g, seat, last), 1 - took_down
        elif rank == down:
            slot[n], group[n], holder[n] = DOWN_SLOT, -1, max(0, took_down)
        elif at == state.IN_POOL:
            slot[n], group[n], holder[n] = POOL_SLOT, last_own(g, seat, seen_until), 0
        else:
            slot[n], group[n], holder[n] = at, last_own(g, seat, at), 1 - turn.STEP_BURIES[g.rules.n_players, at]
        if g.revealed[rank]:
            group[n] = KNOWN_GROUP
        role[n] = rank
        n += 1
    return n


@kernel
def redeal_roles(g, seat, buffer):
    """Exchange roles between the places that `seat` cannot tell apart.

    Places that nobody holds (laid aside, buried, left over) take the roles that nobody answered to.
    """
    slot, group, holder, role = buffer[0:9], buffer[9:18], buffer[18:27], buffer[27:36]
    took_down = last_choice(g, seat)
    if took_down == 2:
        took_down = state.random_below(g, state.DRAFT_STREAM, 2)
    n = places(g, seat, took_down, slot, group, holder, role)
    spread(g, slot, group, holder, role, buffer[36:45], buffer[45:54], n)
    for _ in range(TRIES):
        shuffle_roles(g, group, holder, role, n)
        if silent_murder_is_possible(g, slot, holder, role, n):
            break
    for i in range(n):
        place_role(g, slot[i], role[i], holder[i], took_down)
    follow_king(g)


@kernel
def spread(g, slot, group, holder, role, wanted, within, n):
    """An arrangement to shuffle from that does not depend on the true one: places in order, roles in order of rank.

    Roles that nobody answered to go to places that nobody holds.  `wanted` and `within` are arrays to work with.
    """
    for i in range(n):  # `places` has written the roles in order of rank
        wanted[i], within[i] = role[i], group[i]
        role[i] = -1
    for i in range(1, n):
        for j in range(i, 0, -1):
            if slot[j - 1] > slot[j]:
                slot[j - 1], slot[j] = slot[j], slot[j - 1]
                group[j - 1], group[j] = group[j], group[j - 1]
                holder[j - 1], holder[j] = holder[j], holder[j - 1]
    for answered in range(2):
        for k in range(n):
            if nobody_has(g, wanted[k]) != (answered == 1):
                for i in range(n):
                    if role[i] < 0 and group[i] == within[k] and (answered == 1 or not holder[i]):
                        role[i] = wanted[k]
                        break


@kernel
def shuffle_roles(g, group, holder, role, n):
    """A uniform arrangement within groups in which nobody holds a role that nobody answered to.

    First the places that nobody holds exchange their roles, so that the unanswered ones spread among them; then
    all other roles are shuffled over all other places.
    """
    for i in range(n - 1, 0, -1):
        if not holder[i]:
            choices = 0
            for j in range(i + 1):
                if group[j] == group[i] and not holder[j]:
                    choices += 1
            pick = state.random_below(g, state.DRAFT_STREAM, choices)
            for j in range(i + 1):
                if group[j] == group[i] and not holder[j]:
                    if pick == 0:
                        role[i], role[j] = role[j], role[i]
                        break
                    pick -= 1
    for i in range(n - 1, 0, -1):
        if not nobody_has(g, role[i]):
            choices = 0
            for j in range(i + 1):
                if group[j] == group[i] and not nobody_has(g, role[j]):
                    choices += 1
            pick = state.random_below(g, state.DRAFT_STREAM, choices)
            for j in range(i + 1):
                if group[j] == group[i] and not nobody_has(g, role[j]):
                    if pick == 0:
                        role[i], role[j] = role[j], role[i]
                        break
                    pick -= 1


@kernel
def silent_murder_is_possible(g, slot, holder, role, n):
    """A murdered role that was called in silence is not held by the Hospital's owner (D-HOSPITAL)."""
    for i in range(n):
        if role[i] == g.murdered and g.murdered <= g.called and holder[i] and districts.has(g, holder_of(g, slot[i]), cards.HOSPITAL):
            return False
    return True


@kernel
def holder_of(g, slot):
    """The seat that holds the role of a place that a player holds."""
    return turn.step_seat(g, turn.N_STEPS[g.rules.n_players] - 1 if slot == DOWN_SLOT else slot)


@kernel
def place_role(g, slot, rank, holder, took_down):
    """Write the role of one place back into the draft."""
    last = turn.N_STEPS[g.rules.n_players] - 1
    g.owner[rank] = holder_of(g, slot) if holder else -1
    if slot == DOWN_SLOT:
        g.face_down = rank
        g.drafted_at[rank] = last if holder else state.FACE_DOWN
    elif slot == POOL_SLOT or (took_down >= 0 and slot == last and not holder):
        g.drafted_at[rank] = state.IN_POOL
    else:
        g.drafted_at[rank] = slot


@kernel
def follow_king(g):
    """What the state remembers of a murdered King follows his new player."""
    rank = roles.KING_RANK
    if g.murdered == rank and g.called >= rank and not g.revealed[rank] and g.rules.role[rank] == Role.KING:
        g.heir = g.owner[rank]
    if g.turn_role == Role.QUEEN and g.called == N_RANKS - 1 and not g.revealed[rank]:
        g.queen_waits = 0
        queen = np.int64(g.turn_seat)
        bound = roles.queen_seat_bound(g)
        if bound >= 64:
            apart = state.distance(g, queen, bound & 63)
            if apart == 1 or apart == players(g) - 1:
                g.queen_waits = 1


# --- cards --------------------------------------------------------------------


@kernel
def sure_of(g, place, card, seat):
    """Copies of `card` at `place` that `seat` is sure of."""
    return np.int64(g.known[place, card]) >> 2 * seat & 3


@kernel
def redeal_cards(g, seat, buffer):
    """Collect every card whose place the seat does not know, shuffle, and lay them back."""
    mine_to_keep = g.actor[g.depth - 1] == seat
    fixed_place, fixed_card = -1, -1
    if g.ask[g.depth - 1] == Ask.WIZARD_BUILD and not mine_to_keep:
        fixed_place, fixed_card = np.int64(g.actor[g.depth - 1]), np.int64(g.arg[g.depth - 1])
    unknown = buffer[state.DECK_CAPACITY :]  # copies of each type; the order of the pool must not depend on where they lie
    for card in range(N_DISTRICTS):
        unknown[card] = 0
    for place in range(state.N_PLACES):
        if place == seat:
            continue
        for card in range(N_DISTRICTS):
            sure = sure_of(g, place, card, seat)
            if place == fixed_place and card == fixed_card:
                sure = max(1, sure)
            unknown[card] += np.int64(g.hand[place, card]) - sure
    viewer = g.deck_viewer == seat
    ordered = np.int64(g.deck_ordered)
    for height in range(np.int64(g.deck_size)):
        index = state.place_in_deck(g, height)
        if not g.deck_seen[index] >> seat & 1 if height < ordered else not viewer:
            unknown[g.deck[index]] += 1
    if not mine_to_keep:
        for i in range(np.int64(g.n_drawn)):
            unknown[g.drawn[i]] += 1
    n = 0
    for card in range(N_DISTRICTS):
        for _ in range(unknown[card]):
            buffer[n] = card
            n += 1
    for i in range(n - 1, 0, -1):
        j = state.random_below(g, state.DECK_STREAM, i + 1)
        buffer[i], buffer[j] = buffer[j], buffer[i]

    at = 0
    for place in range(state.N_PLACES):
        if place == seat or g.hand_size[place] == 0:
            continue
        missing = np.int64(g.hand_size[place])
        for card in range(N_DISTRICTS):
            sure = sure_of(g, place, card, seat)
            if place == fixed_place and card == fixed_card:
                sure = max(1, sure)
            g.hand[place, card] = sure
            missing -= sure
        for _ in range(missing):
            g.hand[place, buffer[at]] += 1
            at += 1
        if g.any_known[place]:
            forget_impossible(g, place, seat)
    for height in range(np.int64(g.deck_size)):
        index = state.place_in_deck(g, height)
        if not g.deck_seen[index] >> seat & 1 if height < ordered else not viewer:
            g.deck[index] = buffer[at]
            at += 1
    if not mine_to_keep:
        for i in range(np.int64(g.n_drawn)):
            g.drawn[i] = buffer[at]
            at += 1
    if viewer:
        sort_rest(g, ordered)
    for height in range(np.int64(g.deck_size) - 1, ordered, -1):
        lower = ordered + state.random_below(g, state.DECK_STREAM, height - ordered + 1)
        i, j = state.place_in_deck(g, height), state.place_in_deck(g, lower)
        g.deck[i], g.deck[j] = g.deck[j], g.deck[i]


@kernel
def sort_rest(g, ordered):
    """Order the shuffled part of the deck by type: who has looked through it knows its cards, not their order."""
    for height in range(ordered + 1, np.int64(g.deck_size)):
        card, down = g.deck[state.place_in_deck(g, height)], height
        while down > ordered and g.deck[state.place_in_deck(g, down - 1)] > card:
            g.deck[state.place_in_deck(g, down)] = g.deck[state.place_in_deck(g, down - 1)]
            down -= 1
        g.deck[state.place_in_deck(g, down)] = card


@kernel
def forget_impossible(g, place, seat):
    """What others were sure of at a place may no longer be there."""
    for card in range(N_DISTRICTS):
        known = np.int64(g.known[place, card])
        if known:
            there = np.int64(g.hand[place, card])
            for other in range(MAX_PLAYERS):
                if other != seat and known >> 2 * other & 3 > there:
                    known = known & ~(3 << 2 * other) | there << 2 * other
            g.known[place, card] = known
