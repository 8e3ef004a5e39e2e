"""Agents by name: `make("expert")`, `make("ismcts:iterations=1000,persona=expert")`, and your own.

An agent answers through `act(view)`.  A `View` shows what its seat knows and nothing else.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from citadels_env import AgentSpecError, Game, InvalidArgumentError, Rules, engine, state
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import GOLDEN, game_seeds
from citadels_env.checks import MAX_GAMES, items, listed, one_of, seed_number, shown, thread_number, true_or_false, whole_number

from . import arena, evaluation, personas, search, specs
from ._trees import grow_tree, tree_table
from .belief import BELIEF_SHAPE, LEVELS

LONGEST = 200_000  # nodes of a tree that is bounded by time


class View:
    """What one seat knows of a game: the only thing an agent is given.

    Attributes: seat, rules, question, observation (full form, uint8), mask (bool).

    Raises InvalidArgumentError for a game that is over and an impossible seed.
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        if not isinstance(game, Game):
            raise InvalidArgumentError(f"game must be a Game, not {shown(game)}")
        if game.actor is None:
            raise InvalidArgumentError("the game is over; nobody has anything to answer")
        self.seat: int = game.actor
        self.rules: Rules = game.rules
        self.question: str = game.question or ""
        self.observation = game.observation()
        self.mask = game.mask()
        self.seed = seed  # for the agent's own chance
        self._texts = game.legal()
        self._world = game.redeal(self.seat, seed)  # a game the seat cannot tell from the true one

    def legal(self) -> list[str]:
        """The legal answers as texts, in the order of `legal_indices`."""
        return list(self._texts)

    def legal_indices(self) -> Any:
        """The legal answers as indices."""
        return np.flatnonzero(self.mask)

    def determinise(self, seed: int) -> Game:
        """A game that agrees with everything the seat knows, the rest dealt from `seed`."""
        return self._world.redeal(self.seat, seed)


class Agent(Protocol):
    """Anything with a name that answers what a view asks, by index or text."""

    name: str

    def act(self, view: View) -> int | str:
        """The answer of the seat that is asked."""


class KernelAgent:
    """An agent made of data for the kernel: random, a persona, or a search with a persona.

    Its answer depends on what its seat knows and on the view's seed.
    """

    def __init__(self, name: str, row: Any, milliseconds: float = 0.0, trees: int = 1) -> None:
        self.name = name
        self.row = row  # AGENT array of one, with numbers in the ranges of `specs`
        self.milliseconds = milliseconds
        self.trees = trees
        self.in_kernel = not milliseconds and trees == 1

    def __repr__(self) -> str:
        return f"<agent {self.name}>"

    def act(self, view: View) -> int:
        """The index of the answer.  A search uses up to as many threads as it has trees; the answer does not depend on them."""
        if self.cheats:
            raise ValueError(f"{self.name} sees hidden cards; a view does not show them. It plays in line-ups and tournaments only")
        return self.best(view.determinise(view.seed)._states, view.seed)

    @property
    def cheats(self) -> bool:
        """Does it look at hidden cards and roles?"""
        return bool(self.row["search"]["cheating"][0])

    def best(self, states: Any, seed: int) -> int:
        """The answer to the question open in the single state of `states`."""
        states = state.copied(states)
        states["rng"][0, state.PLAY_STREAM] = game_seeds(seed, 1)[0]
        if self.row["kind"][0] != arena.SEARCHING:
            answers = np.zeros(1, np.int64)
            arena.answer_all(states, self.row, answers)
            return int(answers[0])
        table = self._search(states, seed)
        return int(max(table, key=lambda action: (table[action][0], -action)))

    def _search(self, states: Any, seed: int) -> dict[int, tuple[int, Any]]:
        """Visits and mean values of every answer at the root, over all trees."""
        iterations = int(self.row["search"]["iterations"][0])
        size = LONGEST if self.milliseconds else iterations + 1
        deadline = time.perf_counter() + self.milliseconds / 1000
        seeds = game_seeds(seed, self.trees)

        def one(tree: int) -> Any:
            nodes, sims = state.records(size, search.NODE), state.records(1)
            grow_tree(states, nodes, True, 0 if self.milliseconds else iterations, seeds[tree], self.row, evaluation.coefficients(), sims)
            step = 0
            while self.milliseconds and (time.perf_counter() < deadline or step == 0):
                step += 1
                with np.errstate(over="ignore"):
                    next_seed = seeds[tree] + np.uint64(step) * GOLDEN
                grow_tree(states, nodes, False, 50, next_seed, self.row, evaluation.coefficients(), sims)
            return tree_table(nodes)

        with ThreadPoolExecutor(max(1, min(self.trees, os.cpu_count() or 1))) as pool:
            tables = list(pool.map(one, range(self.trees)))
        merged: dict[int, tuple[int, Any]] = {}
        for table in tables:
            for action, (visits, values) in table.items():
                before = merged.get(action, (0, np.zeros_like(values)))
                merged[action] = (before[0] + visits, before[1] + values)
        return {action: (visits, values / visits) for action, (visits, values) in merged.items()}

    def explain(self, game: Game, seed: int = 0) -> list[tuple[str, float]]:
        """The open answers with what they are worth to the agent, best first.

        A persona's values are in points; a search's are estimated chances of winning, ordered by visits, and answers
        it never tried are missing.  The random agent thinks the same of all.
        """
        if game.actor is None:
            return []
        states = state.copied((game if self.cheats else game.redeal(game.actor, seed))._states)
        states["rng"][0, state.PLAY_STREAM] = game_seeds(seed, 1)[0]
        if self.row["kind"][0] == arena.RANDOM:
            return [(text, 0.0) for text in game.legal()]
        if self.row["kind"][0] == arena.WEIGHED:
            moves, values = np.zeros(engine.MAX_MOVES, np.int64), np.zeros(engine.MAX_MOVES)
            n = arena.weigh_all(states, self.row, moves, values)
            order = np.argsort(-values[:n], kind="stable")
            return [(game.describe(int(moves[k])), float(values[k])) for k in order]
        table = self._search(states, seed)
        by_visits = sorted(table, key=lambda action: -table[action][0])
        return [(game.describe(action), float(table[action][1][game.actor])) for action in by_visits]


