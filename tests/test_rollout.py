"""What a learner gets: choices by the softmax, advantages of every seat's own decisions, whole games."""

import pickle
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citadels_agents import Collector, SeatedBatch, play_to_end, rollout
from citadels_env import AMERICAN, FRENCH, GERMAN, Rules
from citadels_env.actions import N_ACTIONS
from citadels_env.batch import game_seeds
from invariants import cards_in_game, violations

TWO, THREE, FIVE, EIGHT = (
    GERMAN.with_(players=2, max_rounds=2),
    FRENCH.with_(players=3, add_districts="all", max_rounds=2),
    GERMAN.with_(players=5, max_rounds=3),
    AMERICAN.with_(players=8, max_rounds=2),
)
MIXED = [TWO, THREE, FIVE, EIGHT]
ALL_VALUES = 2**18  # more than the decisions of any test


def same_everywhere(seen: Any, masks: Any) -> tuple[Any, Any]:
    """A policy that likes all answers alike and expects nothing."""
    return np.zeros((len(seen), N_ACTIONS), np.float32), np.zeros(len(seen), np.float32)


def by_what_is_seen(seen: Any, masks: Any) -> tuple[Any, Any]:
    """A policy whose likes and values are a function of the observation alone."""
    key = seen.astype(np.int64) @ np.arange(1, seen.shape[1] + 1)
    logits = (key[:, None] * 31 + np.arange(N_ACTIONS) * 17) % 29 / 7
    return logits.astype(np.float32), (key % 64 / 64).astype(np.float32)


# --- choices -------------------------------------------------------------------


def draw(logits: Any, masks: Any, seed: int = 0, greedy: bool = False) -> tuple[Any, Any]:
    actions, log_probabilities = np.zeros(len(masks), np.int64), np.zeros(len(masks), np.float32)
    rollout.sample(logits, masks.astype(np.uint8), game_seeds(seed, len(masks)), greedy, actions, log_probabilities)
    return actions, log_probabilities


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), legal=st.integers(1, 80), scale=st.sampled_from([0.0, 1.0, 30.0, 1e4]), greedy=st.booleans())
def test_choices_are_legal_and_their_log_probabilities_exact(seed: int, legal: int, scale: float, greedy: bool) -> None:
    rng = np.random.default_rng(seed)
    masks = np.zeros((20, N_ACTIONS), np.bool_)
    for row in masks:
        row[rng.choice(N_ACTIONS, rng.integers(1, legal + 1), replace=False)] = True
    logits = (rng.normal(size=masks.shape) * scale).astype(np.float32)
    logits[~masks] = rng.choice([np.float32(1e9), np.float32(-1e9), np.nan, np.inf])  # what is illegal does not matter
    actions, log_probabilities = draw(logits, masks, seed, greedy)
    assert masks[np.arange(20), actions].all()
    for k in range(20):
        of_legal = logits[k, masks[k]].astype(np.float64)
        exact = logits[k, actions[k]] - of_legal.max() - np.log(np.exp(of_legal - of_legal.max()).sum())
        assert log_probabilities[k] == pytest.approx(exact, rel=1e-6, abs=1e-6)
        if greedy:
            assert actions[k] == np.flatnonzero(masks[k])[of_legal.argmax()]


def test_the_best_choice_is_the_first_of_equals() -> None:
    masks = np.zeros((2, N_ACTIONS), np.bool_)
    masks[:, [5, 70, 300, 1352]] = True
    logits = np.zeros((2, N_ACTIONS), np.float32)
    logits[1, [70, 1352]] = 2.0
    assert draw(logits, masks, greedy=True)[0].tolist() == [5, 70]


