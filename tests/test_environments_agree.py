"""All environments play the same game: the same seed and answers show the same through `Game`, AEC, Gymnasium and the batches."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from citadels_agents import SeatedBatch
from citadels_agents.arena import answer_all
from citadels_agents.envs.single import CitadelsEnv
from citadels_agents.envs.vector import CitadelsVectorEnv
from citadels_env import AMERICAN, FRENCH, GERMAN, Batch, Game, Rules, citadels_v0

GAMES: list[tuple[Rules, Any]] = [
    (GERMAN.with_(players=2), "expert"),
    (FRENCH.with_(players=3, add_districts="all"), "random"),
    (GERMAN, ["builder", "random", "expert"]),
    (AMERICAN.with_(players=5, add_districts="all"), "opportunist"),
    (GERMAN.with_(players=6, max_rounds=4), "heuristic"),
    (FRENCH.with_(players=7), {"random": 1, "aggressor": 1}),
    (AMERICAN.with_(players=8), "economist"),
]
IDS = [f"{rules.players} players" for rules, _ in GAMES]

# What one decision showed (observation, mask, as bytes) and what was answered; at the end reward, scores, truncated.
Seen = list[tuple[Any, ...]]


def answer(mask: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def through_single(env: CitadelsEnv, seed: int) -> Seen:
    rng, seen = np.random.default_rng(seed), []
    shown, _ = env.reset(seed=seed)
    while True:
        action = answer(shown["action_mask"], rng)
        seen.append((shown["observation"].tobytes(), shown["action_mask"].tobytes(), action))
        shown, reward, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return [*seen, (shown["observation"].tobytes(), reward, info["scores"].tolist(), truncated)]


def through_vector(envs: CitadelsVectorEnv, seed: int) -> list[Seen]:
    """All first games of the places, each answered as `through_single` does."""
    number = envs.num_envs
    rngs = [np.random.default_rng(seed + place) for place in range(number)]
    seen: list[Seen] = [[] for _ in range(number)]
    shown, _ = envs.reset(seed=seed)
    over = np.zeros(number, bool)
    while not over.all():
        actions = np.zeros(number, int)
        for place in range(number):
            if shown["action_mask"][place].any():
                actions[place] = answer(shown["action_mask"][place], rngs[place])
                if not over[place]:
                    seen[place].append((shown["observation"][place].tobytes(), shown["action_mask"][place].tobytes(), actions[place]))
        shown, rewards, terminated, truncated, infos = envs.step(actions)
        for place in np.flatnonzero((terminated | truncated) & ~over):
            end = infos["scores"][place].tolist()
            seen[place].append((shown["observation"][place].tobytes(), rewards[place], end, bool(truncated[place])))
            over[place] = True
    return seen


def through_aec_and_game(rules: Rules, seed: int, own: int, opponents: list[Any], compact: bool, rewards: str) -> Seen:
    """The game of the seed, the opponents' answers asked for and given one by one, to the AEC environment and to `Game` alike."""
    rng, seen = np.random.default_rng(seed), []
    game, env = Game(rules, seed), citadels_v0.env(rules=rules, compact=compact, rewards=rewards, mask_in="both")
    env.reset(seed=seed)
    me = env.possible_agents[own]
    while not game.over:
        assert env.agent_selection == env.possible_agents[game.actor or 0]
        if game.actor == own:
            shown, reward, termination, truncation, info = env.last()
            assert (reward, termination, truncation) == (0, False, False)
            assert (shown["observation"] == game.observation(compact=compact)).all()
            assert (shown["action_mask"] == game.mask()).all() and (info["action_mask"] == game.mask()).all()
            action = answer(game.mask(), rng)
            seen.append((shown["observation"].tobytes(), shown["action_mask"].tobytes(), action))
        else:
            answers = np.zeros(1, np.int64)
            answer_all(game._states, opponents[game.actor or 0].row, answers)
            action = int(answers[0])
        game.play(action)
        env.step(action)
    scores = [*game.scores(), *[0] * (8 - rules.players)]
    last = env.observe(me)["observation"]
    assert (last == game.observation(own, compact)).all()
    assert env.truncations[me] == game.truncated != env.terminations[me]
    return [*seen, (last.tobytes(), env.rewards[me], scores, game.truncated)]