class AgentError(RuntimeError):
    """A Python agent raised or gave an illegal answer.

    Attributes: agent (its name), game (number in the call), seat, replay (the game so far as text), reason.
    """

    def __init__(self, agent: str, game: int, seat: int, replay: str, reason: str) -> None:
        super().__init__(f"agent {agent} in game {game}, seat {seat}: {reason}")
        self.agent, self.game, self.seat, self.replay, self.reason = agent, game, seat, replay, reason


_FACTORIES: dict[str, Callable[..., Any]] = {}


def _network(file: str, choice: str) -> Any:
    """The trained network of a file (imported when it is asked for)."""
    if not file:
        raise AgentSpecError("the file that was trained is missing: network:file=PATH")
    from .networks import NetworkAgent

    return NetworkAgent.load(file, choice)


_FACTORIES["network"] = _network


def register(name: str, factory: Callable[..., Agent]) -> None:
    """Make `factory(**options)` available as ``make("name:option=value")``.

    Raises AgentSpecError (a ValueError) if the name is taken or cannot stand in a spec, and for a factory that cannot be called.
    """
    if not isinstance(name, str) or not name or any(sign in name for sign in ":,= "):
        raise AgentSpecError(f"a name is a text without colon, comma, equals sign or space, unlike {shown(name)}")
    if name in names():
        raise AgentSpecError(f"there is an agent {name!r} already")
    if not callable(factory):
        raise AgentSpecError(f"the factory of {name} must be something to call, not {shown(factory)}")
    _FACTORIES[name] = factory


def names() -> tuple[str, ...]:
    """The names that `make` knows."""
    return ("random", *personas.PERSONAS, "ismcts", "cheating", *_FACTORIES)