def test_choices_are_as_frequent_as_the_softmax_says() -> None:
    n = 20_000
    masks = np.zeros((n, N_ACTIONS), np.bool_)
    chosen = [3, 17, 400, 401, 1352]
    masks[:, chosen] = True
    logits = np.zeros((n, N_ACTIONS), np.float32)
    logits[:, chosen] = [0.3, -1.0, 1.2, -100.0, 0.0]
    actions, log_probabilities = draw(logits, masks, seed=4)
    counts = np.bincount(actions, minlength=N_ACTIONS)[chosen]
    chances = np.exp([0.3, -1.0, 1.2, -100.0, 0.0])
    chances /= chances.sum()
    assert counts[3] == 0
    possible = chances > 1e-6
    expected = n * chances[possible]
    assert ((counts[possible] - expected) ** 2 / expected).sum() < 21.1  # 3 degrees of freedom: exceeded once in 10,000
    assert np.allclose(np.exp(log_probabilities), chances[np.searchsorted(chosen, actions)], rtol=1e-5)


def test_where_nothing_is_legal_nothing_is_chosen_and_other_rows_choose_as_without() -> None:
    masks = np.zeros((3, N_ACTIONS), np.bool_)
    masks[1, 10:20] = True
    logits = np.zeros((3, N_ACTIONS), np.float32)
    actions, log_probabilities = draw(logits, masks)
    assert actions[[0, 2]].tolist() == [-1, -1]
    assert log_probabilities[[0, 2]].tolist() == [0.0, 0.0]
    assert 10 <= actions[1] < 20
    rng = game_seeds(0, 3)
    one, ignored = np.zeros(1, np.int64), np.zeros(1, np.float32)
    rollout.sample(logits[1:2], masks[1:2].astype(np.uint8), rng[1:2], False, one, ignored)
    assert one[0] == actions[1]
    before = rng[1]
    rollout.sample(logits[1:2], masks[1:2].astype(np.uint8), rng[1:2], False, one, ignored)
    assert rng[1] != before  # the stream goes on


@pytest.mark.parametrize("most", [1, 5, 31, 32, 33, 200, N_ACTIONS])
def test_lists_of_legal_answers_are_those_of_the_masks(most: int) -> None:
    rng = np.random.default_rng(most)
    masks = np.zeros((12, N_ACTIONS), np.uint8)
    for k, row in enumerate(masks[1:]):
        row[rng.choice(N_ACTIONS, most if k == 3 else rng.integers(0, most + 1), replace=False)] = 1
    lists = rollout.legal_lists(masks)
    assert lists.dtype == np.int16
    assert lists.shape == (12, most)
    for row, mask in zip(lists, masks, strict=True):
        legal = np.flatnonzero(mask)
        assert row[: len(legal)].tolist() == legal.tolist()
        assert (row[len(legal) :] == -1).all()


def test_rows_without_legal_answers_make_empty_lists() -> None:
    assert rollout.legal_lists(np.zeros((2, N_ACTIONS), np.uint8)).tolist() == [[-1], [-1]]
    assert rollout.legal_lists(np.zeros((0, N_ACTIONS), np.uint8)).shape == (0, 1)


# --- advantages ----------------------------------------------------------------


