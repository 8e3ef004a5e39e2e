"""Agents by name: `make("expert")`, `make("ismcts:iterations=1000,persona=expert")`, and your own.

An agent answers through `act(view)`.  A `View` shows what its seat knows and nothing else.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from citadels_env import Game, Rules, engine, state
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import GOLDEN, game_seeds
from citadels_env.checks import whole_number

from . import arena, evaluation, personas, search
from ._trees import grow_tree, tree_table
from .belief import BELIEF_SHAPE, LEVELS

DEFAULTS = {"iterations": 1000, "horizon": 0, "exploration": 0.3, "widening": 1.0, "opponents": "persona", "persona": "expert", "trees": 1}
LONGEST = 200_000  # nodes of a tree that is bounded by time
MAX_FIRST_GAME = 2**62


class View:
    """What one seat knows of a game: the only thing an agent is given.

    Attributes: seat, rules, question, observation (full form, uint8), mask (bool).
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        if game.actor is None:
            raise ValueError("the game is over; nobody has anything to answer")
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
        self.row = row  # AGENT array of one
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


def _network(file: str = "", choice: str = "best") -> Any:
    """The trained network of a file (imported when it is asked for)."""
    if not file:
        raise ValueError("network needs the file that was trained: network:file=PATH")
    from .networks import NetworkAgent

    return NetworkAgent.load(file, choice)


_FACTORIES["network"] = _network


def register(name: str, factory: Callable[..., Agent]) -> None:
    """Make `factory(**options)` available as ``make("name:option=value")``; raises ValueError if the name is taken."""
    if name in names():
        raise ValueError(f"there is an agent {name!r} already")
    if not name or any(sign in name for sign in ":,= "):
        raise ValueError(f"a name has no colon, comma, equals sign or space, unlike {name!r}")
    _FACTORIES[name] = factory


def names() -> tuple[str, ...]:
    """The names that `make` knows."""
    return ("random", *personas.PERSONAS, "ismcts", "cheating", *_FACTORIES)


def make(spec: str) -> Any:
    """The agent of a spec: a name, and options after a colon, such as ``ismcts:iterations=1000,persona=expert``.

    Personas take `inference` (none, elimination, behavioural).  ismcts and cheating take iterations or milliseconds,
    persona, inference, horizon (rounds played after the present one before estimating), exploration, widening,
    opponents (search or persona) and trees (searched side by side and added up).  network takes `file`, what `citadels train` or
    `citadels export` wrote, and choice (best or sample).

    Raises ValueError for an unknown name, option or value.
    """
    name, _, rest = spec.partition(":")
    if name not in names():
        raise ValueError(f"there is no agent {name!r}; the agents are {', '.join(names())}")
    options = {}
    for part in filter(None, rest.split(",")):
        key, sign, value = part.partition("=")
        if not sign:
            raise ValueError(f"{spec}: an option is written name=value, not {part!r}")
        options[key] = value
    if name in _FACTORIES:
        try:
            agent = _FACTORIES[name](**options)
        except TypeError as error:
            raise ValueError(f"{spec}: {error}") from error
        agent.name = spec
        return agent
    row = state.records(1, arena.AGENT)
    allowed = {"random": (), "ismcts": (*DEFAULTS, "milliseconds", "inference"), "cheating": (*DEFAULTS, "milliseconds", "inference")}
    for key in options:
        known = allowed.get(name, ("inference",))
        if key not in known:
            raise ValueError(f"{spec}: {name} has no option {key!r}" + (f"; it has {', '.join(known)}" if known else ""))
    if name == "random":
        return KernelAgent(spec, row)
    persona = options.get("persona", DEFAULTS["persona"]) if name in ("ismcts", "cheating") else name
    if persona not in personas.PERSONAS:
        raise ValueError(f"{spec}: there is no persona {persona!r}; the personas are {', '.join(personas.PERSONAS)}")
    row["w"], row["duel"], row["kind"] = personas.PERSONAS[persona], personas.DUELS[persona], arena.WEIGHED
    if "inference" in options:
        if options["inference"] not in LEVELS:
            raise ValueError(f"{spec}: inference is one of {', '.join(LEVELS)}, not {options['inference']!r}")
        row["w"]["inference"] = row["duel"]["inference"] = LEVELS.index(options["inference"])
    if name not in ("ismcts", "cheating"):
        return KernelAgent(spec, row)
    row["kind"] = arena.SEARCHING
    settings = row["search"]
    if options.get("opponents", "search") not in ("search", "persona"):
        raise ValueError(f"{spec}: opponents is search or persona, not {options['opponents']!r}")
    settings["opponents"] = options.get("opponents", DEFAULTS["opponents"]) == "persona"
    settings["cheating"] = name == "cheating"
    for key, least in (("iterations", 1), ("horizon", 0)):
        settings[key] = _number(spec, key, options.get(key, DEFAULTS[key]), int, least)
    for key in ("exploration", "widening"):
        settings[key] = _number(spec, key, options.get(key, DEFAULTS[key]), float, 0)
    milliseconds = _number(spec, "milliseconds", options.get("milliseconds", 0), float, 0)
    return KernelAgent(spec, row, milliseconds, _number(spec, "trees", options.get("trees", 1), int, 1))