def make(spec: str) -> Any:
    """The agent of a spec: a name, and options after a colon, such as ``ismcts:iterations=1000,persona=expert``.

    The options of the agents that come along, with their ranges, are in `specs` and docs/agents.md.  The factory of an agent that was
    registered gets the texts of its options.

    Raises AgentSpecError (a ValueError) for an unknown name or option, an impossible value, an option without a value or
    named twice, and whatever ValueError or TypeError a factory raises.
    """
    name, given = specs.texts(spec)
    if name not in names():
        raise AgentSpecError(f"there is no agent {shown(name)}; the agents are {', '.join(names())}")
    options: dict[str, Any] = specs.read(spec, name, given) if name in specs.OPTIONS else dict(given)
    if name in _FACTORIES:
        try:
            agent = _FACTORIES[name](**options)
            agent.name = spec
        except OSError as error:
            raise AgentSpecError(f"{specs.cut(spec)}: {error.strerror or error}") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise AgentSpecError(f"{specs.cut(spec)}: {error}") from error
        return agent
    row = state.records(1, arena.AGENT)
    if name == "random":
        return KernelAgent(spec, row)
    persona = options.get("persona", name)
    row["w"], row["duel"], row["kind"] = personas.PERSONAS[persona], personas.DUELS[persona], arena.WEIGHED
    if options["inference"] is not None:
        row["w"]["inference"] = row["duel"]["inference"] = LEVELS.index(options["inference"])
    if name not in ("ismcts", "cheating"):
        return KernelAgent(spec, row)
    row["kind"] = arena.SEARCHING
    settings = row["search"]
    settings["cheating"] = name == "cheating"
    settings["opponents"] = options["opponents"] == "persona"
    for key in ("iterations", "horizon", "exploration", "widening"):
        settings[key] = options[key]
    return KernelAgent(spec, row, options["milliseconds"], options["trees"])


def _agent(agent: Any) -> Any:
    """The agent of a spec; an agent as it is."""
    if isinstance(agent, str):
        return make(agent)
    if not callable(getattr(agent, "act", None)):
        raise AgentSpecError(f"an agent is a spec or an object with a name and act(view), not {shown(agent)}")
    return agent


def _rules(rules: Any) -> Rules:
    if not isinstance(rules, Rules):
        raise InvalidArgumentError(f"rules must be Rules, such as GERMAN.with_(players=5), not {shown(rules)}")
    return rules


def play_lineups(rules: Rules, lineups: Iterable[Sequence[Any]], seeds: Any, threads: int = 1) -> Any:
    """Play one game per line-up (agents or specs by seat) with the seed of the same place: RESULT records in order.

    Kernel agents play inside the kernel, on `threads` threads; a game with any other agent is played through `Game`.
    The same rules, line-up and seed give the same game.

    Raises InvalidArgumentError for a line-up of a wrong length and impossible seeds or threads, AgentSpecError for what is no
    agent (both are ValueErrors), and `AgentError` for an agent that fails.
    """
    players, threads = _rules(rules).players, thread_number(threads)
    if isinstance(lineups, str | bytes | bytearray | Mapping) or not isinstance(lineups, Iterable):
        raise InvalidArgumentError(f"lineups must be a list of line-ups, not {shown(lineups)}")
    every = [[_agent(agent) for agent in items("a line-up", lineup, "agents")] for lineup in lineups]
    seeds = _seeds(seeds)
    if len(every) != len(seeds):
        raise InvalidArgumentError(f"there are {len(every)} line-ups, but {len(seeds)} seeds")
    for lineup in every:
        if len(lineup) != players:
            raise InvalidArgumentError(f"a line-up has {players} agents, not {len(lineup)}")
    results = np.zeros(len(every), arena.RESULT)
    inside = [k for k, lineup in enumerate(every) if all(getattr(agent, "in_kernel", False) for agent in lineup)]
    if inside:
        agents = {agent.name: agent for k in inside for agent in every[k]}
        number = {name: index for index, name in enumerate(agents)}
        table = arena.table_of(list(agents.values()))
        seating = np.zeros((len(inside), MAX_PLAYERS), np.int64)
        for place, k in enumerate(inside):
            seating[place, : rules.players] = [number[agent.name] for agent in every[k]]
        results[inside] = arena.play_seated(rules, table, seating, seeds[inside], threads)
    for k in sorted(set(range(len(every))) - set(inside)):
        results[k] = _play_through_game(rules, every[k], int(seeds[k]), k)
    return results


def _seeds(seeds: Any) -> Any:
    """Seeds as an array of uint64."""
    if isinstance(seeds, np.ndarray) and seeds.dtype == np.uint64 and seeds.ndim == 1:
        return seeds
    given = list(seeds) if isinstance(seeds, np.ndarray) and seeds.ndim == 1 else items("seeds", seeds, "seeds")
    return np.array([seed_number(seed) for seed in given], np.uint64)