def seated(env: CitadelsEnv) -> list[Any]:
    """Who plays each seat in the game of the environment."""
    agents, codes = env._batch.agents, env._batch.games["seating"][0]
    return [agents[code] if code >= 0 else None for code in codes[: env._batch.rules[0].players]]


@pytest.mark.parametrize(("compact", "rewards"), [(False, "win"), (True, "rank")])
@pytest.mark.parametrize(("rules", "opponents"), GAMES, ids=IDS)
def test_one_seat_sees_the_same_game_in_every_environment(rules: Rules, opponents: Any, compact: bool, rewards: str) -> None:
    options = {"rules": rules, "opponents": opponents, "compact": compact, "rewards": rewards}
    single = CitadelsEnv(**options)
    many = through_vector(CitadelsVectorEnv(6, **options), 40)
    seats = set()
    for place, seed in enumerate(range(40, 46)):
        expected = through_single(single, seed)
        assert many[place] == expected
        assert through_aec_and_game(rules, seed, single.seat, seated(single), compact, rewards) == expected
        assert expected[-1][3] == (rules.max_rounds == 4)
        seats.add(single.seat)
    assert len(seats) > 1


def every_decision(batch: Batch) -> Iterator[tuple[int, Any]]:
    """Play a batch at random: (place, what was seen and answered) of every decision, and at last (place, rewards and scores)."""
    rngs = [np.random.default_rng(place) for place in range(batch.num_games)]
    observations = batch.observations()
    while (batch.actors >= 0).any():
        answers = np.zeros(batch.num_games, np.int64)
        for place in np.flatnonzero(batch.actors >= 0):
            mask = batch.masks()[place]
            answers[place] = answer(mask, rngs[place])
            yield place, (batch.actors[place], observations[place].tobytes(), mask.tobytes(), answers[place])
        batch.step(answers)
        for place in np.flatnonzero(batch.done):
            yield place, (batch.rewards[place].tolist(), batch.states["score"][place].tolist())


@pytest.mark.parametrize("rules", [rules for rules, _ in GAMES], ids=IDS)
def test_self_play_of_all_seats_is_the_same_game_in_every_environment(rules: Rules) -> None:
    plain = Batch(rules, 3, seed=5, auto_reset=False)
    batches = plain, SeatedBatch(rules, 3, 5, opponents="self", auto_reset=False)
    seen: list[dict[int, list[Any]]] = []
    for batch in batches:
        seen.append(defaultdict(list))
        for place, what in every_decision(batch):
            seen[-1][place].append(what)
    assert seen[0] == seen[1]
    aec = citadels_v0.env(rules=rules)
    parallel = turn_based_aec_to_parallel(citadels_v0.env(rules=rules))
    for place in range(3):
        seed = int(plain.seeds[place])
        game = Game(rules, seed)
        aec.reset(seed=seed)
        views, _ = parallel.reset(seed=seed)
        *decisions, (rewards, scores) = seen[0][place]
        for actor, observation, mask, action in decisions:
            agent = aec.agent_selection
            assert agent == f"player_{actor}" and game.actor == actor
            assert game.observation().tobytes() == aec.observe(agent)["observation"].tobytes() == observation
            assert views[agent]["observation"].tobytes() == observation
            assert game.mask().tobytes() == aec.observe(agent)["action_mask"].tobytes() == views[agent]["action_mask"].tobytes() == mask
            game.play(int(action))
            aec.step(int(action))
            views, paid, *_ = parallel.step(dict.fromkeys(parallel.agents, int(action)))
        assert game.over and not parallel.agents
        assert [*game.scores(), *[0] * (8 - rules.players)] == scores
        for given in (aec.rewards, paid):
            assert [given[agent] for agent in aec.possible_agents] == pytest.approx(rewards[: rules.players])
