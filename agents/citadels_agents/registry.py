"""Agents by name: `make("expert")`, `make("ismcts:iterations=1000,persona=expert")`, and your own.

An agent answers through `act(view)`.  A `View` shows what its seat knows and nothing else.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from citadels_env import AgentSpecError, Game, InvalidArgumentError, Rules, engine, state
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import GOLDEN, checked_rules, game_seeds
from citadels_env.checks import MAX_GAMES, items, listed, one_of, seed_number, shown, thread_number, true_or_false, whole_number
from citadels_env.names import canonical, known_name

from . import arena, evaluation, matches, personas, search, specs
from ._trees import grow_tree, tree_table
from .belief import BELIEF_SHAPE, LEVELS

LONGEST = 200_000  # nodes of a tree that is bounded by time
MAX_FIRST_GAME = 2**62


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
_ALIASES: dict[str, str] = {}  # short names and their specs
_FILES: dict[Path, tuple[str, tuple[str, ...]]] = {}  # files that were run: their fingerprints, and the agents that they registered


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
    _check_new(name, names())
    if not callable(factory):
        raise AgentSpecError(f"the factory of {name} must be something to call, not {shown(factory)}")
    _FACTORIES[name] = factory


def _check_new(name: Any, taken: tuple[str, ...]) -> None:
    if not isinstance(name, str) or not name or any(sign in name for sign in ":,= "):
        raise AgentSpecError(f"a name is a text without colon, comma, equals sign or space, unlike {shown(name)}")
    there = canonical(name, taken)
    if there:
        raise AgentSpecError(f"there is an agent {there!r} already")


def alias(name: str, spec: str) -> None:
    """Make `name` stand for an agent with its options: ``alias("mine", "network:file=results/mine.safetensors")``.

    The name then plays everywhere, and tables show it.  An alias may be given another spec later.  Wherever an agent is named,
    ``mine=network:file=...`` does both at once.

    Raises ValueError if there is an agent of that name, or the spec is wrong.
    """
    _check_new(name, tuple(other for other in names() if other != name or name not in _ALIASES))
    make(spec)
    _ALIASES[name] = spec_of(spec)


def spec_of(name: str) -> str:
    """What an alias stands for; any other spec is itself."""
    return _ALIASES.get(name, name)


def named(text: str) -> str:
    """The name by which tables show an agent: NAME for "NAME=SPEC" (which becomes an alias), otherwise its spec."""
    name, spec = _split_alias(text)
    if name:
        alias(name, spec)
        return name
    first, colon, options = text.partition(":")
    return (canonical(first, names()) or first) + colon + options


def _split_alias(text: str) -> tuple[str, str]:
    """Name and spec of "NAME=SPEC"; an empty name if it is a spec alone."""
    name, sign, spec = text.partition("=")
    return (name, spec) if sign and ":" not in name else ("", text)


def split_specs(text: str) -> tuple[str, ...]:
    """The agents between commas, each a spec or NAME=SPEC; ``persona=expert`` after an agent with options is one of them."""
    specs: list[str] = []
    for piece in filter(None, map(str.strip, text.split(","))):
        _, spec = _split_alias(piece)
        begins = spec == piece or (":" in spec and canonical(spec.split(":")[0], names()) is not None)
        if specs and ":" in specs[-1] and not begins:
            specs[-1] += "," + piece
        else:
            specs.append(piece)
    return tuple(specs)


def load_agents(file: str | Path) -> tuple[str, str]:
    """Run a Python file that registers agents or aliases; its name and a fingerprint of it.

    A file that was run before is run again only if it has changed; what it registered then is forgotten.

    Raises ValueError for a file that is not there or not Python, and whatever the file raises.
    """
    try:
        path = Path(file).expanduser().resolve()
        spec = spec_from_file_location(path.stem, path) if path.is_file() else None
    except (OSError, ValueError, TypeError):  # a name that no file can have
        spec = None
    if spec is None or spec.loader is None:
        raise InvalidArgumentError(f"there is no Python file {shown(str(file))}")
    fingerprint = sha256(path.read_bytes()).hexdigest()[:16]
    before, registered = _FILES.get(path, ("", ()))
    if before != fingerprint:
        for name in registered:
            _FACTORIES.pop(name, None)
        there = set(_FACTORIES)
        try:
            spec.loader.exec_module(module_from_spec(spec))
        except BaseException:
            for name in set(_FACTORIES) - there:  # so that the file can be mended and run again
                del _FACTORIES[name]
            raise
        _FILES[path] = fingerprint, tuple(name for name in _FACTORIES if name not in there)
    return path.name, fingerprint


def names() -> tuple[str, ...]:
    """The names that `make` knows."""
    return ("random", *personas.PERSONAS, "ismcts", "cheating", *_FACTORIES, *_ALIASES)


def make(spec: str) -> Any:
    """The agent of a spec: a name, and options after a colon, such as ``ismcts:iterations=1000,persona=expert``.

    With a name of its own before an equals sign, ``mine=network:file=PATH``, it bears that name.  Names may be in any case.

    The options of the agents that come along, with their ranges, are in `specs` and docs/agents.md.  The factory of an agent that was
    registered gets the texts of its options.

    Raises AgentSpecError (a ValueError) for an unknown name or option, an impossible value, an option without a value or
    named twice, and whatever ValueError or TypeError a factory raises.
    """
    own_name, plain = _split_alias(spec) if isinstance(spec, str) else ("", spec)
    if own_name or (isinstance(plain, str) and plain in _ALIASES):
        agent = make(plain if own_name else _ALIASES[plain])
        agent.name = own_name or plain
        return agent
    name, given = specs.texts(spec)
    name = known_name("agent", name, names(), AgentSpecError)
    if name in _ALIASES:
        if given:
            raise AgentSpecError(f"{spec}: {name} stands for {_ALIASES[name]} and takes no further options")
        return make(name)
    spec = name + "".join(spec.partition(":")[1:])
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


def play_lineups(rules: Rules, lineups: Iterable[Sequence[Any]], seeds: Any, threads: int = 1, *, record: bool = False) -> Any:
    """Play one game per line-up (agents or specs by seat) with the seed of the same place: RESULT records in order.

    Kernel agents and trained networks play inside the kernel, on `threads` threads; agents in Python are asked answer by answer.
    The same rules, line-up and seed give the same game.  An agent in Python that is named by its spec is made anew for every seat
    and game, so that it may remember; agents of the kernel and networks are made once.

    With `record`: the RESULT records and a `matches.Records`, the games as text by their numbers.

    Raises InvalidArgumentError for a line-up of a wrong length and impossible seeds or threads, AgentSpecError for what is no
    agent (both are ValueErrors), and `AgentError` for an agent that fails.
    """
    made: dict[str, Any] = {}
    players, threads = checked_rules(rules).players, thread_number(threads)
    if isinstance(lineups, str | bytes | bytearray | Mapping) or not isinstance(lineups, Iterable):
        raise InvalidArgumentError(f"lineups must be a list of line-ups, not {shown(lineups)}")
    every = [[_shared(agent, made) for agent in items("a line-up", lineup, "agents")] for lineup in lineups]
    seeds = _seeds(seeds)
    if len(every) != len(seeds):
        raise InvalidArgumentError(f"there are {len(every)} line-ups, but {len(seeds)} seeds")
    for lineup in every:
        if len(lineup) != players:
            raise InvalidArgumentError(f"a line-up has {players} agents, not {len(lineup)}")
    agents = list({id(agent): agent for lineup in every for agent in lineup}.values())
    number = {id(agent): k for k, agent in enumerate(agents)}
    seating = np.array([[number[id(agent)] for agent in lineup] for lineup in every], np.int64).reshape(len(every), rules.players)
    return _play(rules, agents, seating, seeds, threads, record)


def _seeds(seeds: Any) -> Any:
    """Seeds as an array of uint64."""
    if isinstance(seeds, np.ndarray) and seeds.dtype == np.uint64 and seeds.ndim == 1:
        return seeds
    given = list(seeds) if isinstance(seeds, np.ndarray) and seeds.ndim == 1 else items("seeds", seeds, "seeds")
    return np.array([seed_number(seed) for seed in given], np.uint64)


def _shared(agent: Any, made: dict[str, Any]) -> Any:
    """The agent of a spec: one for all seats and games if it has no memory."""
    if not isinstance(agent, str):
        return _agent(agent)
    if agent in made:
        return made[agent]
    found = make(agent)
    if plays_inside(found):
        made[agent] = found
    return found


def plays_inside(agent: Any) -> bool:
    """Does an agent play whole games without being asked in Python?  (Agents of the kernel and networks do.)"""
    return bool(getattr(agent, "in_kernel", False)) or hasattr(agent, "packed")


def _play(rules: Rules, agents: Sequence[Any], seating: Any, seeds: Any, threads: int, record: bool) -> Any:
    """Play one game per row of `seating` (indices into `agents`, (N, players)).

    A game between agents of the kernel draws all chance of play from one stream; any other one has a chance for every answer, so
    that it does not matter in what way its agents are asked.
    """
    results, answers = np.zeros(len(seating), arena.RESULT), [np.zeros(0, np.int16)] * len(seating)
    in_kernel = np.array([getattr(agent, "in_kernel", False) for agent in agents], np.bool_)
    together = in_kernel[seating].all(axis=1)
    if together.any() and not record:
        number = np.cumsum(in_kernel) - 1  # among those of the kernel
        full = np.zeros((int(together.sum()), MAX_PLAYERS), np.int64)
        full[:, : rules.players] = number[seating[together]]
        table = arena.table_of([agent for agent in agents if getattr(agent, "in_kernel", False)])
        results[together] = arena.play_seated(rules, table, full, seeds[together], threads)
    for chosen, own_chance in ((together, False), (~together, True)):
        places = np.flatnonzero(chosen)
        if not len(places) or (not own_chance and not record):
            continue
        used, seats = np.unique(seating[places], return_inverse=True)
        played = matches.play(
            rules, [agents[k] for k in used], seats.reshape(len(places), -1), seeds[places], _ask,
            threads=threads, own_chance=own_chance, record=record, go_on=False,
        )  # fmt: skip
        for k, failure in played.failures.items():
            game = matches.replayed(rules, int(seeds[places[k]]), failure.answers)
            raise AgentError(failure.agent.name, int(places[k]), failure.seat, game.notation(), failure.reason) from failure.error
        results[places] = played.results
        for k, place in enumerate(places if record else ()):
            answers[place] = played.answers[k]  # type: ignore[index]
    return (results, matches.Records(rules, seeds, answers)) if record else results


def _ask(agent: Any, game: Game, own: int) -> Any:
    """The answer of an agent in Python, who sees a `View` (or all, if it cheats by name); `own` is the seed of its chance."""
    if getattr(agent, "cheats", False):
        return agent.best(game._states, own)
    return agent.act(View(game, own))


def play_games(
    rules: Rules,
    agents: str | Sequence[Any] = "heuristic",
    num_games: int = 1000,
    seed: int = 0,
    *,
    threads: int = 1,
    rotate: bool = False,
    record: bool = False,
    first_game: int = 0,
) -> Any:
    """Play `num_games` whole games and return one RESULT record per game (NumPy structured array).

    agents: one spec for all seats or one agent or spec per seat; with `rotate` game k moves them k seats to the left,
    so that every agent sits everywhere equally often.  Game k depends on (rules, agents, seed, k) only, not on
    `num_games` or `threads`; its deck and the roles laid aside depend on (rules, seed, k) alone.
    first_game: the number of the first game, so that a call plays on where another one stopped.

    With `record`: the RESULT records and a `matches.Records`, which gives game k as text (`Game.replay` reads it).

    Raises AgentSpecError for an unknown agent, InvalidArgumentError for an impossible number (both are ValueErrors), and `AgentError`
    for an agent that fails.
    """
    players = checked_rules(rules).players
    named = [agents] * players if isinstance(agents, str) else items("agents", agents, "agents or specs")
    if len(named) != players:
        raise InvalidArgumentError(f"there are {players} seats, but {len(named)} agents: {listed(named)}")
    num_games, threads = whole_number("num_games", num_games, 1, MAX_GAMES), thread_number(threads)
    rotate = true_or_false("rotate", rotate)
    first_game = whole_number("first_game", first_game, 0, MAX_FIRST_GAME)
    made = [_agent(agent) for agent in named]
    seeds = game_seeds(seed, num_games, first_game)
    seating = np.arange(players)[None, :]
    if rotate:  # game k and game k + players are seated alike
        turns = arena.rotated(range(players), players, players)[:, :players]
        seating = turns[(first_game % players + np.arange(num_games)) % players]
    return _play(rules, made, np.broadcast_to(seating, (num_games, players)), seeds, threads, record)


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