def _number(spec: str, key: str, value: Any, kind: Callable[[Any], Any], least: float) -> Any:
    try:
        number = kind(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise ValueError(f"{spec}: {key} is a number of at least {least}, not {value!r}")
    return number


def _agent(agent: Any) -> Any:
    return make(agent) if isinstance(agent, str) else agent


def play_lineups(rules: Rules, lineups: Iterable[Sequence[Any]], seeds: Any, threads: int = 1) -> Any:
    """Play one game per line-up (agents or specs by seat) with the seed of the same place: RESULT records in order.

    Kernel agents play inside the kernel, on `threads` threads; a game with any other agent is played through `Game`.
    The same rules, line-up and seed give the same game.

    Raises ValueError for a line-up of a wrong length and `AgentError` for an agent that fails.
    """
    every = [[_agent(agent) for agent in lineup] for lineup in lineups]
    seeds = np.asarray(seeds, np.uint64)
    if len(every) != len(seeds):
        raise ValueError(f"there are {len(every)} line-ups, but {len(seeds)} seeds")
    for lineup in every:
        if len(lineup) != rules.players:
            raise ValueError(f"a line-up has {rules.players} agents, not {len(lineup)}")
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
    rules: Rules,
    agents: str | Sequence[Any] = "heuristic",
    num_games: int = 1000,
    seed: int = 0,
    *,
    threads: int = 1,
    rotate: bool = False,
    first_game: int = 0,
) -> Any:
    """Play `num_games` whole games and return one RESULT record per game (NumPy structured array).

    agents: one spec for all seats or one agent or spec per seat; with `rotate` game k moves them k seats to the left,
    so that every agent sits everywhere equally often.  Game k depends on (rules, agents, seed, k) only, not on
    `num_games` or `threads`; its deck and the roles laid aside depend on (rules, seed, k) alone.
    first_game: the number of the first game, so that a call plays on where another one stopped.

    Raises ValueError for an unknown agent or an impossible number.
    """
    players = rules.players
    named = [agents] * players if isinstance(agents, str) else list(agents)
    if len(named) != players:
        raise ValueError(f"there are {players} seats, but {len(named)} agents: {', '.join(map(str, named))}")
    if num_games < 1:
        raise ValueError(f"num_games must be at least 1, not {num_games}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    first_game = whole_number("first_game", first_game, 0, MAX_FIRST_GAME)
    made = [_agent(agent) for agent in named]
    seeds = game_seeds(seed, num_games, first_game)
    seating = np.arange(players)[None, :]
    if rotate:  # game k and game k + players are seated alike
        turns = arena.rotated(range(players), players, players)[:, :players]
        seating = turns[(first_game % players + np.arange(num_games)) % players]
    seating = np.broadcast_to(seating, (num_games, players))
    if all(getattr(agent, "in_kernel", False) for agent in made):
        full = np.zeros((num_games, MAX_PLAYERS), np.int64)
        full[:, :players] = seating
        return arena.play_seated(rules, arena.table_of(made), full, seeds, threads)
    return play_lineups(rules, [[made[k] for k in row] for row in seating], seeds, threads)


def belief(game: Game, seat: int, level: str = "behavioural", persona: str = "expert") -> Any:
    """How likely each player holds each rank, as `seat` sees it: (players, ranks) float64 array.

    level: none, elimination or behavioural (see belief.py), the last with the persona's idea of what roles are worth.
    Raises ValueError for another level.
    """
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
