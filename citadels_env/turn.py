"""A round in the order of the rule book: draft, call, turn, end of turn, end of round."""

import numpy as np

from . import actions, cards, districts, roles, scoring, state
from ._jit import kernel
from .actions import MAX_PLAYERS
from .cards import N_DISTRICTS, N_RANKS
from .state import bit, players
from .vocabulary import Ask, Role, Turn

# The draft (B2): for each number of players the seats, counted from the crown, and whether the step buries a role.
_STEPS = {2: ((0, 0), (1, 0), (1, 1), (0, 0), (0, 1), (1, 0)), 3: tuple((k % 3, 0) for k in range(6))}
_STEPS |= {n: tuple((k, 0) for k in range(n)) for n in range(4, MAX_PLAYERS + 1)}
N_STEPS = np.array([len(_STEPS.get(n, ())) for n in range(MAX_PLAYERS + 1)], np.int64)
STEP_SEAT = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS), np.int64)
STEP_BURIES = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS), np.int64)
for _n, _steps in _STEPS.items():
    for _k, (_seat, _buries) in enumerate(_steps):
        STEP_SEAT[_n, _k], STEP_BURIES[_n, _k] = _seat, _buries
# A visit is a seat's choice in the draft and the burying that goes with it: its step, by players, place behind the crown and visit.
N_VISITS = np.array([0, 0, 2, 2, 1, 1, 1, 1, 1], np.int64)
VISIT = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS, 2), np.int64)
VISIT_BURIES = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS, 2), np.int64)
for _n, _steps in _STEPS.items():
    for _place in range(_n):
        _own = [_k for _k, (_seat, _buries) in enumerate(_steps) if _seat == _place and not _buries]
        for _visit, _k in enumerate(_own):
            VISIT[_n, _place, _visit] = _k
            VISIT_BURIES[_n, _place, _visit] = (_place, 1) in _steps[_k + 1 : _k + 2]


# === the draft ================================================================


@kernel
def start_round(g):
    """Lay roles aside and ask the crown's holder for the first choice (S-3, S-4, B2)."""
    g.round_number += 1
    begin_round(g)
    n_roles = np.int64(g.rules.n_roles)
    for rank in range(n_roles):
        g.drafted_at[rank] = state.IN_POOL
    for _ in range(g.rules.n_face_up):  # uniformly among the ranks but the 4th: neither King nor Emperor lies face up
        lay_aside(g, state.FACE_UP)
    lay_aside(g, state.FACE_DOWN)
    ask_draft(g)


@kernel
def begin_round(g):
    """Forget the last round."""
    for rank in range(N_RANKS):
        g.owner[rank] = -1
        g.revealed[rank] = 0
        g.drafted_at[rank] = state.FACE_UP
    g.draft_first = g.crown
    g.draft_step = 0
    g.called = -1
    g.murdered = -1
    g.robbed = -1
    g.bewitched = -1
    g.robber = -1
    g.witch = -1
    g.tax_seat = -1
    g.rank_1_built = 0
    g.heir = -1
    g.turn_seat = -1
    g.turn_role = -1
    g.turn_kind = Turn.NORMAL
    g.acted = 0


@kernel
def lay_aside(g, where):
    """Lay a random role of the pool aside."""
    n_roles = np.int64(g.rules.n_roles)
    while True:
        rank = state.random_below(g, state.DRAFT_STREAM, n_roles)
        if g.drafted_at[rank] == state.IN_POOL and (where == state.FACE_DOWN or rank != roles.KING_RANK):
            break
    g.drafted_at[rank] = where
    if where == state.FACE_DOWN:
        g.face_down = rank


@kernel
def step_seat(g, step):
    """The seat that answers a step of the draft."""
    return state.left_of(g, np.int64(g.draft_first), STEP_SEAT[g.rules.n_players, step])


@kernel
def ask_draft(g):
    step = np.int64(g.draft_step)
    question = Ask.BURY if STEP_BURIES[g.rules.n_players, step] else Ask.DRAFT
    state.ask(g, question, step_seat(g, step), 0)


@kernel
def last_chooser(g, step):
    """Is this the step in which the last of 7 or 8 players gets the face-down role beside the only one left? (B2)"""
    n = players(g)
    return step == n - 1 and np.int64(g.rules.n_roles) - np.int64(g.rules.n_face_up) == n + 1 and n >= 7


