"""Nothing that a seat cannot know shows in what it sees or may do."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from citadels_env import GERMAN, Batch, Game, batch, observation
from citadels_env.cards import DISTRICT_INDEX
from invariants import cards_in_game, random_answers, random_rules, violations


def _look(games: Batch) -> None:
    """Write the masks of the present states anew."""
    games._answers[:] = batch.LOOK
    games._advance(observe_too=False)


def test_observation_and_mask_are_the_same_after_redealing_what_the_seat_cannot_know() -> None:
    rules = [random_rules(seed) for seed in range(500, 900)]
    games = Batch(rules, seed=3, auto_reset=False)
    rng = np.random.default_rng(1)
    copies = cards_in_game(rules)
    checked, turn = 0, 0
    while (games.actors >= 0).any():
        games.step(random_answers(games.masks(), rng))
        turn += 1
        if turn % 9:
            continue
        actors = games.actors
        seats = np.array([rng.integers(r.players) for r in rules])
        seats = np.where((rng.random(len(rules)) < 0.5) & (actors >= 0), actors, seats)
        before, masks, saved = games.observe(seats), games.masks().copy(), games.states.copy()
        batch.redeal(games.states, seats, batch.game_seeds(turn, len(rules)))
        assert (games.observe(seats) == before).all()
        _look(games)
        same = (games.masks() == masks).all(1)
        assert same[seats == actors].all()
        assert violations(games.states, copies, games.masks()) == []
        games.states[:] = saved
        _look(games)
        checked += len(rules)
    assert checked > 10_000


def test_redealing_changes_the_hidden_cards_and_roles_of_others_but_not_ones_own() -> None:
    game = Game(GERMAN.with_(players=5), seed=1)
    for _ in range(5):
        game.play(int(game.legal_indices()[0]))
    seat = 2
    hands, roles = set(), set()
    for seed in range(50):
        other = game.redeal(seat, seed)
        assert other.hand(seat) == game.hand(seat)
        assert other.roles(seat) == game.roles(seat)
        assert other.face_up == game.face_up
        hands.add(tuple(other.hand(0)))
        roles.add(tuple(tuple(other.roles(p)) for p in range(5)))
    assert len(hands) > 40
    assert len(roles) > 5


def test_redeal_reaches_every_consistent_assignment_of_roles_evenly() -> None:
    """Three players of seven roles left: the first drafter's view leaves a known number of worlds, all met evenly."""
    game = Game(GERMAN.with_(players=4), seed=5)
    for _ in range(4):
        game.play(int(game.legal_indices()[0]))
    first = next(seat for seat in range(4) if game._states["draft_first"][0] == seat)
    seen: dict[tuple[str, ...], int] = {}
    n = 6000
    for seed in range(n):
        world = game.redeal(first, seed)
        key = tuple(role for seat in range(4) for role in world.roles(seat))
        seen[key] = seen.get(key, 0) + 1
    # Four roles were passed on to three players: 4 * 3 * 2 worlds (the role laid face down was never seen).
    assert len(seen) == 24
    expected = n / 24
    chi_square = sum((count - expected) ** 2 / expected for count in seen.values())
    assert chi_square < 60  # 23 degrees of freedom: exceeded once in 30,000


def test_equal_knowledge_and_seeds_give_equal_redeals_whatever_the_truth_is() -> None:
    for seed in range(60):
        game, rng = Game(random_rules(seed), seed), np.random.default_rng(seed)
        for _ in range(int(rng.integers(0, 200))):
            if not game.over:
                game.play(int(rng.choice(game.legal_indices())))
        if game.over:
            continue
        seat = game.actor
        other_truth = game.redeal(seat, 1000 + seed)
        one, two = game.redeal(seat, 7), other_truth.redeal(seat, 7)
        for name in ("hand", "deck", "drafted_at", "owner", "face_down", "rng", "drawn"):
            assert (one._states[name] == two._states[name]).all(), (seed, name)


def test_cards_a_seat_is_sure_of_stay_where_they_are_when_redealt() -> None:
    rules = GERMAN.with_(players=4, roles=("Assassin", "Thief", "Wizard", "King", "Bishop", "Merchant", "Architect", "Warlord"))
    players = [
        {"roles": ["Wizard"], "hand": ["Tavern"]},
        {"roles": ["King"], "hand": ["Palace", "Temple", "Temple"]},
        {"roles": ["Bishop"], "hand": ["Manor"]},
        {"roles": ["Warlord"], "hand": ["Castle"]},
    ]
    game = Game.from_position(rules, {"players": players, "called": 2})
    game.play("look at player 1").play("take Palace")
    assert game.hand(0) == ["Palace", "Tavern"]
    assert observation.view(game.observation(0), "known")[0, DISTRICT_INDEX["Temple"]] == 2
    for seed in range(20):
        assert game.redeal(0, seed).hand(1) == ["Temple", "Temple"]
        assert len(game.redeal(2, seed).hand(1)) == 2
    assert any(game.redeal(2, seed).hand(1) != ["Temple", "Temple"] for seed in range(20))
    assert all("Palace" in game.redeal(1, seed).hand(0) for seed in range(20))  # who lost a card knows where it went


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 150), choice=st.integers(0, 2**32))
def test_a_redealt_game_can_be_played_to_its_end(seed: int, steps: int, choice: int) -> None:
    game = Game(random_rules(seed), seed)
    rng = np.random.default_rng(choice)
    for _ in range(steps):
        if game.over:
            return
        game.play(int(rng.choice(game.legal_indices())))
    if game.over:
        return
    world = game.redeal(int(rng.integers(game.rules.players)), choice)
    while not world.over:
        world.play(int(rng.choice(world.legal_indices())))
    assert sum(world.scores()) > 0
