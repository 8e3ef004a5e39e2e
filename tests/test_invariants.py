"""Invariants over thousands of random games of all editions, player counts, role sets and district sets."""

import numpy as np
import pytest

from citadels_agents import play_games
from citadels_env import EDITIONS, GERMAN, Batch
from invariants import cards_in_game, play_and_check, random_answers, random_rules, violations


def _games(first: int, number: int) -> Batch:
    return Batch([random_rules(seed) for seed in range(first, first + number)], seed=first, auto_reset=False)


def test_every_invariant_holds_after_every_answer_of_two_thousand_random_games() -> None:
    for first in (0, 1000):
        batch = _games(first, 1000)
        play_and_check(batch, np.random.default_rng(first))
        assert not batch.states["truncated"].any()


@pytest.mark.slow
def test_every_invariant_holds_after_every_answer_of_twenty_thousand_random_games() -> None:
    for first in range(10_000, 30_000, 2000):
        play_and_check(_games(first, 2000), np.random.default_rng(first))


def test_the_checker_itself_finds_corrupted_states() -> None:
    batch = Batch([random_rules(seed) for seed in range(40)], seed=4, auto_reset=False)
    rng = np.random.default_rng(0)
    for _ in range(120):
        batch.step(random_answers(batch.masks(), rng))
    copies = cards_in_game(batch.rules)
    assert violations(batch.states, copies, batch.masks()) == []
    corruptions = {
        "every card is in exactly one place": lambda s: s["hand"].__setitem__((0, 0, 3), s["hand"][0, 0, 3] + 1),
        "gold is never negative": lambda s: s["gold"].__setitem__((1, 0), -1),
        "a district carries at most one coin": lambda s: s["coins"].__setitem__((2, 0), s["city"][2, 0] + 1),
        "hand sizes are counted": lambda s: s["hand_size"].__setitem__((3, 1), s["hand_size"][3, 1] + 1),
        "city sizes are counted": lambda s: s["city_size"].__setitem__((3, 0), s["city_size"][3, 0] + 1),
        "the crown has a holder": lambda s: s["crown"].__setitem__(5, 8),
        "nobody is sure of a card that is not there": lambda s: s["known"].__setitem__((6, 0), 0xFFFF),
        "nobody holds too many roles": lambda s: s["owner"].__setitem__((7, slice(None)), 0),
        "a first completer ends the game": lambda s: s["ending"].__setitem__(8, 1 - s["ending"][8]),
        "exactly one player answers until the end": lambda s: s["actor"].__setitem__((9, slice(None)), 8),
    }
    for text, corrupt in corruptions.items():
        states = batch.states.copy()
        corrupt(states)
        assert any(text in line for line in violations(states, copies, batch.masks())), text
    masks = batch.masks().copy()
    masks[0] = False
    assert any("legal answer" in line for line in violations(batch.states, copies, masks))


def test_a_game_that_reaches_the_round_cap_is_scored_as_it_stands_and_reported() -> None:
    results = play_games(GERMAN.with_(max_rounds=3), "random", 200, seed=1)
    assert (results["rounds"] == 3).all()
    assert (results["truncated"] == 1).all()
    assert (results["scores"] > 0).any()


@pytest.mark.slow
def test_heuristic_agents_never_reach_the_round_cap_in_a_hundred_thousand_games() -> None:
    played = 0
    for edition in EDITIONS.values():
        for players in range(2, 8):
            for new in ("none", "all"):
                results = play_games(edition.with_(players=players, add_districts=new), "heuristic", 2800, seed=players, threads=2)
                assert not results["truncated"].any(), (edition.base_deck, players, new)
                played += len(results)
    assert played >= 100_000
