"""Beliefs about who holds which role."""

import numpy as np
import pytest

from citadels_agents import make, registry
from citadels_env import GERMAN, Game
from citadels_env.cards import ROLE_INDEX
from invariants import random_rules


def _drafted(game: Game, seed: int = 0) -> Game:
    rng = np.random.default_rng(seed)
    while game.question in ("DRAFT", "BURY"):
        game.play(int(rng.choice(game.legal_indices())))
    return game


def _rank(role: str) -> int:
    return ROLE_INDEX[role] // 2


def test_elimination_agrees_with_the_frequencies_of_redealt_games() -> None:
    for players, seed in ((2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (8, 7)):
        game = _drafted(Game(GERMAN.with_(players=players), seed), seed)
        rng = np.random.default_rng(seed)
        for _ in range(12 * (seed % 3)):
            if not game.over and game.question != "DRAFT":
                game.play(int(rng.choice(game.legal_indices())))
        if game.over or game.question in ("DRAFT", "BURY"):
            continue
        seat = int(rng.integers(players))
        belief = registry.belief(game, seat, "elimination")
        counts = np.zeros_like(belief)
        worlds = 1500
        for k in range(worlds):
            world = game.redeal(seat, k)
            for other in range(players):
                for role in world.roles(other):
                    counts[other, _rank(role)] += 1
        assert np.abs(counts / worlds - belief).max() < 0.05, (players, seed)


def test_behavioural_beliefs_are_probabilities_and_respect_what_is_certain() -> None:
    for seed in range(40):
        rules = random_rules(seed)
        game = _drafted(Game(rules, seed), seed)
        rng = np.random.default_rng(seed)
        for _ in range(15):
            if not game.over and game.question not in ("DRAFT", "BURY"):
                game.play(int(rng.choice(game.legal_indices())))
        if game.over or game.question in ("DRAFT", "BURY"):
            continue
        seat = seed % rules.players
        certain, belief = registry.belief(game, seat, "elimination"), registry.belief(game, seat, "behavioural")
        each = 2 if rules.players <= 3 else 1
        assert (belief >= 0).all()
        assert (belief <= 1 + 1e-9).all()
        assert np.allclose(belief.sum(1), each, atol=0.06)  # the last normalisation is by roles
        assert (belief.sum(0) <= 1 + 1e-9).all()
        assert ((belief > 0) == (certain > 0)).all()
        for other in range(rules.players):
            for role in game.revealed(other):
                assert belief[other, _rank(role)] == 1
        for role in game.roles(seat):
            assert belief[seat, _rank(role)] == 1


def test_behavioural_beliefs_give_attractive_roles_to_those_who_want_them() -> None:
    game = Game(GERMAN, 3)
    rules = GERMAN
    players = [
        {"roles": ["Assassin"], "gold": 2},
        {"roles": ["Merchant"], "city": ["Tavern", "Market", "Docks", "Harbor"]},
        {"roles": ["Bishop"], "city": []},
        {"roles": ["Magician"], "city": []},
    ]
    game = Game.from_position(rules, {"players": players}, seed=1)
    belief = registry.belief(game, 0, "behavioural")
    certain = registry.belief(game, 0, "elimination")
    merchant = _rank("Merchant")
    assert belief[1, merchant] > certain[1, merchant]
    assert belief[1, merchant] > belief[2, merchant]


def test_without_inference_every_unseen_role_is_as_likely_anywhere() -> None:
    game = _drafted(Game(GERMAN, 3))
    belief = registry.belief(game, 1, "none")
    others = [seat for seat in range(4) if seat != 1]
    unseen = [rank for rank in range(8) if belief[0, rank] > 0]
    assert len(unseen) == 5
    assert np.allclose(belief[np.ix_(others, unseen)], 1 / 5)


def test_beliefs_use_nothing_that_the_seat_cannot_know() -> None:
    for seed in range(30):
        rules = random_rules(seed)
        game = _drafted(Game(rules, seed), seed)
        if game.over:
            continue
        seat = seed % rules.players
        for level in ("none", "elimination", "behavioural"):
            before = registry.belief(game, seat, level)
            assert np.allclose(registry.belief(game.redeal(seat, seed), seat, level), before)


def test_beliefs_are_shown_to_people_as_a_table() -> None:
    game = _drafted(Game(GERMAN, 3))
    text = registry.belief_table(game, 0, "elimination")
    assert "player 3" in text
    assert "Warlord" in text
    with pytest.raises(ValueError, match="level must be one of none, elimination, behavioural, not 'magic'"):
        registry.belief(game, 0, "magic")


def test_inference_can_be_switched_for_every_persona() -> None:
    rows = [make(f"expert:inference={level}").row["w"]["inference"][0] for level in ("none", "elimination", "behavioural")]
    assert rows == [0, 1, 2]
