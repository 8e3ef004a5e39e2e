"""`SeatedBatch`: the games of `Batch` with agents in some seats, drawn from distributions of rules and opponents."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citadels_agents import AgentError, SeatedBatch, View, arena, make, play_lineups, register, registry
from citadels_env import AMERICAN, FRENCH, GERMAN, Batch, Game, Rules, batch, state
from citadels_env.batch import game_seeds
from invariants import cards_in_game, random_answers, random_rules, violations
from python_agents import Broken, First

ROOT = Path(__file__).parent.parent
SHORT = [
    GERMAN.with_(max_rounds=2),
    FRENCH.with_(players=3, add_districts="all", max_rounds=3),
    AMERICAN.with_(players=8, max_rounds=1),
    GERMAN.with_(players=2, max_rounds=3),
    FRENCH.with_(players=5, max_rounds=2),
]
OPPONENTS = {"self": 1.0, "heuristic": 2.0, "random": 1.0}


class ByChance:
    """Answers by the chance that it is given."""

    name = "by-chance"

    def act(self, view: View) -> int:
        return int(np.random.default_rng(view.seed).choice(view.legal_indices()))


@pytest.fixture
def registered() -> Iterator[list[First]]:
    """Agents in Python by name; the list gets every `First` that is made."""
    made: list[First] = []

    def first() -> First:
        made.append(First())
        return made[-1]

    factories: dict[str, Any] = {"seated-first": first, "seated-by-chance": ByChance, "seated-broken": Broken}
    for name, factory in factories.items():
        register(name, factory)
    yield made
    for name in factories:
        del registry._FACTORIES[name]


def everything(games: Any, places: Any = slice(None)) -> bytes:
    """All that is known of some places, but for the number of their observation template, which is no part of a game."""
    states = games.states[places].copy()
    states["rules"]["template"] = 0
    parts = [states, games.masks()[places], games.observations()[places], games._steps[places]]
    if isinstance(games, SeatedBatch):
        parts += [games.games[places], games.final_observations[places]]
    return b"".join(part.tobytes() for part in parts)


def answers_of(games: Any, agent: str = "heuristic") -> Any:
    """What an agent outside answers in every game; its chance comes from the games, as in the kernel."""
    answers = np.zeros(games.num_games, np.int64)
    arena.answer_all(games.states, make(agent).row, answers)
    return answers


def play_on(games: Any, agent: str = "heuristic") -> Any:
    """Play games that are not dealt anew to their end, with an agent outside; the records of ENDED by place."""
    ended = []
    while (games.actors >= 0).any():
        games.step(answers_of(games, agent))
        ended.append(games.ended())
    records = np.concatenate(ended)
    return records[np.argsort(records["place"])]


# --- the same games ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the designer advises")
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**64 - 1), rules=st.integers(0, 10_000), rounds=st.integers(1, 4), scheme=st.sampled_from(["win", "score", "rank"])
)
def test_a_learner_in_every_seat_plays_exactly_the_games_of_a_batch(seed: int, rules: int, rounds: int, scheme: str) -> None:
    one = random_rules(rules).with_(max_rounds=rounds)
    seated = SeatedBatch(one, 5, seed, rewards=scheme, compact=True)
    plain = Batch(one, 5, seed, rewards=scheme, compact=True)
    seated.observations()
    plain.observations()
    rng = np.random.default_rng(rules)
    for _ in range(60):
        assert (seated.masks() == plain.masks()).all()
        assert (seated.observations() == plain.observations()).all()
        assert (seated.actors == plain.actors).all()
        assert (seated.rewards == plain.rewards).all()
        assert (seated.done == plain.done).all()
        assert (seated.seeds == plain.seeds).all()
        answers = random_answers(plain.masks(), rng)
        seated.step(answers)
        plain.step(answers)


@pytest.mark.filterwarnings("ignore:the designer advises")
def test_games_of_several_rules_are_those_of_single_games_and_follow_each_other() -> None:
    rules = [*SHORT, *(random_rules(seed).with_(max_rounds=2) for seed in range(20))]
    games = SeatedBatch(rules, 30, seed=4)
    seen = games.observations()
    rng = np.random.default_rng(0)
    singles: list[Any] = [None] * 30
    ends = 0
    for _ in range(120):
        for k in range(30):
            if singles[k] is None:
                singles[k] = Game(rules[games.games["rules"][k]], int(games.seeds[k]))
            assert games.actors[k] == singles[k].actor
            assert (games.masks()[k] == singles[k].mask()).all()
            assert (seen[k] == singles[k].observation()).all()
        answers = random_answers(games.masks(), rng)
        seeds = games.seeds.copy()
        games.step(answers)
        for k in range(30):
            singles[k].play(int(answers[k]))
            assert games.done[k] == singles[k].over
            if singles[k].over:
                assert games.seeds[k] == batch.next_seed(seeds[k])
                assert np.flatnonzero(games.rewards[k]).tolist() == singles[k].winners()
                assert tuple(games.games["ended_scores"][k, : singles[k].rules.players]) == singles[k].scores()
                singles[k] = None
                ends += 1
            else:
                assert games.seeds[k] == seeds[k]
    assert ends > 30


def test_a_game_of_a_seed_is_the_same_in_any_place_batch_order_and_number_of_threads() -> None:
    def record(games: SeatedBatch) -> dict[int, bytes]:
        dealt = games.states["hand"].copy()
        seeds, ended = games.seeds.copy(), play_on(games)
        assert (ended["place"] == np.arange(len(seeds))).all()
        ended["place"] = 0
        return {int(seed): hand.tobytes() + game.tobytes() for seed, hand, game in zip(seeds, dealt, ended, strict=True)}

    def games(number: int, threads: int = 1) -> SeatedBatch:
        return SeatedBatch(SHORT, number, 11, opponents=OPPONENTS, auto_reset=False, threads=threads)

    one = record(games(600))
    assert len(one) == 600
    assert record(games(600, threads=2)) == one
    small = games(40)
    assert record(small).items() <= one.items()
    seeds = np.array(list(one), np.uint64)[::-1][:40]
    small.deal_in(np.arange(40), seeds)
    again = record(small)
    assert list(again) == seeds.tolist()
    assert again.items() <= one.items()


def test_stepping_with_two_threads_gives_the_same_arrays() -> None:
    one, two = (SeatedBatch(SHORT, 520, 2, opponents=OPPONENTS, threads=threads, final_observations=True) for threads in (1, 2))
    for games in (one, two):
        games.observations()
    for _ in range(40):
        answers = answers_of(one)
        assert (answers == answers_of(two)).all()
        one.step(answers)
        two.step(answers)
    assert everything(one) == everything(two)
    assert one.games["number"].sum() > 200


def test_the_games_after_agents_answered_keep_every_invariant() -> None:
    rules = [random_rules(seed) for seed in range(60)]
    games = SeatedBatch(rules, 150, seed=3, opponents=OPPONENTS)
    rng = np.random.default_rng(0)
    for _ in range(40):
        copies = cards_in_game([rules[k] for k in games.games["rules"]])
        assert violations(games.states, copies, games.masks()) == []
        games.step(random_answers(games.masks(), rng))


# --- agents --------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 9))
def test_kernel_agents_inside_play_what_they_play_outside(players: int) -> None:
    rules = GERMAN.with_(players=players, add_districts="all")
    opponents = ["expert", "random", "heuristic", "aggressor", "random", "expert", "heuristic"][: players - 1]
    own = players // 2
    games = SeatedBatch(rules, 12, 7, opponents=opponents, own_seat=own, auto_reset=False)
    seeds = games.seeds.copy()
    lineup = ["heuristic"] * players
    for k, name in enumerate(opponents):
        lineup[(own + 1 + k) % players] = name
    ended, outside = play_on(games), play_lineups(rules, [lineup] * 12, seeds)
    for name in ("scores", "decisions", "rounds", "truncated"):
        assert (ended[name] == outside[name]).all()
    assert (ended["rewards"] == outside["wins"]).all()
    assert (ended["own"] == own).all()


def test_agents_are_asked_in_their_seats_and_answer_as_for_a_copy_of_the_state() -> None:
    """The learner's answer, then each agent's for its own seats, one by one, lead to what the batch shows next."""
    games = SeatedBatch(SHORT, 20, 5, opponents=OPPONENTS, auto_reset=False)
    agents = [agent.name for agent in games.agents]
    for _ in range(25):
        before, seating, rules = games.states.copy(), games.games["seating"].copy(), games.games["rules"].copy()
        answers = random_answers(games.masks(), np.random.default_rng(1))
        games.step(answers)
        for k in range(20):
            game = Game.of_state(SHORT[rules[k]], before[k : k + 1])
            if game.over:
                continue
            game.play(int(answers[k]))
            while game.actor is not None and seating[k, game.actor] >= 0:
                game.play(int(registry.choices(game._states, agents[seating[k, game.actor]])[0]))
            assert game.actor == (None if games.actors[k] < 0 else games.actors[k])
            assert (game.mask() == games.masks()[k]).all()
            for name in ("gold", "hand", "deck", "city", "score", "rng"):
                assert (game._states[name][0] == games.states[name][k]).all()
    assert (games.actors < 0).any()


def test_searching_agents_play_what_they_play_outside() -> None:
    rules = GERMAN.with_(max_rounds=2)
    search = "ismcts:iterations=20"
    opponents = [search, "random", "cheating:iterations=10"]
    games = SeatedBatch(rules, 4, 2, opponents=opponents, own_seat=1, auto_reset=False)
    seeds = games.seeds.copy()
    outside = play_lineups(rules, [["cheating:iterations=10", "heuristic", search, "random"]] * 4, seeds)
    ended = play_on(games)
    assert (ended["scores"] == outside["scores"]).all()
    assert (ended["decisions"] == outside["decisions"]).all()


def test_agents_in_python_are_asked_for_their_seats_only(registered: list[First]) -> None:
    rules = GERMAN.with_(max_rounds=2)
    games = SeatedBatch(rules, 3, 2, opponents="seated-first", own_seat=3, auto_reset=False)
    assert len(registered) == 1  # one agent, though in three seats
    seeds, ended = games.seeds.copy(), []
    while (games.actors >= 0).any():
        assert (games.actors[games.actors >= 0] == 3).all()
        games.step(games.masks().argmax(1))  # the first legal answer, too
        ended.append(games.ended())
    records = np.sort(np.concatenate(ended), order="place")
    outside = play_lineups(rules, [["seated-first"] * 4] * 3, seeds)
    assert (records["scores"] == outside["scores"]).all()
    assert (records["decisions"] == outside["decisions"]).all()
    inside, *others = registered
    there = [view for agent in others for view in agent.views if view.seat != 3]
    seen, expected = (sorted((view.seat, view.question, view.observation.tobytes()) for view in views) for views in (inside.views, there))
    assert seen == expected
    assert {view.rules for view in inside.views} == {rules}


def test_kernel_searching_and_python_agents_sit_at_one_table(registered: list[First]) -> None:
    opponents = {"seated-by-chance": 1.0, "ismcts:iterations=5": 1.0, "expert": 1.0, "self": 1.0}
    games = SeatedBatch(SHORT, 12, 3, opponents=opponents)
    games.observations()
    ended = []
    for _ in range(40):
        assert (games.asked == 0).all()
        assert (games.actors >= 0).all()
        games.step(answers_of(games))
        ended.append(games.ended())
    assert len(np.concatenate(ended)) >= 12
    alone = SeatedBatch(SHORT, 1, 0, opponents=opponents)  # the same games one after the other
    for game in ended[-1]:
        seed = games.seeds[game["place"]]
        place = np.array([0])
        alone.deal_in(place, np.array([seed]))
        for name in ("rules", "own", "seating", "decisions"):
            assert (alone.games[name][0] == games.games[name][game["place"]]).all()
        assert (alone.states["hand"][0] == games.states["hand"][game["place"]]).all()
        assert (alone.states["rng"][0] == games.states["rng"][game["place"]]).all()


def test_the_chance_of_agents_in_python_depends_on_the_game_only(registered: list[First]) -> None:
    one = SeatedBatch(SHORT, 6, 5, opponents="seated-by-chance", auto_reset=False)
    other = SeatedBatch(SHORT, 3, 0, opponents="seated-by-chance", auto_reset=False)
    other.deal_in(np.arange(3), one.seeds[3:])
    assert (play_on(one)["scores"][3:] == play_on(other)["scores"]).all()


class Witness(First):
    """Compares what it is shown with what it would be shown if the hidden cards were others."""

    games: SeatedBatch | None = None  # one game

    def act(self, view: View) -> str:
        if self.games is not None:
            other = state.copied(self.games.states)
            batch.redeal(other, np.array([view.seat]), game_seeds(len(self.views), 1))
            there = View(Game.of_state(view.rules, other), view.seed)
            assert (there.observation == view.observation).all()
            assert there.legal() == view.legal()
            for one, two in ((view._world, there._world), (view.determinise(1), there.determinise(1))):
                assert one.log == []
                assert one.seed == two.seed != self.games.seeds[0]
                for name in ("hand", "deck", "drafted_at", "owner", "face_down", "rng", "drawn"):
                    assert (one._states[name] == two._states[name]).all()
            assert not any(isinstance(value, Game) for name, value in vars(view).items() if name != "_world")
        return super().act(view)


@pytest.mark.parametrize("rules", SHORT)
def test_a_python_agent_sees_nothing_its_seat_cannot_know(rules: Rules) -> None:
    witness = Witness()
    witness.games = games = SeatedBatch(rules, 1, 3, opponents=[witness] * 7)
    for _ in range(40):
        games.step(answers_of(games))
    assert len(witness.views) > 20


@pytest.mark.parametrize(
    ("how", "reason"), [("raise", "raised RuntimeError: out of ideas"), ("illegal", "'build Atlantis' is not a legal answer")]
)
def test_a_python_agent_that_fails_is_reported_with_its_name_and_seat(how: str, reason: str) -> None:
    broken = Broken(how)
    broken.name = "broken"
    games = SeatedBatch(GERMAN, 1, 1, opponents=["random", broken, "random"], own_seat=1, auto_reset=False)
    with pytest.raises(AgentError, match="agent broken in game 0, seat 3: ") as error:
        play_on(games)
    assert reason in error.value.reason
    assert error.value.seat == 3
    assert error.value.game == 0
    assert "Player 3 answers PLAY" in error.value.replay
    games.deal(1)  # a new start
    assert games.asked[0] == 0


# --- Game.of_state -------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 120))
def test_a_game_made_of_a_state_goes_on_as_the_game_the_state_is_of(seed: int, steps: int) -> None:
    rules, rng = random_rules(seed), np.random.default_rng(seed)
    game = Game(rules, seed)
    while steps and not game.over:
        game.play(int(rng.choice(game.legal_indices())))
        steps -= 1
    before = game._states.tobytes()
    other = Game.of_state(rules, game._states)
    with pytest.raises(ValueError, match="no notation"):
        other.notation()
    if not game.over:
        world = other.redeal(other.actor or 0, 3)
        assert (world.observation() == game.observation()).all()
    while not game.over:
        assert other.actor == game.actor
        assert other.question == game.question
        assert (other.mask() == game.mask()).all()
        assert (other.observation() == game.observation()).all()
        answer = int(rng.choice(game.legal_indices()))
        other.play(answer)
        if before:
            assert game._states.tobytes() == before  # it has a state of its own
            before = b""
        game.play(answer)
    assert other.over
    assert other.scores() == game.scores()


def test_a_game_can_be_made_of_any_place_of_a_batch_of_several_rules() -> None:
    games = SeatedBatch(SHORT, 40, 1)
    seen = games.observations()
    for k in range(40):
        game = Game.of_state(SHORT[games.games["rules"][k]], games.states[k : k + 1])
        assert (game.observation() == seen[k]).all()
        assert game.rules.players == SHORT[games.games["rules"][k]].players


# --- what is drawn -------------------------------------------------------------


def chi_square(counts: Any, shares: Any) -> float:
    """How far counts are from shares; the number of degrees of freedom is one less than there are."""
    expected = np.asarray(shares, float) / np.sum(shares) * np.sum(counts)
    return float(((np.asarray(counts) - expected) ** 2 / expected).sum())


def test_rules_are_drawn_by_their_shares() -> None:
    games = SeatedBatch(SHORT, 8000, 1, rules_shares=[1, 2, 0, 4, 1])
    counts = np.bincount(games.games["rules"], minlength=5)
    assert counts[2] == 0
    assert chi_square(counts[[0, 1, 3, 4]], [1, 2, 4, 1]) < 21.1  # 3 degrees of freedom: exceeded once in 10,000
    assert chi_square(np.bincount(SeatedBatch(SHORT, 8000, 2).games["rules"], minlength=5), [1] * 5) < 23.5


def test_opponents_are_drawn_by_their_shares_for_each_seat_by_itself() -> None:
    shares = {"random": 2.0, "self": 1.0, "expert": 0.0, "heuristic": 3.0, "other": 2.0}
    games = SeatedBatch(GERMAN.with_(players=3), 6000, 3, opponents=shares, own_seat=1, policies=("other",))
    seating = games.games["seating"]
    assert (seating[:, 1] == -1).all()
    names = {agent.name: k for k, agent in enumerate(games.agents)} | {"self": -1, "other": -2}
    codes = np.array([names[name] for name in shares])
    chosen = [(seating[:, seat, None] == codes).argmax(1) for seat in (2, 0)]
    pairs = np.bincount(chosen[0] * 5 + chosen[1], minlength=25).reshape(5, 5)
    assert pairs[2].sum() == pairs[:, 2].sum() == 0
    drawn = [0, 1, 3, 4]
    by_pairs = np.outer(list(shares.values()), list(shares.values()))[np.ix_(drawn, drawn)]
    assert chi_square(pairs[np.ix_(drawn, drawn)], by_pairs) < 44.3  # 15 degrees of freedom: exceeded once in 10,000


def test_opponents_named_one_by_one_sit_to_the_left_of_the_learner() -> None:
    rules = [GERMAN.with_(players=n) for n in range(2, 9)]
    opponents = ["random", "expert", "self", "heuristic", "other", "random", "aggressor"]
    games = SeatedBatch(rules, 200, 1, opponents=opponents, policies=("other",))
    names = {agent.name: k for k, agent in enumerate(games.agents)} | {"self": -1, "other": -2}
    for game in games.games:
        n = rules[game["rules"]].players
        seating = [game["seating"][(game["own"] + distance) % n] for distance in range(n)]
        assert seating == [-1, *(names[name] for name in opponents[: n - 1])]
        assert (game["seating"][n:] == 0).all()


def test_the_learner_sits_where_it_is_told_anywhere_or_in_turn() -> None:
    rules = [GERMAN.with_(players=3), GERMAN.with_(players=5)]
    assert (SeatedBatch(rules, 50, 1, opponents="random", own_seat=2).games["own"] == 2).all()
    anywhere = SeatedBatch(rules, 6000, 1, opponents="random").games
    players = np.array([3, 5])[anywhere["rules"]]
    for n, bound in ((3, 18.4), (5, 23.5)):  # exceeded once in 10,000
        assert chi_square(np.bincount(anywhere["own"][players == n], minlength=n), [1] * n) < bound
    games = SeatedBatch([r.with_(max_rounds=1) for r in rules], 30, 1, opponents="random", own_seat="rotate")
    for _ in range(30):
        players = np.array([3, 5])[games.games["rules"]]
        assert (games.games["own"] == (np.arange(30) + games.games["number"]) % players).all()
        games.step(answers_of(games))
    assert games.games["number"].min() > 1


def test_new_shares_are_for_the_games_to_come() -> None:
    games = SeatedBatch(GERMAN, 200, 1, opponents={"self": 1.0, "random": 0.0})
    before = everything(games)
    games.set_shares({"self": 0.0, "random": 2.0})
    assert everything(games) == before
    games.step(random_answers(games.masks(), np.random.default_rng(0)))
    assert (games.games["seating"][:, :4] == -1).all()
    games.deal()
    assert ((games.games["seating"][:, :4] == -1).sum(1) == 1).all()
    games.set_shares({"random": 0.0, "self": 3.0})  # the order does not matter
    games.deal()
    assert (games.games["seating"][:, :4] == -1).all()
    for shares, message in (
        ({"self": 1.0}, "self, random"),
        ({"self": 1.0, "heuristic": 1.0}, "self, random"),
        ({"self": -1.0, "random": 2.0}, "none of them negative"),
        ({"self": 0.0, "random": 0.0}, "not all of them zero"),
        ({"self": float("nan"), "random": 1.0}, "opponents must be 2 shares"),
    ):
        with pytest.raises(ValueError, match=message):
            games.set_shares(shares)
        games.deal()
        assert (games.games["seating"][:, :4] == -1).all()
    with pytest.raises(ValueError, match="no drawn opponents"):
        SeatedBatch(GERMAN, 1, opponents="random").set_shares({"random": 1.0})


# --- what learners ask for -----------------------------------------------------


def test_a_trajectory_is_all_decisions_of_a_seat_in_one_game_and_no_others() -> None:
    games = SeatedBatch(SHORT, 12, 1, opponents={"self": 1.0, "other": 1.0, "random": 1.0}, policies=("other",))
    number_of: dict[tuple[int, int, int], int] = {}
    policy_of: dict[int, int] = {}
    rng = np.random.default_rng(0)
    dealt = np.zeros(12, np.int64)  # games seen in each place
    for step in range(150):
        for k in range(12):
            key = (k, int(dealt[k]), int(games.actors[k]))
            assert number_of.setdefault(key, int(games.trajectories[k])) == games.trajectories[k]
            assert policy_of.setdefault(int(games.trajectories[k]), int(games.asked[k])) == games.asked[k]
            assert games.games["seating"][k, games.actors[k]] == -1 - games.asked[k]
        if step == 50:
            games.deal_in(np.array([3, 4]))
            dealt[3:5] += 1
        elif step == 90:
            games.deal()
            dealt += 1
        elif step == 100:
            games.deal(1)
            dealt += 1
        else:
            games.step(random_answers(games.masks(), rng))
            dealt += games.done
    assert len(set(number_of.values())) == len(number_of) > 200
    assert set(policy_of.values()) == {0, 1}


def test_where_a_game_is_over_nobody_is_asked_and_the_learner_sees_its_end() -> None:
    games = SeatedBatch(SHORT, 10, 1, opponents=OPPONENTS, auto_reset=False, final_observations=True)
    games.observations()
    ended = play_on(games)
    assert (games.asked == -1).all()
    assert (games.trajectories == -1).all()
    assert not games.masks().any()
    assert (games.observations() == games.observe(games.games["own"])).all()
    assert (games.observations() == games.final_observations).all()
    states = games.states.tobytes()
    games.step(np.zeros(10, np.int64))
    assert games.states.tobytes() == states
    assert not games.done.any()
    assert games.ended().size == 0
    assert (games.ended(ended["place"]) == ended).all()


@pytest.mark.parametrize("compact", [False, True])
def test_what_is_told_of_ended_games_agrees_with_playing_them_again(compact: bool) -> None:
    rules = [r.with_(players=3) for r in SHORT] if compact else SHORT
    games = SeatedBatch(rules, 10, 6, rewards="rank", compact=compact, final_observations=True)
    rng = np.random.default_rng(2)
    answered: list[list[int]] = [[] for _ in range(10)]
    ends = 0
    for _ in range(250):
        seeds, own, chosen = games.seeds.copy(), games.games["own"].copy(), games.games["rules"].copy()
        answers = random_answers(games.masks(), rng)
        games.step(answers)
        for k in range(10):
            answered[k].append(int(answers[k]))
        assert (games.ended()["place"] == np.flatnonzero(games.done)).all()
        for record in games.ended():
            k = record["place"]
            game = Game(rules[chosen[k]], int(seeds[k]))
            for answer in answered[k]:
                game.play(answer)
            assert game.over
            n = game.rules.players
            assert record["rules"] == chosen[k]
            assert record["own"] == own[k]
            assert record["decisions"] == len(answered[k])
            assert record["rounds"] == game.round_number
            assert record["truncated"] == game.truncated
            assert tuple(record["scores"][:n]) == game.scores()
            assert (record["rewards"] == games.rewards[k]).all()
            assert (record["rewards"][:n].max() == record["rewards"][game.winners()]).all()
            assert (record["seating"][:n] == -1).all()
            assert (games.final_observations[k] == game.observation(int(own[k]), compact=compact)).all()
            answered[k] = []
            ends += 1
    assert ends > 20


def test_the_last_game_of_a_place_is_told_long_after_its_end() -> None:
    games = SeatedBatch(GERMAN.with_(max_rounds=1), 3, 1, opponents="random")
    while not games.done[1]:
        games.step(answers_of(games))
    told = games.ended(np.array([1]))
    assert told["rewards"].sum() == 1
    places = np.array([1])
    games.step_in(places, answers_of(games)[places])
    assert not games.done[1]
    assert (games.ended(places) == told).all()


def test_answering_and_dealing_in_some_places_leaves_the_others_alone() -> None:
    games = SeatedBatch(SHORT, 16, 8, opponents=OPPONENTS, final_observations=True)
    games.observations()
    rng = np.random.default_rng(0)
    for step in range(60):
        places = rng.choice(16, 5, replace=False)
        others = np.setdiff1d(np.arange(16), places)
        kept, before, seeds = everything(games, others), everything(games, places), games.seeds[places]
        if step % 8 == 5:
            games.deal_in(places)
            assert (games.seeds[places] == batch.next_seeds(seeds)).all()
        elif step % 8 == 6:
            games.deal_in(places, game_seeds(step, 5))
            assert (games.seeds[places] == game_seeds(step, 5)).all()
        else:
            games.step_in(places, random_answers(games.masks(), rng)[places])
        assert everything(games, others) == kept
        assert everything(games, places) != before
    games.step_in(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert games.games["number"].max() > 1


def test_answering_place_by_place_is_the_same_as_everywhere_at_once() -> None:
    games, whole = (SeatedBatch(SHORT, 6, 8, opponents=OPPONENTS, final_observations=True) for _ in range(2))
    games.observations()
    whole.observations()
    rng = np.random.default_rng(0)
    for _ in range(60):
        answers = random_answers(games.masks(), rng)
        whole.step(answers)
        for k in rng.permutation(6):
            games.step_in(np.array([k]), answers[k])
        assert everything(games) == everything(whole)
    games.deal()
    for k in range(6):
        whole.deal_in(np.array([k]))
    assert everything(games) == everything(whole)
    seeds = game_seeds(3, 6)
    games.deal_in(np.arange(6), seeds)
    whole.deal(3)
    assert everything(games) == everything(whole)
    assert (games.seeds == seeds).all()


@pytest.mark.parametrize("how", ["copy", "pickle"])
def test_a_copy_in_mid_game_continues_identically(how: str, registered: list[First]) -> None:
    opponents = {"self": 1.0, "random": 1.0, "seated-by-chance": 0.2}
    games = SeatedBatch(SHORT, 8, 8, opponents=opponents, own_seat="rotate", final_observations=True)
    games.observations()
    rng = np.random.default_rng(0)
    for _ in range(25):
        games.step(random_answers(games.masks(), rng))
    other = copy.deepcopy(games) if how == "copy" else pickle.loads(pickle.dumps(games))
    kept = everything(games)
    assert everything(other) == kept
    answers = []
    for _ in range(30):
        answers.append(random_answers(other.masks(), rng))
        other.step(answers[-1])
    assert everything(games) == kept  # nothing is shared
    for answer in answers:
        games.step(answer)
    assert everything(games) == everything(other)
    for one in (games, other):
        one.deal()
    assert everything(games) == everything(other)


def test_a_copied_batch_continues_identically() -> None:
    games = Batch(SHORT, seed=3)
    rng = np.random.default_rng(0)
    for _ in range(10):
        games.step(random_answers(games.masks(), rng))
    copies = [copy.deepcopy(games), pickle.loads(pickle.dumps(games))]
    for _ in range(40):
        answers = random_answers(games.masks(), rng)
        for one in (games, *copies):
            one.step(answers)
    assert everything(games) == everything(copies[0]) == everything(copies[1])
    copies[0].deal(1)
    assert (copies[0].seeds == game_seeds(1, len(SHORT))).all()
    assert (games.seeds == copies[1].seeds).all()


# --- bad input -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": []}, "at least one set of rules"),
        ({"num_games": 0}, "num_games must be a whole number from 1 to 1,000,000, not 0"),
        ({"seed": -1}, "a seed must be"),
        ({"rewards": "money"}, "rewards must be one of win, score, rank"),
        ({"threads": 0}, "threads must be a whole number from 1 to 4,096, not 0"),
        ({"rules": SHORT, "compact": True}, "same number of players"),
        ({"opponents": "nobody"}, "no agent 'nobody'"),
        ({"opponents": ["random", "nobody", "random"]}, "no agent 'nobody'"),
        ({"opponents": {"nobody": 1.0}}, "no agent 'nobody'"),
        ({"opponents": "ismcts:iterations=none"}, "iterations must be a whole number"),
        ({"opponents": ["random", "expert"]}, "4 players need 3 opponents, not 2: random, expert"),
        ({"rules": SHORT, "opponents": ["random"] * 6}, "8 players need 7 opponents, not 6"),
        ({"opponents": {"self": -1.0, "random": 3.0}}, "opponents must be 2 shares, none of them negative"),
        ({"opponents": {"self": float("nan"), "random": 3.0}}, "opponents must be 2 shares"),
        ({"opponents": {"self": 0.0, "random": 0.0}}, "not all of them zero"),
        ({"opponents": {}}, "opponents"),
        ({"rules_shares": [1.0, 2.0]}, "rules_shares must be 1 shares"),
        ({"rules": SHORT, "rules_shares": [1.0, 1.0, 1.0, 1.0]}, "rules_shares must be 5 shares"),
        ({"rules": SHORT, "rules_shares": [1.0, 1.0, -1.0, 1.0, 1.0]}, "none of them negative"),
        ({"rules": SHORT, "rules_shares": [0.0] * 5}, "not all of them zero"),
        ({"rules": SHORT, "rules_shares": [float("inf")] * 5}, "rules_shares must be 5 shares"),
        ({"rules": SHORT, "rules_shares": []}, "rules_shares must be 5 shares"),
        ({"own_seat": 4}, "own_seat is a seat from 0 to 3, 'rotate' or None, not 4"),
        ({"own_seat": -1}, "own_seat is a seat from 0 to 3"),
        ({"own_seat": "left"}, "not 'left'"),
        ({"rules": SHORT, "own_seat": 2}, "own_seat is a seat from 0 to 1"),
    ],
)
def test_impossible_batches_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SeatedBatch(**{"rules": GERMAN, "num_games": 2, **arguments})


def test_shares_may_be_arrays() -> None:
    games = SeatedBatch(SHORT, 50, 1, rules_shares=np.array([0, 0, 1, 0, 0]))  # type: ignore[arg-type]
    assert (games.games["rules"] == 2).all()


def test_bad_answers_and_seeds_change_nothing() -> None:
    games = SeatedBatch(SHORT, 5, 1, opponents=OPPONENTS, own_seat="rotate")
    games.observations()
    before = everything(games)
    answers = games.masks().argmax(1)
    for wrong in (int(np.argmin(games.masks()[3])), -1, 10_000):
        answers[3] = wrong
        with pytest.raises(ValueError, match=rf"action {wrong} .* is not legal in game 3"):
            games.step(answers)
        assert everything(games) == before
    with pytest.raises(ValueError, match="5 whole numbers"):
        games.step(answers[:4])
    with pytest.raises(ValueError, match="a seed must be"):
        games.deal(-1)
    assert everything(games) == before
    with pytest.raises(TypeError, match="use Batch"):
        games.play_out()
    assert everything(games) == before


# --- plain Python --------------------------------------------------------------


def test_compiled_and_plain_python_play_the_same_games_between_agents() -> None:
    code = """
import numpy as np
from hashlib import sha256
from citadels_agents import SeatedBatch
from citadels_env import FRENCH, GERMAN
rules = [GERMAN.with_(max_rounds=2), FRENCH.with_(players=3, add_districts="all", max_rounds=2)]
games = SeatedBatch(rules, 3, 5, opponents={"heuristic": 2, "self": 1, "random": 1, "ismcts:iterations=2": 0.2}, final_observations=True)
games.observations()
digest = sha256()
for k in range(25):
    games.step(np.array([np.flatnonzero(mask)[k * 7 % mask.sum()] for mask in games.masks()]))
    for part in (games.masks(), games.observations(), games.rewards, games.games, games.final_observations):
        digest.update(np.ascontiguousarray(part).tobytes())
assert games.games["number"].sum() > 0
print(digest.hexdigest())
"""
    outputs = []
    for disabled in ("0", "1"):
        path = os.pathsep.join([str(ROOT), str(ROOT / "agents")])
        environment = dict(os.environ, NUMBA_DISABLE_JIT=disabled, PYTHONPATH=path)
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True, cwd=ROOT)
        outputs.append(result.stdout)
    assert outputs[0] == outputs[1] != ""