def _play_through_game(rules: Rules, lineup: Sequence[Any], seed: int, number: int) -> Any:
    """One game answer by answer; agents see a `View`."""
    game, result = Game(rules, seed), state.records(1, arena.RESULT)
    result["first_crown"] = game.crown
    chance = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    step = 0
    while game.actor is not None:
        seat, agent = game.actor, lineup[game.actor]
        step += 1
        own = int(chance[0] >> np.uint64(1)) + step
        try:
            if getattr(agent, "cheats", False):
                answer = agent.best(game._states, own)
            else:
                answer = agent.act(View(game, own))
        except Exception as error:
            raise AgentError(agent.name, number, seat, game.notation(), f"raised {type(error).__name__}: {error}") from error
        try:
            index = game._index(answer)
        except ValueError as error:
            raise AgentError(agent.name, number, seat, game.notation(), str(error)) from error
        if game.question == "DRAFT":
            result["drafted"][0, seat, index] += 1
        result["decisions"] += 1
        result["seat_decisions"][0, seat] += 1
        game.play(index)
    arena.finish_one(game._states, result)
    return result[0]


def play_games(
    rules: Rules, agents: str | Sequence[Any] = "heuristic", num_games: int = 1000, seed: int = 0, *, threads: int = 1, rotate: bool = False
) -> Any:
    """Play `num_games` whole games and return one RESULT record per game (NumPy structured array).

    agents: one spec for all seats or one agent or spec per seat; with `rotate` game k moves them k seats to the left,
    so that every agent sits everywhere equally often.  Game k depends on (rules, agents, seed, k) only, not on
    `num_games` or `threads`; its deck and the roles laid aside depend on (rules, seed, k) alone.

    Raises AgentSpecError for an unknown agent, and InvalidArgumentError for an impossible number; both are ValueErrors.
    """
    players = _rules(rules).players
    named = [agents] * players if isinstance(agents, str) else items("agents", agents, "agents or specs")
    if len(named) != players:
        raise InvalidArgumentError(f"there are {players} seats, but {len(named)} agents: {listed(named)}")
    num_games, threads = whole_number("num_games", num_games, 1, MAX_GAMES), thread_number(threads)
    rotate = true_or_false("rotate", rotate)
    made = [_agent(agent) for agent in named]
    seeds = game_seeds(seed, num_games)
    seating = arena.rotated(range(players), players, num_games if rotate else 1)[:, :players]
    seating = np.broadcast_to(seating, (num_games, players))
    if all(getattr(agent, "in_kernel", False) for agent in made):
        full = np.zeros((num_games, MAX_PLAYERS), np.int64)
        full[:, :players] = seating
        return arena.play_seated(rules, arena.table_of(made), full, seeds, threads)
    return play_lineups(rules, [[made[k] for k in row] for row in seating], seeds, threads)


def belief(game: Game, seat: int, level: str = "behavioural", persona: str = "expert") -> Any:
    """How likely each player holds each rank, as `seat` sees it: (players, ranks) float64 array.

    level: none, elimination or behavioural (see belief.py), the last with the persona's idea of what roles are worth.
    Raises InvalidArgumentError (a ValueError) for another level or persona, and for a game or seat that is none.
    """
    if not isinstance(game, Game):
        raise InvalidArgumentError(f"game must be a Game, not {shown(game)}")
    one_of("level", level, LEVELS)
    one_of("persona", persona, personas.PERSONAS)
    seat = whole_number("seat", seat, 0, game.rules.players - 1)
    table = np.zeros(BELIEF_SHAPE)
    arena.believe_once(game.redeal(seat, 0)._states, seat, make(f"{persona}:inference={level}").row, table)
    return table[: game.rules.players, : len(game.rules.roles)]


def belief_table(game: Game, seat: int, level: str = "behavioural") -> str:
    """`belief` as text for people, in percent."""
    chances = belief(game, seat, level)
    lines = [f"{'':10}" + "".join(f"{role:>14}" for role in game.rules.roles)]
    for player, row in enumerate(chances):
        lines.append(f"player {player:<3}" + "".join(f"{100 * chance:>13.0f}%" for chance in row))
    return "\n".join(lines)


def choices(states: Any, agent: str = "heuristic") -> Any:
    """What a persona or the random agent answers in every game of an array of states: int64 actions, -1 where it is over."""
    answers = np.zeros(len(states), np.int64)
    arena.answer_all(states, make(agent).row, answers)
    return answers
