"""`Batch`: many games at once are the same games."""

import numpy as np
import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Batch, Game, batch, observation
from invariants import random_answers, random_rules

MIXED = [GERMAN, FRENCH.with_(players=3, add_districts="all"), AMERICAN.with_(players=8), GERMAN.with_(players=2)]


def _fingerprint(games: Batch) -> bytes:
    states = games.states.copy()
    states["rules"]["template"] = 0
    return states.tobytes()


def test_a_batch_plays_the_games_that_single_games_play() -> None:
    games = Batch(MIXED, seed=9, auto_reset=False)
    singles = [Game(rules, int(seed)) for rules, seed in zip(MIXED, games.seeds, strict=True)]
    rng = np.random.default_rng(0)
    seen = games.observations()
    while (games.actors >= 0).any():
        for k, single in enumerate(singles):
            assert (games.masks()[k] == single.mask()).all()
            assert games.actors[k] == (-1 if single.over else single.actor)
            if not single.over:
                assert (seen[k] == single.observation()).all()
        answers = random_answers(games.masks(), rng)
        games.step(answers)
        for single, answer in zip(singles, answers, strict=True):
            if not single.over:
                single.play(int(answer))
    for k, single in enumerate(singles):
        assert tuple(games.states["score"][k, : single.rules.players]) == single.scores()


def test_results_do_not_depend_on_threads_batch_size_or_order() -> None:
    rules = [random_rules(seed) for seed in range(1200)]
    one, two = Batch(rules, seed=5), Batch(rules, seed=5, threads=2)
    small = Batch(rules[:300], seed=5)
    for games in (one, two, small):
        games.play_out()
    assert _fingerprint(one) == _fingerprint(two)
    assert (one.states["score"][:300] == small.states["score"]).all()
    assert (one.states["rng"][:300] == small.states["rng"]).all()
    turned = Batch(rules[::-1], seed=5)
    turned.seeds[:] = one.seeds[::-1]
    turned._answers[:] = batch.DEAL
    turned._advance(observe_too=False)
    turned.play_out()
    assert (turned.states["score"][::-1] == one.states["score"]).all()


def test_stepping_with_two_threads_gives_the_same_arrays() -> None:
    one, two = (Batch(GERMAN, 600, seed=2, threads=threads) for threads in (1, 2))
    one.observations()
    two.observations()
    rng = np.random.default_rng(1)
    for _ in range(150):
        answers = random_answers(one.masks(), rng)
        one.step(answers)
        two.step(answers)
        assert (one.masks() == two.masks()).all()
        assert (one.observations() == two.observations()).all()
        assert (one.rewards == two.rewards).all()
        assert (one.done == two.done).all()


def test_auto_reset_deals_the_next_game_and_reports_the_end_of_the_last() -> None:
    games = Batch(GERMAN, 64, seed=1)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(700):
        seeds = games.seeds.copy()
        games.step(random_answers(games.masks(), rng))
        assert (games.actors >= 0).all()
        ended = games.done
        ends += int(ended.sum())
        assert (games.rewards[~ended] == 0).all()
        assert np.allclose(games.rewards[ended].sum(1), 1)
        assert ((games.seeds != seeds) == ended).all()
        assert (games.states["round_number"][ended] == 1).all()
    assert ends > 64


def test_without_auto_reset_finished_games_wait_and_ignore_answers() -> None:
    games = Batch(GERMAN.with_(max_rounds=2), 8, seed=1, auto_reset=False)
    rng = np.random.default_rng(0)
    finished = 0
    while (games.actors >= 0).any():
        games.step(random_answers(games.masks(), rng))
        finished += int(games.done.sum())
    assert finished == 8
    before = _fingerprint(games)
    games.step(np.zeros(8, np.int64))
    assert _fingerprint(games) == before
    assert not games.done.any()
    assert (games.observations() == 0).all()


@pytest.mark.parametrize(("scheme", "total"), [("win", 1.0), ("score", 0.0), ("rank", 0.0)])
def test_rewards_of_a_game_follow_the_scheme(scheme: str, total: float) -> None:
    rules = [random_rules(seed) for seed in range(200)]
    games = Batch(rules, seed=3, rewards=scheme, auto_reset=False)
    rng = np.random.default_rng(0)
    rewards = np.zeros((200, 8))
    while (games.actors >= 0).any():
        games.step(random_answers(games.masks(), rng))
        rewards += games.rewards
    assert np.allclose(rewards.sum(1), total, atol=1e-4)
    for k, r in enumerate(rules):
        scores = games.states["score"][k, : r.players].astype(float)
        assert (rewards[k, r.players :] == 0).all()
        best = rewards[k, : r.players] == rewards[k, : r.players].max()
        assert scores[best].min() == scores.max()
        if scheme == "score":
            assert np.allclose(rewards[k, : r.players], (scores - scores.mean()) / 10, atol=1e-5)
        if scheme == "rank" and len(set(scores)) == r.players:
            assert np.allclose(sorted(rewards[k, : r.players]), np.linspace(-1, 1, r.players), atol=1e-6)


def test_an_illegal_answer_names_game_and_action_and_changes_nothing() -> None:
    games = Batch(GERMAN, 5, seed=1)
    before = _fingerprint(games)
    answers = games.masks().argmax(1)
    for wrong in (900, -1, 10_000):
        answers[3] = wrong
        with pytest.raises(ValueError, match=rf"action {wrong} .* is not legal in game 3"):
            games.step(answers)
        assert _fingerprint(games) == before
    with pytest.raises(ValueError, match="5 whole numbers"):
        games.step(answers[:4])
    with pytest.raises(ValueError, match="whole numbers"):
        games.step(np.zeros(5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": [], "num_games": None}, "at least one set of rules"),
        ({"rules": GERMAN, "num_games": 0}, "num_games must be a whole number from 1 to 1,000,000, not 0"),
        ({"rules": [GERMAN], "num_games": 2}, "num_games is 2"),
        ({"rules": GERMAN, "num_games": 2, "rewards": "money"}, "rewards must be one of win, score, rank"),
        ({"rules": MIXED, "compact": True}, "same number of players"),
        ({"rules": GERMAN, "num_games": 1, "threads": 0}, "threads must be a whole number from 1 to 4,096, not 0"),
        ({"rules": GERMAN, "num_games": 1, "seed": -1}, "a seed must be"),
    ],
)
def test_impossible_batches_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Batch(**arguments)  # type: ignore[arg-type]


def test_compact_observations_have_a_row_per_player() -> None:
    games = Batch(GERMAN.with_(players=5), 3, seed=1, compact=True)
    assert games.observations().shape == (3, observation.size(5))
    assert observation.view(games.observations(), "city").shape == (3, 5, 42)


def test_seats_that_do_not_act_can_be_observed_too() -> None:
    games = Batch(GERMAN, 3, seed=1)
    seen = games.observe(2)
    assert (observation.view(seen, "question") == 0).all()
    assert (observation.view(seen, "hand").sum(1) == 4).all()
    with pytest.raises(ValueError, match="seats must be players"):
        games.observe(4)


def test_dealing_again_starts_other_or_the_same_games() -> None:
    games = Batch(GERMAN, 10, seed=1)
    first = games.states["hand"].copy()
    games.deal()
    assert (games.states["hand"] != first).any()
    games.deal(1)
    assert (games.states["hand"] == first).all()