class Recorded(SeatedBatch):
    """A batch that writes down every decision, and policies whose values are different for every decision."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fragment = 0
        self.thoughts: list[tuple[int, Any, Any, Any]] = []  # policy, what it was given, values
        self.decisions: list[dict[str, Any]] = []
        self.ends: dict[int, tuple[int, Any]] = {}  # by number of the game: fragment and rewards
        self.thought = 0

    def policy(self, number: int) -> rollout.Policy:
        def think(seen: Any, masks: Any) -> tuple[Any, Any]:
            values = (np.arange(self.thought, self.thought + len(seen)) * 40503 % ALL_VALUES / ALL_VALUES).astype(np.float32)
            self.thought += len(seen)
            assert self.thought < ALL_VALUES
            self.thoughts.append((number, seen.copy(), masks.copy(), values))
            return by_what_is_seen(seen, masks)[0], values

        return think

    def step_unchecked(self, answers: Any) -> None:
        asked, actors, trajectories = self.asked, self.actors, self.trajectories
        seen, masks = self.observations().copy(), self.masks().copy()
        values = np.full(self.num_games, np.nan)
        for policy, given_seen, given_masks, thought in self.thoughts:
            rows = np.flatnonzero(asked == policy)
            assert (given_seen == seen[rows]).all()  # a policy is asked for its own seats
            assert (given_masks == masks[rows]).all()
            values[rows] = thought
        assert not np.isnan(values).any()
        self.thoughts.clear()
        for k in range(self.num_games):
            self.decisions.append(
                {
                    "policy": int(asked[k]),
                    "seat": int(actors[k]),
                    "trajectory": int(trajectories[k]),
                    "fragment": self.fragment,
                    "observation": seen[k],
                    "mask": masks[k],
                    "action": int(answers[k]),
                    "value": float(values[k]),
                }
            )
        super().step_unchecked(answers)
        for k in np.flatnonzero(self.done):
            self.ends[int(trajectories[k]) // 8] = self.fragment, self.rewards[k].copy()

    def expected(self, gamma: float, lambda_: float) -> dict[float, tuple[dict[str, Any], float]]:
        """By value: every decision whose successor is known, and its advantage.

        The advantage of a decision is computed in the fragment in which the next one of its seat is taken (or the game ends).  The
        advantage of that next one is added as far as it is known in the same fragment.
        """
        result = {}
        order = sorted(self.decisions, key=lambda decision: decision["trajectory"])
        for trajectory, group in groupby(order, key=lambda decision: decision["trajectory"]):
            mine = list(group)
            end = self.ends.get(trajectory // 8)
            following_value = following_advantage = 0.0
            known_in = None if end is None else end[0]  # the fragment in which the decision's successor is known
            reward = 0.0 if end is None else float(end[1][mine[0]["seat"]])
            for decision in reversed(mine):
                advantage = reward + gamma * following_value - decision["value"] + gamma * lambda_ * following_advantage
                if known_in is not None:
                    result[decision["value"]] = decision, advantage
                reward, following_value = 0.0, decision["value"]
                following_advantage = advantage if known_in == decision["fragment"] else 0.0
                known_in = decision["fragment"]
        return result


def assert_all_as_expected(
    games: Recorded, returned: list[dict[int, dict[str, Any]]], learning: set[int], gamma: float, lambda_: float
) -> int:
    """Every decision of the learning policies is returned once, as it was taken, with its advantage."""
    expected = games.expected(gamma, lambda_)
    assert all(set(rows) == learning for rows in returned)
    number = 0
    for policy in learning:
        rows = {name: np.concatenate([rows[policy][name] for rows in returned]) for name in rollout.COLUMNS}
        for name, dtype in {"observations": np.uint8, "masks": np.uint8, "actions": np.int64}.items():
            assert rows[name].dtype == dtype
        for name in ("log_probabilities", "values", "advantages", "targets"):
            assert rows[name].dtype == np.float32
        mine = {value: decision for value, (decision, _) in expected.items() if decision["policy"] == policy}
        assert sorted(rows["values"].tolist()) == sorted(mine)  # none lost, none doubled
        for k, value in enumerate(rows["values"].tolist()):
            decision, advantage = expected[value]
            assert (rows["observations"][k] == decision["observation"]).all()
            assert (rows["masks"][k] == decision["mask"]).all()
            assert rows["actions"][k] == decision["action"]
            assert rows["advantages"][k] == pytest.approx(advantage, abs=2e-6)
            assert rows["targets"][k] == pytest.approx(advantage + value, abs=2e-6)
            logits = by_what_is_seen(decision["observation"][None], None)[0][0, decision["mask"]].astype(float)
            of_action = logits[np.flatnonzero(decision["mask"]) == decision["action"]][0]
            assert rows["log_probabilities"][k] == pytest.approx(of_action - np.log(np.exp(logits).sum()), abs=1e-5)
        number += len(mine)
    return number


@pytest.mark.parametrize("rules", [TWO, THREE, FIVE, EIGHT, MIXED], ids=["2 players", "3 players", "5 players", "8 players", "mixed"])
@pytest.mark.parametrize("steps", [1, 2, 7, 64])
def test_advantages_are_those_of_a_slow_obvious_computation(rules: Rules | list[Rules], steps: int) -> None:
    gamma, lambda_ = {1: (1.0, 0.95), 2: (0.97, 1.0), 7: (0.9, 0.7), 64: (0.99, 0.95)}[steps]
    games = Recorded(rules, 5, steps, rewards="rank")
    collector = Collector(games, steps, gamma=gamma, lambda_=lambda_, seed=1)
    returned, ended = [], []
    for fragment in range(max(2, 140 // steps)):
        games.fragment = fragment
        rows, ends = collector.collect([games.policy(0)])
        returned.append(rows)
        ended.append(ends)
    number = assert_all_as_expected(games, returned, {0}, gamma, lambda_)
    assert number > 0.8 * len(games.decisions)
    assert len(np.concatenate(ended)) == len(games.ends) >= 5
    assert collector.waiting is not None
    assert len(collector.waiting["actions"]) == len(games.decisions) - number


@settings(max_examples=25, deadline=None)
@given(
    fragments=st.lists(st.integers(1, 30), min_size=2, max_size=12),
    seed=st.integers(0, 1000),
    gamma=st.sampled_from([1.0, 0.9, 0.0]),
    lambda_=st.sampled_from([1.0, 0.5, 0.0]),
    learning=st.sampled_from([{0}, {1}, {0, 2}, {0, 1, 2}]),
    scheme=st.sampled_from(["win", "score", "rank"]),
)
def test_advantages_are_right_whoever_plays_and_however_games_are_cut(
    fragments: list[int], seed: int, gamma: float, lambda_: float, learning: set[int], scheme: str
) -> None:
    opponents = {"self": 1.0, "past": 1.0, "random": 1.0, "frozen": 1.0}
    games = Recorded(MIXED, 4, seed, opponents=opponents, policies=("past", "frozen"), rewards=scheme)
    collector = Collector(games, 1, gamma=gamma, lambda_=lambda_, learning=sorted(learning), seed=seed)
    policies = [games.policy(k) for k in range(3)]
    returned = []
    for fragment, steps in enumerate(fragments):
        games.fragment = fragment
        returned.append(collector.collect(policies, steps=steps)[0])
        asked = np.array([decision["policy"] for decision in games.decisions if decision["fragment"] == fragment])
        seats = np.array([decision["seat"] for decision in games.decisions if decision["fragment"] == fragment])
        assert collector.counts["policies"].tolist() == np.bincount(asked, minlength=3).tolist()
        assert collector.counts["seats"].tolist() == np.bincount(seats, minlength=8).tolist()
    assert len(games.decisions) == 4 * sum(fragments)
    assert_all_as_expected(games, returned, learning, gamma, lambda_)


@pytest.mark.parametrize("steps", [2, 9, 200])
def test_the_final_reward_reaches_the_last_decision_of_every_seat(steps: int) -> None:
    games = Recorded([THREE, EIGHT], 6, 3, rewards="rank")
    collector = Collector(games, steps, gamma=1.0, lambda_=0.0)
    values = games.policy(0)
    advantage = {}
    for fragment in range(400 // steps):
        games.fragment = fragment
        rows = collector.collect([values])[0][0]
        advantage.update(zip(rows["values"].tolist(), rows["advantages"].tolist(), strict=True))
    last = {decision["trajectory"]: decision for decision in games.decisions}
    seats_that_ended = set()
    for trajectory, decision in last.items():
        if trajectory // 8 in games.ends:
            reward = games.ends[trajectory // 8][1][trajectory % 8]
            assert advantage[decision["value"]] == pytest.approx(reward - decision["value"], abs=1e-6)
            seats_that_ended.add(trajectory % 8)
    assert seats_that_ended == set(range(8))


def test_without_discount_and_values_every_decision_of_a_game_is_worth_its_final_reward() -> None:
    games = Recorded(MIXED, 8, 2, rewards="score")
    policy = games.policy(0)

    def expects_nothing(seen: Any, masks: Any) -> tuple[Any, Any]:
        logits, values = policy(seen, masks)
        return logits, np.zeros_like(values)

    rows = Collector(games, 300, gamma=1.0, lambda_=1.0).collect([expects_nothing])[0][0]
    decisions = [d for d in games.decisions if d["trajectory"] // 8 in games.ends]
    rewards = sorted(float(games.ends[d["trajectory"] // 8][1][d["seat"]]) for d in decisions)
    assert len(decisions) > 1000
    # decisions of games that go on are worth nothing yet
    assert sorted(rows["targets"].tolist()) == pytest.approx(sorted(rewards + [0.0] * (len(rows["targets"]) - len(rewards))))
    assert (rows["targets"] == rows["advantages"]).all()


def test_the_games_and_choices_do_not_depend_on_how_they_are_cut() -> None:
    played = []
    for steps in (1, 5, 30):
        collector = Collector(SeatedBatch(MIXED, 6, 2, opponents="random", rewards="rank"), steps, seed=4)
        ended = [collector.collect([by_what_is_seen])[1] for _ in range(60 // steps)]
        played.append((np.concatenate(ended).tobytes(), collector.batch.states.tobytes(), collector.rng.tobytes()))
    assert played[0] == played[1] == played[2]


def test_greedy_collection_takes_the_best_answers() -> None:
    games = SeatedBatch(THREE, 4, 1)
    rows = Collector(games, 20).collect([by_what_is_seen], greedy=True)[0][0]
    logits = np.where(rows["masks"] != 0, by_what_is_seen(rows["observations"], None)[0], -np.inf)
    assert (rows["actions"] == logits.argmax(1)).all()


def test_staggered_games_are_legal_and_at_different_stages() -> None:
    rules = [r.with_(max_rounds=30) for r in MIXED]
    collectors = [Collector(SeatedBatch(rules, 60, 5, opponents={"self": 1.0, "heuristic": 1.0}), 4, seed=seed) for seed in (1, 1, 2)]
    for collector in collectors:
        collector.stagger(80)
    games = collectors[0].batch
    assert violations(games.states, cards_in_game([rules[k] for k in games.games["rules"]]), games.masks()) == []
    assert len(np.unique(games.states["round_number"])) > 4
    assert len(np.unique(games.games["decisions"])) > 30
    assert (games.states.tobytes() == collectors[1].batch.states.tobytes()) is True
    assert games.states.tobytes() != collectors[2].batch.states.tobytes()
    rows, _ = collectors[0].collect([same_everywhere])
    assert len(rows[0]["actions"]) > 0
    before = games.states.tobytes()
    collectors[0].stagger(0)
    assert games.states.tobytes() == before


def test_staggering_leaves_the_arrays_of_policies_alone() -> None:
    logits = np.ones((4, N_ACTIONS), np.float32)
    collector = Collector(SeatedBatch(TWO, 4, 1), 2)
    collector.collect([lambda seen, masks: (logits, np.zeros(4, np.float32))])
    collector.stagger(3)
    assert (logits == 1).all()


def test_a_pickled_collector_continues_identically() -> None:
    games = SeatedBatch(MIXED, 5, 3, opponents={"self": 1.0, "other": 1.0, "heuristic": 1.0}, policies=("other",))
    one = Collector(games, 6, learning=(0, 1), seed=2)
    policies = [by_what_is_seen, same_everywhere]
    for _ in range(4):
        one.collect(policies)
    two = pickle.loads(pickle.dumps(one))
    for _ in range(8):
        (rows, ended), (other_rows, other_ended) = one.collect(policies), two.collect(policies)
        assert ended.tobytes() == other_ended.tobytes()
        for policy in (0, 1):
            for name in rollout.COLUMNS:
                assert (rows[policy][name] == other_rows[policy][name]).all()


def test_impossible_collectors_are_refused() -> None:
    games = SeatedBatch(TWO, 2, 1, opponents={"self": 1.0, "other": 1.0}, policies=("other",))
    with pytest.raises(ValueError, match="auto_reset=True"):
        Collector(SeatedBatch(TWO, 1, 1, auto_reset=False), 4)
    with pytest.raises(ValueError, match="steps must be a whole number from 1 to 100,000, not 0"):
        Collector(games, 0)
    with pytest.raises(ValueError, match="a seed must be"):
        Collector(games, 4, seed=-1)
    before = games.states.tobytes()
    with pytest.raises(ValueError, match="the policies are self, other: 2, not 1"):
        Collector(games, 4).collect([same_everywhere])
    assert games.states.tobytes() == before


# --- whole games ---------------------------------------------------------------


def whole(number: int = 24, seed: int = 3, **options: Any) -> SeatedBatch:
    arguments: dict[str, Any] = {"opponents": "heuristic", "own_seat": "rotate", "auto_reset": False, **options}
    return SeatedBatch(MIXED, number, seed, **arguments)


def test_every_game_is_played_to_its_end_once_with_the_learner_in_each_seat_in_turn() -> None:
    games = whole()
    seeds = games.seeds.copy()
    ended = play_to_end(games, [by_what_is_seen], seed=1)
    assert (ended["place"] == np.arange(24)).all()
    assert (games.states["over"] == 1).all()
    assert (games.seeds == seeds).all()
    players = np.array([r.players for r in MIXED])[ended["rules"]]
    assert (ended["own"] == np.arange(24) % players).all()
    assert np.allclose(ended["rewards"].sum(1), 1)
    assert (ended["scores"] == games.states["score"]).all()
    assert (ended["rounds"] == games.states["round_number"]).all()


def test_greedy_games_have_no_chance_of_their_own_and_sampled_ones_depend_on_the_seed() -> None:
    best = [play_to_end(whole(), [by_what_is_seen], greedy=True, seed=seed) for seed in (1, 2)]
    assert (best[0] == best[1]).all()
    drawn = [play_to_end(whole(), [by_what_is_seen], seed=seed) for seed in (1, 1, 2)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()


def test_a_game_played_to_its_end_does_not_depend_on_the_others() -> None:
    few, many = (play_to_end(whole(number), [by_what_is_seen], seed=1) for number in (5, 24))
    assert (few == many[:5]).all()


def test_several_policies_play_their_own_seats_to_the_end() -> None:
    games = whole(opponents={"self": 1.0, "other": 1.0, "random": 1.0}, policies=("other",))
    asked: list[set[int]] = [set(), set()]

    def policy(number: int) -> rollout.Policy:
        def think(seen: Any, masks: Any) -> tuple[Any, Any]:
            assert masks.any(1).all()
            asked[number] |= set(map(bytes, seen))
            return by_what_is_seen(seen, masks)

        return think

    ended = play_to_end(games, [policy(0), policy(1)])
    assert len(ended) == 24
    assert asked[0]
    assert asked[1]
    assert not asked[0] & asked[1]


def test_whole_games_need_a_batch_that_does_not_deal_new_ones_and_a_policy_for_each_name() -> None:
    with pytest.raises(ValueError, match="auto_reset=False"):
        play_to_end(whole(auto_reset=True), [same_everywhere])
    with pytest.raises(ValueError, match="the policies are self: 1, not 2"):
        play_to_end(whole(), [same_everywhere, same_everywhere])
