"""Batches for learners: agents take some of the seats, and every game is drawn from a distribution of rules."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citadels_env import Batch, Game, Rules, batch, engine, hidden, observation, scoring, state
from citadels_env._jit import entry_for, kernel
from citadels_env.actions import MAX_PLAYERS
from citadels_env.batch import DEAL, GOLDEN, LOOK, in_chunks, next_seed
from citadels_env.cards import N_DISTRICTS
from citadels_env.checks import (
    MAX_SIDE_BY_SIDE,
    items,
    listed,
    names_list,
    one_of,
    real_number,
    seed_number,
    shown,
    thread_number,
    true_or_false,
    whole_number,
    whole_numbers,
)
from citadels_env.errors import AgentSpecError, InvalidArgumentError

from . import arena, evaluation
from .belief import BELIEF_SHAPE
from .registry import AgentError, View, make
from .search import NODE, search

SELF = "self"  # the learner's own policy
DRAWN, ROTATED = -1, -2  # how the learner's seat is found, if it is not given
RULES_AT = int(state.STATE.fields["rules"][1])  # type: ignore[index]  # the byte of a state where its rules begin
_DRAW = np.uint64(0xA0761D6478BD642F)  # sets the numbers that draw rules and seats apart from those that deal cards

# What is kept of the game being played in each place, and of the one that ended there last.
PLACE = np.dtype(
    [
        ("number", np.int64),  # games dealt in this place before
        ("rules", np.int32),  # which of the batch's rules it is played by
        ("own", np.int8),  # the learner's seat (the first one, if it has several)
        ("seating", np.int16, MAX_PLAYERS),  # who answers for each seat: an agent (>= 0) or a policy (-1 - its number)
        ("decisions", np.int32),  # answers given so far, those of agents included
        ("ended_rules", np.int32),
        ("ended_own", np.int8),
        ("ended_seating", np.int16, MAX_PLAYERS),
        ("ended_decisions", np.int32),
        ("ended_rounds", np.int16),
        ("ended_truncated", np.uint8),  # cut off after max_rounds and scored as it stood
        ("ended_scores", np.int32, MAX_PLAYERS),
        ("ended_rewards", np.float32, MAX_PLAYERS),
    ]
)

# A game that ended.
ENDED = np.dtype(
    [
        ("place", np.int32),
        ("rules", np.int32),  # index into the batch's rules
        ("own", np.int8),  # the learner's seat
        ("seating", np.int16, MAX_PLAYERS),  # as in PLACE
        ("decisions", np.int32),
        ("rounds", np.int16),
        ("truncated", np.uint8),
        ("scores", np.int32, MAX_PLAYERS),
        ("rewards", np.float32, MAX_PLAYERS),
    ]
)

_entry = entry_for(Path(__file__).parent)


def shares_of(what: str, shares: Any, number: int) -> tuple[float, ...]:
    """`number` shares, none of them negative and not all of them zero; raises InvalidArgumentError for anything else."""
    given = shares.tolist() if isinstance(shares, np.ndarray) else items(what, shares, "shares")
    try:
        numbers = tuple(real_number(what, share, 0) for share in given)
    except InvalidArgumentError:
        numbers = ()
    if len(numbers) != number or not 0 < sum(numbers) < np.inf:
        raise InvalidArgumentError(f"{what} must be {number} shares, none of them negative and not all of them zero, not {shown(shares)}")
    return numbers


def _cumulative(shares: Any, number: int, what: str) -> Any:
    """Shares as cumulative chances, float64."""
    chances = np.cumsum(np.array(shares_of(what, shares, number), np.float64))
    return chances / chances[-1]


def _number_of_seat(own_seat: Any, players: int) -> int:
    if own_seat is None:
        return DRAWN
    if isinstance(own_seat, str) and own_seat == "rotate":
        return ROTATED
    try:
        return whole_number("own_seat", own_seat, 0, players - 1)
    except InvalidArgumentError:
        raise InvalidArgumentError(f"own_seat is a seat from 0 to {players - 1}, 'rotate' or None, not {shown(own_seat)}") from None


@kernel
def chance(seed, k):
    """The k-th number in [0, 1) drawn from `seed` for who plays by which rules."""
    return np.float64(state.mix(state.mix(seed ^ _DRAW) + np.uint64(k) * GOLDEN) >> np.uint64(11)) / 9007199254740992.0


@kernel
def pick(chances, u):
    """The index whose share of the cumulative `chances` holds `u`."""
    k = 0
    while k + 1 < chances.size and u >= chances[k]:
        k += 1
    return k


@kernel
def draw_game(g, raw, place, i, seed, rules, rules_chances, codes, seat_chances, own_seat):
    """Draw rules and seats of the game of `seed`; `raw` are the states as bytes, `rules` the rules as bytes."""
    chosen = pick(rules_chances, chance(seed, 0))
    for byte in range(rules.shape[1]):
        raw[i, RULES_AT + byte] = rules[chosen, byte]
    n = state.players(g)
    own = own_seat
    if own_seat == DRAWN:
        own = min(np.int64(chance(seed, 1) * n), n - 1)
    elif own_seat == ROTATED:
        own = (i + place.number) % n
    place.rules = chosen
    place.own = own
    place.decisions = 0
    for distance in range(n):
        code = codes[pick(seat_chances[distance], chance(seed, 2 + distance))]
        place.seating[(own + distance) % n] = code
    for seat in range(n, MAX_PLAYERS):
        place.seating[seat] = 0


@_entry
def advance(
    places, fresh, states, raw, steps, seats, masks, observations, finals, templates, scheme, auto_reset, rows, width,
    agents, rules, rules_chances, codes, seat_chances, own_seat, first, last,
):  # fmt: skip
    """Answer in the games of `places[first:last]`, let agents answer, and write what is asked from outside next.

    As `batch.advance`; besides, `seats` are PLACE records, `finals` (uint8; none if it has no columns) gets what the learner
    saw of the end of a game, and with `fresh` off the outcome of the last answer is kept.  A game over, and not dealt
    anew, is shown to the learner's seat.
    """
    moves = np.empty(engine.MAX_MOVES, np.int64)
    belief, buffer = np.empty(BELIEF_SHAPE, np.float64), np.empty(hidden.BUFFER, np.int64)
    for k in range(first, last):
        i = places[k]
        g, step, place = states[i], steps[i], seats[i]
        answer = step.answer
        if fresh:
            step.done = 0
            for seat in range(MAX_PLAYERS):
                step.rewards[seat] = 0.0
        if answer >= 0:
            place.decisions += 1
            engine.apply(g, answer)
        elif answer == DEAL:
            draw_game(g, raw, place, i, step.seed, rules, rules_chances, codes, seat_chances, own_seat)
            engine.new_game(g, step.seed)
        while True:
            n = engine.settle(g, moves)
            if g.over:
                if answer != LOOK and step.done == 0:
                    step.done = 1
                    scoring.write_rewards(g, scheme, step.rewards)
                    place.ended_rules = place.rules
                    place.ended_own = place.own
                    place.ended_decisions = place.decisions
                    place.ended_rounds = g.round_number
                    place.ended_truncated = g.truncated
                    for seat in range(MAX_PLAYERS):
                        place.ended_seating[seat] = place.seating[seat]
                        place.ended_scores[seat] = g.score[seat]
                        place.ended_rewards[seat] = step.rewards[seat]
                    if finals.shape[1] > 0:
                        observation.write(g, np.int64(place.own), rows, width, templates, finals[i])
                if not auto_reset or answer == LOOK:
                    break
                step.seed = next_seed(step.seed)
                place.number += 1
                draw_game(g, raw, place, i, step.seed, rules, rules_chances, codes, seat_chances, own_seat)
                engine.new_game(g, step.seed)
                continue
            code = np.int64(place.seating[g.actor[g.depth - 1]])
            if code < 0 or code >= agents.size or agents[code].kind == arena.SEARCHING:
                break
            place.decisions += 1
            engine.apply(g, arena.quick_answer(g, agents[code], moves, n, belief, buffer))
        mask = masks[i]
        mask[:] = 0
        for m in range(n):
            mask[moves[m]] = 1
        if observations.shape[1] > 0:
            seat = np.int64(place.own) if g.over else np.int64(g.actor[g.depth - 1])
            observation.write(g, seat, rows, width, templates, observations[i])


@_entry
def search_in(places, states, seats, agents, coefficients, nodes, sims, answers):
    """The answers of searching agents in the games of `places`, where one is asked."""
    moves = np.empty(engine.MAX_MOVES, np.int64)
    for k in range(places.size):
        g, place = states[places[k]], seats[places[k]]
        n = engine.settle(g, moves)
        agent = agents[np.int64(place.seating[g.actor[g.depth - 1]])]
        answers[k] = search(g, moves, n, agent.search, arena.weights_of(g, agent), coefficients, nodes, sims)


class SeatedBatch(Batch):
    """A `Batch` in which agents answer for some seats, and rules and seats of every game are drawn.

    Only the seats of policies are asked from outside: the learner's own ("self") and those of `policies`.

    Parameters
    ----------
    rules: one `Rules`, or several of which each game is played by one.
    num_games, seed, rewards, auto_reset, threads, compact: as in `Batch`.
    rules_shares: how often each of the rules is drawn, relative to the others (equally often).
    opponents: who sits in the other seats.  A name: that agent or policy, everywhere.  Several names: the one k
        places to the left of the learner, as many as the most players minus one at least.  A mapping of names to
        shares: drawn for each seat of each game anew.  A name is an agent of `citadels_agents.make`, or "self", or one of `policies`.
    own_seat: the learner's seat, the same in all games; None: drawn for each game; "rotate": k in the k-th place, and one
        further to the left in each next game.
    final_observations: keep what the learner sees of the end of a game (`final_observations`).
    policies: further policies that are answered from outside.

    Agents made of data for the kernel play inside it; a trained network is asked for all its games at once; searches and agents in
    Python are asked game by game, which is slow.
    The game of a seed has the same rules, seats and shuffle wherever and whenever it is played (but "rotate" goes by places).

    Attributes (live arrays, overwritten by `step`), besides those of `Batch`
    ----------
    games: (N,) array of PLACE records: `rules`, `own`, `seating`, and those of the game that ended there last.
    rules: the rules that games are drawn from, a tuple (in `Batch`: one per game).

    Raises AgentSpecError for unknown agents and InvalidArgumentError for anything else that is impossible, such as shares that are no
    positive numbers or too few opponents (both are ValueErrors).  Dealing and answering raise `AgentError` (its `game` is the place)
    where an agent in Python fails; the games cannot go on then: deal new ones.
    """

    def __init__(
        self,
        rules: Rules | Sequence[Rules],
        num_games: int = 1,
        seed: int = 0,
        *,
        rules_shares: Sequence[float] | None = None,
        opponents: str | Sequence[Any] | Mapping[str, float] = SELF,
        own_seat: int | str | None = None,
        policies: Sequence[str] = (),
        rewards: str = "win",
        auto_reset: bool = True,
        threads: int = 1,
        compact: bool = False,
        final_observations: bool = False,
    ) -> None:
        every = tuple(batch.rules_list(rules))
        num_games = whole_number("num_games", num_games, 1, MAX_SIDE_BY_SIDE)
        one_of("rewards", rewards, scoring.REWARDS)
        auto_reset, threads, seed = true_or_false("auto_reset", auto_reset), thread_number(threads), seed_number(seed)
        true_or_false("final_observations", final_observations)
        counts = [r.players for r in every]
        if true_or_false("compact", compact) and len(set(counts)) > 1:
            raise InvalidArgumentError("compact observations need the same number of players in all games")
        self.policies = (SELF, *names_list("policies", policies))
        if len(set(self.policies)) != len(self.policies):
            raise InvalidArgumentError(f"policies: a name stands twice in {', '.join(self.policies)}")
        self._rules_chances = _cumulative([1.0] * len(every) if rules_shares is None else rules_shares, len(every), "rules_shares")
        self._drawn_rules = every  # agents ask for them before `Batch.__init__` is through
        self._full_templates: Any = None  # of the full observations that networks are shown, made when one is asked
        self._own_seat = _number_of_seat(own_seat, min(counts))
        self._seat_agents(opponents, max(counts))
        rows = max(counts) if compact else MAX_PLAYERS
        sample = state.records(len(every))
        self._seated_templates = batch.fill_in_rules(sample, every, rows)
        self._rules_bytes = np.ascontiguousarray(sample["rules"]).view(np.uint8).reshape(len(every), -1)
        self.games = state.records(num_games, PLACE)
        self._finals = np.zeros((num_games, observation.size(rows) if final_observations else 0), np.uint8)
        self._all = np.arange(num_games)
        super().__init__(every[0], num_games, seed, rewards=rewards, auto_reset=auto_reset, threads=threads, compact=compact)
        self._templates = self._seated_templates
        self.rules = every  # type: ignore[assignment]

    def _seat_agents(self, opponents: Any, players: int) -> None:
        """Number the agents, and write down how seats are drawn."""
        self._drawn = list(opponents) if isinstance(opponents, Mapping) else []
        if isinstance(opponents, Mapping):
            names: list[Any] = self._drawn
            shares = np.tile(_cumulative([opponents[name] for name in names], len(names), "opponents"), (MAX_PLAYERS, 1))
        else:
            names = [opponents] * (players - 1) if isinstance(opponents, str) else items("opponents", opponents, "agents or specs")
            if len(names) < players - 1:
                raise InvalidArgumentError(f"{players} players need {players - 1} opponents, not {len(names)}: {listed(names)}")
            shares = np.ones((MAX_PLAYERS, max(1, len(names))))
            for distance in range(1, players):
                shares[distance] = np.arange(len(names)) >= distance - 1
        specs = dict.fromkeys(name for name in names if isinstance(name, str) and name not in self.policies)
        made = {name: make(name) for name in specs}
        for name in names:
            if not isinstance(name, str) and not callable(getattr(name, "act", None)):
                raise AgentSpecError(f"opponents: an agent is a spec or an object with a name and act(view), not {shown(name)}")
        agents: list[Any] = [made.get(name, name) if isinstance(name, str) else name for name in names]
        different = list({id(agent): agent for agent in agents if not isinstance(agent, str)}.values())
        inside = [agent for agent in different if getattr(agent, "in_kernel", False)]
        outside = [agent for agent in different if not getattr(agent, "in_kernel", False)]
        self.agents = [*inside, *outside]  # by the number that stands in `seating`
        self._rows = arena.table_of(inside)
        self._slow_agents = bool(outside) or bool((self._rows["kind"] == arena.SEARCHING).any())  # asked one by one
        order = {id(agent): k for k, agent in enumerate(self.agents)}
        codes = [-1 - self.policies.index(agent) if isinstance(agent, str) else order[id(agent)] for agent in agents]
        # entry 0 is the learner, who sits at distance 0
        self._codes = np.array([-1, *codes], np.int64)
        self._seat_chances = np.concatenate([np.zeros((MAX_PLAYERS, 1)), shares], axis=1)
        self._seat_chances[0] = 1.0

    _VIEWS = (*Batch._VIEWS, "_raw")

    def _take_views(self) -> None:
        super()._take_views()
        self._raw = self.states.view(np.uint8).reshape(self.num_games, -1)

    def set_shares(self, opponents: Mapping[str, float]) -> None:
        """Draw the opponents of the games to come by other shares.

        Raises InvalidArgumentError (a ValueError) unless the names are those of the mapping that the batch was made with, and for
        impossible shares.
        """
        if not isinstance(opponents, Mapping) or set(opponents) != set(self._drawn):
            raise InvalidArgumentError(f"the shares are of {', '.join(self._drawn) or 'no drawn opponents'}, not of {shown(opponents)}")
        self._seat_chances[1:, 1:] = _cumulative([opponents[name] for name in self._drawn], len(self._drawn), "opponents")

    def _advance(self, observe_too: bool) -> None:
        self._move(self._all, observe_too)

    def _move(self, places: Any, observe_too: bool) -> None:
        """Answer in the games of `places` (int64), and let agents answer until a policy is asked everywhere."""
        observations = self._observations if observe_too else self._nothing
        fresh = True
        while True:

            def chunk(first: int, last: int, places: Any = places, fresh: bool = fresh) -> None:
                advance(
                    places, fresh, self.states, self._raw, self._steps, self.games, self._masks, observations, self._finals,
                    self._seated_templates, self._scheme, self._auto_reset, self.observation_rows, N_DISTRICTS, self._rows,
                    self._rules_bytes, self._rules_chances, self._codes, self._seat_chances, self._own_seat, first, last,
                )  # fmt: skip

            in_chunks(chunk, len(places), self.threads)
            self._observed = observe_too
            if not self._slow_agents:
                return
            places = self._ask_slow_agents(places)
            if not len(places):
                return
            fresh = False

    def _ask_slow_agents(self, places: Any) -> Any:
        """Ask searches and agents in Python where they are to answer; return the places."""
        actors = self.actors[places]
        codes = np.where(actors >= 0, self.games["seating"][places, actors], -1)
        places, codes = places[codes >= 0], codes[codes >= 0]
        searching = places[codes < len(self._rows)]
        if len(searching):
            nodes = state.records(int(self._rows["search"]["iterations"].max()) + 1, NODE)
            answers = np.zeros(len(searching), np.int64)
            search_in(searching, self.states, self.games, self._rows, evaluation.coefficients(), nodes, state.records(1), answers)
            self._answers[searching] = answers
        for code in np.unique(codes[codes >= len(self._rows)]):
            agent, asked = self.agents[code], places[codes == code]
            if hasattr(agent, "act_in"):
                self._answers[asked] = self._ask_for_all(asked, agent)
            else:
                self._answers[asked] = [self._ask_in_python(int(i), agent) for i in asked]
        return places

    def _ask_for_all(self, asked: Any, agent: Any) -> Any:
        """The answers of a network in some places, all at once."""
        states = self.states[asked]
        seen = np.zeros((len(asked), observation.size()), np.uint8)
        if self._full_templates is None:
            self._full_templates = batch.fill_in_rules(state.records(len(self._drawn_rules)), self._drawn_rules, MAX_PLAYERS)
        batch.observe(states, self.actors[asked].astype(np.int64), seen, self._full_templates, MAX_PLAYERS, N_DISTRICTS)
        rngs = np.array([batch.game_seeds(self._chance_of(i), 1)[0] for i in asked], np.uint64)
        try:
            return agent.act_in(seen, self._masks[asked], rngs)
        except ValueError:  # which game it is that fails
            return [self._ask_in_python(int(i), agent) for i in asked]

    def _chance_of(self, i: int) -> int:
        """The seed of the chance of an agent that is asked in place `i`."""
        entropy = [int(self.seeds[i]), int(self.games["decisions"][i])]
        return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0] >> np.uint64(1))

    def _ask_in_python(self, i: int, agent: Any) -> int:
        game = Game.of_state(self._drawn_rules[self.games["rules"][i]], self.states[i : i + 1])
        own = self._chance_of(i)
        try:
            answer = agent.best(game._states, own) if getattr(agent, "cheats", False) else agent.act(View(game, own))
            return int(game._index(answer))
        except Exception as error:
            reason = str(error) if isinstance(error, ValueError) else f"raised {type(error).__name__}: {error}"
            raise AgentError(agent.name, i, game.actor or 0, str(game), reason) from error

    @property
    def trajectories(self) -> Any:
        """(N,) int64: a number for the game and seat that is asked in each place, -1 where it is over.

        A seat's decisions in one game have one number, and no other decisions of this batch have it.
        """
        actors = self.actors
        return np.where(actors < 0, -1, (self.games["number"] * self.num_games + self._all) * MAX_PLAYERS + actors)

    @property
    def asked(self) -> Any:
        """(N,) int8: the policy that is asked in each place, an index into `policies`; -1 where the game is over."""
        actors = self.actors
        return np.where(actors < 0, -1, -1 - self.games["seating"][self._all, actors]).astype(np.int8)

    @property
    def final_observations(self) -> Any:
        """(N, size) uint8, with `final_observations`: the end of the last game as the learner saw it; a live array."""
        return self._finals

    def step_in(self, places: Any, answers: Any) -> None:
        """As `step_unchecked`, in some places (int64 indices, no bool mask) only; the others are left as they are, `done` included."""
        self._answers[places] = answers
        self._move(places, self._observed)

    def step_unchecked(self, answers: Any) -> None:
        """As `step`, but the answers must be legal: they are not checked (negative ones have other meanings, see `citadels_env.batch`)."""
        self._answers[:] = answers
        self._move(self._all, self._observed)

    def ended(self, places: Any = None) -> Any:
        """The games that ended last in `places` (int64 indices), if not given: that ended with the last step; ENDED records."""
        places = np.flatnonzero(self.done) if places is None else places
        result = np.zeros(len(places), ENDED)
        result["place"] = places
        for name in ENDED.names[1:]:  # type: ignore[index]
            result[name] = self.games[f"ended_{name}"][places]
        return result

    def deal_in(self, places: Any, seeds: Any = None) -> None:
        """Deal new games in some places (int64 indices): those of `seeds` (uint64), or each place's next.

        Raises InvalidArgumentError (a ValueError) for places that there are not and impossible seeds; nothing is changed then.
        """
        places = whole_numbers("places", places)
        if len(places) and not (places.min() >= 0 and places.max() < self.num_games):
            raise InvalidArgumentError(f"places must be from 0 to {self.num_games - 1}, not {shown(places)}")
        if seeds is not None and not (isinstance(seeds, np.ndarray) and seeds.dtype == np.uint64):
            given = list(seeds) if isinstance(seeds, list | tuple | np.ndarray) else [seeds]
            seeds = np.array([seed_number(seed) for seed in given], np.uint64)
        if seeds is not None and len(seeds) not in (1, len(places)):
            raise InvalidArgumentError(f"there are {len(places)} places, but {len(seeds)} seeds")
        self.seeds[places] = batch.next_seeds(self.seeds[places]) if seeds is None else seeds
        self.games["number"][places] += 1
        self._answers[places] = DEAL
        self._move(places, self._observed)

    def deal(self, seed: int | None = None) -> None:
        """Deal new games everywhere: from `seed`, or each place's next game.

        Raises InvalidArgumentError (a ValueError) for an impossible seed; nothing is changed then.
        """
        if seed is not None:
            seed = seed_number(seed)
        self.games["number"] += 1
        super().deal(seed)

    def play_out(self) -> int:
        """Not for batches with agents: raises TypeError."""
        raise TypeError("a SeatedBatch is played by its agents and policies; for random play-outs use Batch")