@kernel
def offered(g, step):
    """The ranks (a set of bits) that the seat of a step chooses from, now or in the past."""
    pool = 0
    last = last_chooser(g, step)
    for rank in range(np.int64(g.rules.n_roles)):
        if last if rank == g.face_down else g.drafted_at[rank] >= step:
            pool |= 1 << rank
    return pool


@kernel
def add_offered(g, verb, moves):
    n = 0
    pool = offered(g, np.int64(g.draft_step))
    for rank in range(np.int64(g.rules.n_roles)):
        if pool >> rank & 1:
            moves[n] = verb + np.int64(g.rules.role[rank])
            n += 1
    return n


@kernel
def legal_draft(g, seat, moves):
    return add_offered(g, actions.DRAFT, moves)


@kernel
def draft(g, seat, action):
    rank = (action - actions.DRAFT) // 2
    g.owner[rank] = seat
    drafted(g, rank)


@kernel
def legal_bury(g, seat, moves):
    return add_offered(g, actions.BURY, moves)


@kernel
def bury(g, seat, action):
    drafted(g, (action - actions.BURY) // 2)


@kernel
def drafted(g, rank):
    """Pass the roles on, or call the first rank."""
    state.answered(g)
    g.drafted_at[rank] = g.draft_step
    g.draft_step += 1
    if g.draft_step < N_STEPS[g.rules.n_players]:
        ask_draft(g)
    else:
        call_next(g)


# === calling ==================================================================


@kernel
def call_next(g):
    """Call the ranks until somebody's turn opens a question, or the round ends (B3)."""
    while True:
        g.called += 1
        if g.called == g.rules.n_roles:
            end_round(g)
            return
        rank = np.int64(g.called)
        seat = np.int64(g.owner[rank])
        if seat < 0:
            continue
        if rank == g.murdered:
            if rank == roles.KING_RANK and g.rules.role[rank] == Role.KING:
                g.heir = seat
            if not districts.has(g, seat, cards.HOSPITAL):
                continue
        if appear(g, seat, rank):
            return


@kernel
def appear(g, seat, rank):
    """A role is revealed (X-12); returns False if its turn is lost without a question."""
    g.revealed[rank] = 1
    g.turn_seat = seat
    g.turn_role = g.rules.role[rank]
    g.turn_kind = Turn.NORMAL
    if rank == g.murdered:
        g.turn_kind = Turn.HOSPITAL
    elif rank == g.bewitched and g.witch >= 0:
        g.turn_kind = Turn.BEWITCHED
    elif g.turn_role == Role.WITCH:
        g.turn_kind = Turn.WITCH
    fresh_turn(g)
    if rank == g.robbed and g.robber != seat:
        g.gold[g.robber] += g.gold[seat]
        g.gold[seat] = 0
    if g.turn_role == Role.TAX_COLLECTOR and g.turn_kind != Turn.HOSPITAL:
        g.tax_seat = g.witch if g.turn_kind == Turn.BEWITCHED else seat
        tax_rank_1(g)
    holder = np.int64(g.crown)
    if holder != seat and districts.has(g, holder, cards.BALLROOM) and g.turn_kind != Turn.BEWITCHED:
        if g.rules.ballroom == state.DECISION:
            state.ask(g, Ask.THANK, seat, 0)
            return True
        if g.rules.ballroom == state.FORGET and state.random_below(g, state.CHANCE_STREAM, 65536) < np.int64(g.rules.forget):
            lose_turn(g)
            return False
    begin_turn(g)
    return True


@kernel
def fresh_turn(g):
    g.acted = 0
    g.income_taken = 0
    g.power_used = 0
    g.closing = 0
    g.built = 0
    g.spent = 0
    g.beautified = 0
    g.used_laboratory = 0
    g.used_smithy = 0
    g.used_museum = 0
    g.queen_waits = 0
    g.builds = cards.ROLE_BUILDS[g.turn_role]
    if g.turn_role == Role.NAVIGATOR and not g.rules.navigator_can_never_build:
        g.builds = 1


@kernel
def tax_rank_1(g):
    """Who built at rank 1 pays when the Tax Collector appears (R-TAX-2, D16)."""
    payer = np.int64(g.owner[0])
    if g.rank_1_built and g.rules.retro_tax[np.int64(g.rules.role[0]) % 2]:
        pay_tax(g, payer)


@kernel
def pay_tax(g, payer):
    if g.tax_seat >= 0 and g.tax_seat != payer and g.gold[payer] > 0:
        g.gold[payer] -= 1
        g.gold[g.tax_seat] += 1


@kernel
def legal_thank(g, seat, moves):
    moves[0], moves[1] = actions.THANK, actions.STAY_SILENT
    return 2


@kernel
def thank(g, seat, action):
    state.answered(g)
    if action == actions.THANK:
        begin_turn(g)
    else:
        lose_turn(g)
        call_next(g)


@kernel
def lose_turn(g):
    """A turn lost to the Ballroom: the role lives, its player does nothing (X-14)."""
    if g.turn_role == Role.KING:
        g.heir = g.turn_seat


@kernel
def begin_turn(g):
    """Crown, Queen's gold, bonuses at the start; then the turn itself (X-12)."""
    seat, role = np.int64(g.turn_seat), np.int64(g.turn_role)
    if g.turn_kind == Turn.NORMAL:
        state.ask(g, Ask.PLAY, seat, 0)
        use_passive_powers(g, seat)
    else:
        state.ask(g, Ask.ACTION, seat, 0)
    if role == Role.KING and g.turn_kind != Turn.HOSPITAL and g.crown != seat:
        districts.crown_moves(g, seat, 1)
    if role == Role.EMPEROR and g.turn_kind == Turn.BEWITCHED and g.rules.bewitched_emperor_crown == state.BY_EMPEROR_PLAYER:
        ask_crown(g, seat)


@kernel
def use_passive_powers(g, seat):
    """What a role does by itself at the start of its turn, for its player or for the Witch."""
    if g.turn_role == Role.EMPEROR and not (g.turn_kind == Turn.RESUMED and g.rules.bewitched_emperor_crown == state.BY_EMPEROR_PLAYER):
        ask_crown(g, seat)
    elif g.turn_role == Role.QUEEN:
        roles.queen_reveals(g, seat)
    roles.bonus_at(g, seat, state.START)


@kernel
def ask_crown(g, seat):
    """The Emperor must find a receiver; with two players there may be none (X-17)."""
    if players(g) > 2 or g.crown == seat or g.rules.emperor_may_return_crown:
        state.ask(g, Ask.CROWN, seat, 0)


# === the turn =================================================================


@kernel
def legal_action(g, seat, moves):
    moves[0] = actions.TAKE_GOLD
    if state.cards_left(g) == 0:
        return 1
    moves[1] = actions.DRAW_CARDS
    return 2


@kernel
def action(g, seat, answer):
    """The action of a cut turn."""
    state.answered(g)
    take_action(g, seat, answer)


@kernel
def take_action(g, seat, answer):
    """2 gold, or draw and keep (B4, Observatory, Library)."""
    g.acted = 1
    if answer == actions.TAKE_GOLD:
        g.gold[seat] += 2
        action_taken(g)
        return
    seen, kept = districts.cards_drawn(g, seat), districts.cards_kept(g, seat)
    if min(seen, state.cards_left(g)) <= kept:
        state.draw(g, seat, seen)
        action_taken(g)
        return
    g.n_drawn = 0
    for _ in range(seen):
        top = state.top_card(g, seat)
        if top >= 0:
            g.drawn[g.n_drawn] = top & 0xFF
            g.n_drawn += 1
    state.ask(g, Ask.KEEP, seat, kept)


@kernel
def legal_keep(g, seat, moves):
    n = 0
    for i in range(np.int64(g.n_drawn)):
        move = actions.KEEP + np.int64(g.drawn[i])
        if (n < 1 or moves[0] != move) and (n < 2 or moves[1] != move):
            moves[n] = move
            n += 1
    return n


@kernel
def keep(g, seat, answer):
    kept = answer - actions.KEEP
    state.put(g, seat, kept, 0)
    last = np.int64(g.n_drawn) - 1
    for i in range(last):
        if g.drawn[i] == kept:
            g.drawn[i] = g.drawn[last]
            g.drawn[last] = kept
    g.n_drawn = last
    g.arg[g.depth - 1] -= 1
    if g.arg[g.depth - 1] == 0:
        state.answered(g)
        for i in range(last):
            state.discard(g, np.int64(g.drawn[i]), bit(seat))
        g.n_drawn = 0
        action_taken(g)


@kernel
def action_taken(g):
    """What follows the action in each kind of turn."""
    seat = np.int64(g.turn_seat)
    if g.turn_kind == Turn.NORMAL:
        roles.bonus_at(g, seat, state.AFTER_ACTION)
    elif g.turn_kind == Turn.WITCH:
        state.ask(g, Ask.NAME, seat, 0)
    else:
        end_effects(g)


@kernel
def name(g, seat, answer):
    """The Witch's turn is cut (R-WITCH-1); without naming she goes on without a power (X-16)."""
    state.answered(g)
    if answer == actions.DONE:
        g.turn_kind = Turn.NORMAL
        state.ask(g, Ask.PLAY, seat, 0)
        return
    g.bewitched = (answer - actions.NAME) // 2
    g.witch = seat
    end_effects(g)


@kernel
def resume_witch(g):
    """The Witch goes on with the powers of the bewitched role (R-WITCH-3)."""
    g.turn_kind = Turn.RESUMED
    seat = np.int64(g.witch)
    g.turn_seat = seat
    fresh_turn(g)
    g.acted = 1
    state.ask(g, Ask.PLAY, seat, 0)
    use_passive_powers(g, seat)
    roles.bonus_at(g, seat, state.AFTER_ACTION)


@kernel
def legal_play(g, seat, moves):
    """Everything that may be done in a turn, in any order (P-1)."""
    if g.closing:
        moves[0] = actions.END_TURN
        return 1
    n = 0
    if not g.acted:
        n = legal_action(g, seat, moves)
    elif not roles.must_name(g):
        moves[0] = actions.END_TURN
        n = 1
    if not g.income_taken and districts.income(g, seat, np.int64(g.turn_role)) > 0:
        moves[n] = actions.INCOME
        n += 1
    if not g.power_used and (g.acted or g.rules.power_before_action):
        n = add_power(g, seat, moves, n)
    n = add_district_powers(g, seat, moves, n)
    if g.acted and g.builds > 0:
        gold = np.int64(g.gold[seat])
        for card in range(N_DISTRICTS):
            if g.hand[seat, card] > 0 and gold + 3 >= g.rules.cost[card] and districts.may_build(g, seat, card):
                moves[n] = actions.BUILD + card
                n += 1
    return n


@kernel
def add_power(g, seat, moves, n):
    """The answers that the role in use offers."""
    role = np.int64(g.turn_role)
    if role == Role.ASSASSIN or role == Role.THIEF:
        return roles.add_names(g, moves, n)
    if role == Role.MAGICIAN:
        return roles.add_magician(g, seat, moves, n)
    if role == Role.WIZARD:
        return roles.add_wizard(g, seat, moves, n)
    if role == Role.WARLORD:
        if g.acted or g.rules.warlord_timing == state.ANY_TIME:
            return roles.add_warlord(g, seat, moves, n)
    elif role == Role.DIPLOMAT:
        if g.acted or g.rules.diplomat_timing == state.ANY_TIME:
            return roles.add_diplomat(g, seat, moves, n)
    elif role == Role.ARTIST:
        if g.gold[seat] > 0:
            return roles.add_artist(g, seat, moves, n)
    elif role == Role.NAVIGATOR:
        if g.acted and not g.built:
            moves[n] = actions.TAKE_4_GOLD
            n += 1
            if state.cards_left(g) > 0:
                moves[n] = actions.DRAW_4_CARDS
                n += 1
    elif (
        (role == Role.MERCHANT and g.rules.merchant_bonus_timing == state.ANY)
        or (role == Role.ARCHITECT and g.rules.architect_cards_timing == state.ANY and state.cards_left(g) > 0)
        or (role == Role.ABBOT and roles.abbot_payer(g, seat) >= 0)
    ):
        moves[n] = actions.USE_POWER
        n += 1
    return n


@kernel
def add_district_powers(g, seat, moves, n):
    """The answers that the districts of the city offer."""
    if districts.has(g, seat, cards.LABORATORY) and not g.used_laboratory:
        n = districts.add_hand(g, seat, moves, n, actions.LABORATORY)
    if districts.has(g, seat, cards.SMITHY) and not g.used_smithy and g.gold[seat] >= g.rules.smithy_cost and state.cards_left(g) > 0:
        moves[n] = actions.SMITHY
        n += 1
    if districts.has(g, seat, cards.MUSEUM) and not (g.used_museum and g.rules.museum_once_per_turn):
        n = districts.add_hand(g, seat, moves, n, actions.MUSEUM)
    if districts.has(g, seat, cards.POWDER_TOWER):
        n = districts.add_blow_up(g, seat, moves, n)
    return n


@kernel
def play(g, seat, answer):
    if answer >= actions.BLOW_UP and answer < actions.EXCHANGE_FOR:
        districts.blow_up(g, seat, answer)
    elif answer >= actions.DESTROY:
        roles.destroy(g, seat, answer)
    elif answer >= actions.OFFER:
        roles.offer(g, seat, answer)
    elif answer >= actions.BEAUTIFY:
        roles.beautify(g, seat, answer)
    elif answer >= actions.MUSEUM:
        districts.museum(g, seat, answer - actions.MUSEUM)
    elif answer >= actions.LABORATORY:
        districts.laboratory(g, seat, answer - actions.LABORATORY)
    elif answer >= actions.DISCARD:
        g.power_used = 1
        state.ask(g, Ask.DISCARD, seat, 0)
        roles.discard(g, seat, answer)
    elif answer >= actions.BUILD:
        g.builds -= 1
        districts.build(g, seat, answer - actions.BUILD)
    elif answer >= actions.LOOK_AT:
        roles.look_at(g, seat, answer)
    elif answer >= actions.SWAP_HANDS:
        roles.swap_hands(g, seat, answer)
    elif answer == actions.END_TURN:
        state.answered(g)
        end_turn(g, seat)
    elif answer == actions.SMITHY:
        districts.smithy(g, seat)
    elif answer >= actions.TAKE_4_GOLD:
        roles.navigate(g, seat, answer)
    elif answer == actions.USE_POWER:
        roles.use_power(g, seat)
    elif answer == actions.INCOME:
        g.income_taken = 1
        g.gold[seat] += districts.income(g, seat, np.int64(g.turn_role))
    elif answer >= actions.TAKE_GOLD:
        take_action(g, seat, answer)
    else:
        roles.name(g, seat, answer)


# === the end of a turn ========================================================


@kernel
def end_turn(g, seat):
    """Tax, Poor House, refund, Park (R-TAX-3, X-13)."""
    if g.built:
        if g.called == 0:
            g.rank_1_built = 1
        pay_tax(g, seat)
    end_effects(g)


@kernel
def end_effects(g):
    """Poor House, Alchemist's refund, Park, where they work in this kind of turn (X-15); then go on."""
    seat = np.int64(g.turn_seat)
    works = g.turn_kind == Turn.NORMAL or g.turn_kind == Turn.RESUMED
    if g.turn_kind == Turn.HOSPITAL:
        works = g.rules.hospital_turn_end_effects > 0
    elif not works:
        works = g.rules.cut_turn_end_effects > 0
    if works and g.gold[seat] == 0 and districts.has(g, seat, cards.POOR_HOUSE):
        g.gold[seat] = 1
    g.gold[seat] += g.spent
    g.spent = 0
    if works and g.hand_size[seat] == 0 and districts.has(g, seat, cards.PARK) and state.cards_left(g) > 0:
        state.ask(g, Ask.PARK, seat, 0)
    else:
        turn_over(g)


@kernel
def park(g, seat, answer):
    state.answered(g)
    if answer == actions.YES:
        state.draw(g, seat, 2)
    turn_over(g)


@kernel
def turn_over(g):
    """The Queen's gold for a murdered King (R-QUEEN-2); then the Witch goes on, or the next rank is called."""
    if g.queen_waits:
        g.queen_waits = 0
        g.gold[g.turn_seat] += 3
    if g.turn_kind == Turn.BEWITCHED:
        resume_witch(g)
    else:
        call_next(g)


@kernel
def end_round(g):
    """The heir receives the crown (R13); the game ends, or a new round starts (B8, X-11)."""
    if g.heir >= 0 and g.heir != g.crown:
        districts.crown_moves(g, np.int64(g.heir), 1)
    g.turn_role = -1
    if g.ending or g.round_number >= g.rules.max_rounds:
        g.truncated = 0 if g.ending else 1
        scoring.score_game(g)
        g.over = 1
        state.ask(g, Ask.NOTHING, -1, 0)
    else:
        start_round(g)
