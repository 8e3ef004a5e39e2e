"""The game as a PettingZoo AEC environment: every decision of every player, one at a time.

The agents are `player_0` to `player_7`.  `agent_selection` is whoever has to answer the open question: the
same agent may act several times running, and the order of play is that of the rules.  An episode is one
game.  When it is over all agents terminate together and all rewards come, and `agent_selection` is the first
agent; a game cut off after `max_rounds` rounds is scored as it stands, and all agents are truncated instead.
"""

import copy
import json
from operator import index
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from .. import batch, observation, picture, scoring, state
from ..actions import MAX_PLAYERS, N_ACTIONS
from ..cards import N_DISTRICTS
from ..checks import index_of, json_object, one_of, seed_number, shown, true_or_false
from ..errors import CitadelsError, IllegalActionError, InvalidArgumentError
from ..game import Game
from ..rules import GERMAN, Rules

MASK_IN = ("obs", "info", "both")
_NO_ANSWER = np.zeros(N_ACTIONS, np.int8)

# Fields of the record that `state` leaves out: the random numbers to come, the rules, and who knows which cards.
# The deck follows at the end, in the order in which it will be drawn.
_NO_STATE = (
    "rng", "rules", "steps", "known", "any_known", "deck", "deck_seen", "deck_bottom", "deck_ordered", "deck_viewer",
)  # fmt: skip
_VIEWS = ("_answer", "_done", "_actors", "_depth", "_mask_row", "_seen_row")  # parts of other arrays
_SHARED = (
    "rules",
    "possible_agents",
    "action_spaces",
    "observation_spaces",
    "state_space",
    "state_fields",
    "_seats",
    "_blank",
    "_templates",
)
# What PettingZoo keeps of a game.
_KEPT = ("agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "_skip_agent_selection")


def _copied(value: Any) -> Any:
    """An independent copy of an attribute."""
    if isinstance(value, np.ndarray):
        return state.copied(value)
    if isinstance(value, dict):
        return {key: _copied(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return value[:]
    return copy.deepcopy(value) if isinstance(value, np.random.Generator) else value


class raw_env(AECEnv[str, Any, Any]):
    """One game of Citadels for PettingZoo, without wrappers.

    Args:
        rules: the rules of the game, `GERMAN` if not given.
        num_players: 2 to 8; as many as the rules say if not given (4 in the editions).
        render_mode: "ansi" or None.
        rewards: "win" (1, shared by the winners of a tie), "score" (a tenth of the points above the mean) or "rank"
            (from 1 for the first to -1 for the last).
        mask_in: where the action mask stands.  "obs": the observation is a dictionary of `observation` and
            `action_mask`; "info": it is the flat array alone, and the mask is `infos[agent]["action_mask"]`; "both".
        compact: observations with as many player rows as there are players instead of eight.

    Observations are described in docs/observation.md, actions in docs/actions.md.  Masks are int8 with 1 for each
    legal answer; those of agents who are not to answer are zero.  All arrays handed out are the caller's own.

    `reset(seed)` deals the game that `Game(rules, seed)` is; `reset()` deals the next one of a sequence that follows
    from the last seed, or from fresh entropy.  The whole situation is kept by `copy.deepcopy`, `pickle` and
    `cloudpickle` in mid-game; `clone`, `save_state` and `load_state` do the same faster.

    Raises InvalidArgumentError or RulesError (ValueErrors), naming the argument, for impossible ones.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (declared so by PettingZoo)
        "name": "citadels_v0",
        "render_modes": ["ansi", "rgb_array"],
        "is_parallelizable": False,
        "render_fps": 1,
    }
    agents: list[str]  # this and what follows exists from the first reset on
    agent_selection: str
    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: dict[str, dict[str, Any]]

    def __init__(
        self,
        rules: Rules | None = None,
        num_players: int | None = None,
        render_mode: str | None = None,
        rewards: str = "win",
        mask_in: str = "obs",
        compact: bool = False,
    ) -> None:
        super().__init__()
        one_of("rewards", rewards, scoring.REWARDS)
        one_of("mask_in", mask_in, MASK_IN)
        true_or_false("compact", compact)
        if render_mode is not None and not isinstance(render_mode, str):
            raise InvalidArgumentError(f"render_mode must be a text or None, not {shown(render_mode)}")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = " and ".join(map(repr, self.metadata["render_modes"]))
            gymnasium.logger.warn(f"there is no render mode {render_mode!r}, only {modes}; nothing will be rendered")
            render_mode = None
        rules = GERMAN if rules is None else batch.checked_rules(rules)
        self.rules = rules if num_players is None else rules.with_(players=num_players)
        self.render_mode = render_mode
        self._scheme = scoring.REWARDS.index(rewards)
        self._mask_in_obs, self._mask_in_info = mask_in != "info", mask_in != "obs"
        self._rows = self.rules.players if compact else MAX_PLAYERS
        self._next_seeds: np.random.Generator | int | None = None  # where the seeds come from when none is given

        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self._seats = {agent: np.array([seat]) for seat, agent in enumerate(self.possible_agents)}
        self.action_spaces = {agent: spaces.Discrete(N_ACTIONS) for agent in self.possible_agents}
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}

        self._blank = state.records(1)
        self._templates = batch.fill_in_rules(self._blank, [self.rules], self._rows)
        self._states = _copied(self._blank)
        self._steps = state.records(1, batch.STEP)
        self._mask = np.zeros((1, N_ACTIONS), np.uint8)
        self._seen = np.zeros((1, observation.size(self._rows)), np.uint8)
        self._answers: list[int] = []
        self._acting: str | None = None  # the agent to answer, None when the game is over
        self._take_views()

        self.state_fields = self._fields_of_state()
        size = max(part.stop for part in self.state_fields.values())
        self.state_space = spaces.Box(-128, np.float32(2**24), (size,), np.float32)  # whole numbers up to here are exact

    # --- spaces -----------------------------------------------------------------

    def _observation_space(self) -> spaces.Space[Any]:
        high = observation.high(self._rows)
        flat = spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
        if not self._mask_in_obs:
            return flat
        return spaces.Dict({"observation": flat, "action_mask": spaces.Box(0, 1, (N_ACTIONS,), np.int8)})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what `agent` observes: the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The action space, `Discrete(N_ACTIONS)`: the same object at each call."""
        return self.action_spaces[agent]

    # --- playing ----------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game: the one of `seed`, or without a seed the next one (`options` has no effect).

        Raises InvalidArgumentError (a ValueError) for an impossible seed; nothing is changed then.
        """
        if seed is None:
            if not isinstance(self._next_seeds, np.random.Generator):
                self._next_seeds = np.random.default_rng(self._next_seeds)
            seed = int(self._next_seeds.integers(2**63))
        else:
            seed = self._next_seeds = seed_number(seed)
        self._deal(seed)

    def _deal(self, seed: int) -> None:
        self._states.view(np.uint8)[...] = self._blank.view(np.uint8)
        self._steps["seed"] = seed
        self._answers = []
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._acting = None
        if self._mask_in_info:
            for agent in self.agents:
                self.infos[agent]["action_mask"] = _NO_ANSWER.copy()
        self._advance(batch.DEAL)

    def step(self, action: Any) -> None:
        """Answer for `agent_selection`: a legal action, or None to step out of a finished game.

        Raises IllegalActionError (a ValueError), listing the legal answers, for any other action; nothing is changed then.
        """
        if not self.is_legal(action):
            agent = self.agent_selection
            if self.terminations[agent] or self.truncations[agent]:
                self._was_dead_step(action)
                return
            raise IllegalActionError(self._refusal(action))
        self.answer(action)

    @property
    def running(self) -> bool:
        """Has `agent_selection` a question to answer?"""
        agent = self.agent_selection
        return not (self.terminations.get(agent, True) or self.truncations[agent])

    def is_legal(self, action: Any) -> bool:
        """Is `action` a legal answer of `agent_selection` now?"""
        agent = self.agent_selection
        if self.terminations.get(agent, True) or self.truncations[agent]:
            return False
        if type(action) is not int:
            action = index_of(action, -1)
        return 0 <= action < N_ACTIONS and self._mask.item(action) == 1

    def answer(self, action: int) -> None:
        """What `step` does once `is_legal` has said yes."""
        action = index(action)
        self._answers.append(action)
        self._cumulative_rewards[self.agent_selection] = 0.0  # no reward is given before the end
        self._advance(action)

    def _advance(self, answer: int) -> None:
        """Hand an answer to the kernel, and take over who comes next or how the game ended."""
        self._answer[0] = answer
        batch.advance(
            self._states, self._steps, self._mask, self._seen, self._templates, self._scheme, False, self._rows, N_DISTRICTS, 0, 1
        )  # fmt: skip
        if self._mask_in_info and self._acting is not None:
            self.infos[self._acting] = {"action_mask": _NO_ANSWER.copy()}
        if self._done[0]:
            self._finish()
            return
        agent = self.possible_agents[self._actors.item(self._depth.item() - 1)]
        self.agent_selection = self._acting = agent
        if self._mask_in_info:
            self.infos[agent] = {"action_mask": self._mask_row.copy()}

    def _finish(self) -> None:
        """Give everybody the rewards and end the game for all."""
        self._acting = None
        over = self.truncations if self._states["truncated"][0] else self.terminations
        for agent, reward in zip(self.agents, self._steps["rewards"][0].tolist(), strict=False):
            self.rewards[agent] = reward
            over[agent] = True
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]

    def _refusal(self, action: Any) -> str:
        game, text = self.game, shown(action)
        if 0 <= index_of(action, -1) < N_ACTIONS:
            text += f" ({game.describe(index_of(action, -1))})"
        return f"action {text} is not a legal answer of {self.agent_selection} to {game.question}; legal: {', '.join(game.legal())}"

    # --- looking ----------------------------------------------------------------

    def observe(self, agent: str) -> Any:
        """What `agent` sees now, whether it is to answer or not (see `mask_in`)."""
        if agent == self._acting and not self.terminations.get(agent, True):
            seen, mask = self._seen_row.copy(), self._mask_row
        else:
            rows = np.empty_like(self._seen)
            batch.observe(self._states, self._seats[agent], rows, self._templates, self._rows, N_DISTRICTS)
            seen, mask = rows[0], _NO_ANSWER
        return {"observation": seen, "action_mask": mask.copy()} if self._mask_in_obs else seen

    def _fields_of_state(self) -> dict[str, slice]:
        result, at = {}, 0
        cards = sum(self.rules.deck.values())
        for name, size in [(name, self._states[name].size) for name in state.STATE.names or () if name not in _NO_STATE] + [
            ("deck", cards)
        ]:
            result[name] = slice(at, at + size)
            at += size
        return result

    def state(self) -> Any:
        """The whole situation, hidden cards included, for critics that may see it: flat float32 array.

        `state_fields` says which entries belong to which field of the record described in `citadels_env.state`; the
        deck stands in the order in which it will be drawn, each card as the index of its district plus 1.
        """
        g = self._states
        parts = [g[name].ravel() for name in self.state_fields if name != "deck"]
        deck = np.zeros(self.state_fields["deck"].stop - self.state_fields["deck"].start)
        size, bottom = int(g["deck_size"][0]), int(g["deck_bottom"][0])
        deck[:size] = g["deck"][0, (bottom + np.arange(size - 1, -1, -1)) % state.DECK_CAPACITY] + 1
        return np.concatenate([*parts, deck], dtype=np.float32, casting="unsafe")

    @property
    def game(self) -> Game:
        """The game as a `Game` of its own, with its log and notation: for looking on, not for playing here."""
        game = Game(self.rules, int(self._steps["seed"][0]))
        for action in self._answers:
            game.play(action)
        return game

    def render(self) -> Any:
        """The whole game, what is hidden from the players included: a text, or with "rgb_array" its image, (720, 1280, 3) uint8."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render mode; make the environment with render_mode='ansi'")
            return None
        text = str(self.game)
        return text if self.render_mode == "ansi" else picture.of_text(text)

    def close(self) -> None:
        """Nothing is held that needs to be closed."""

    # --- copies -----------------------------------------------------------------

    def _take_views(self) -> None:
        """Parts of the arrays, at hand."""
        self._answer, self._done = self._steps["answer"], self._steps["done"]
        self._actors, self._depth = self._states["actor"], self._states["depth"]
        self._mask_row, self._seen_row = self._mask.view(np.int8)[0], self._seen[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._take_views()

    def clone(self) -> "raw_env":
        """An independent copy that continues identically, next games included; only the spaces are shared."""
        other = type(self).__new__(type(self))
        other.__setstate__({name: value if name in _SHARED else _copied(value) for name, value in self.__getstate__().items()})
        return other

    def save_state(self) -> bytes:
        """The game so far, as seed and answers, with what PettingZoo keeps of it: JSON for `load_state`.

        Raises CitadelsError (a ValueError) before the first `reset`.
        """
        if not hasattr(self, "agents"):
            raise CitadelsError("there is no game to save before the first reset")
        seeds = self._next_seeds
        saved = {
            "citadels_v0": observation.VERSION,
            "rules": json.loads(self.rules.to_json()),
            "rewards_are": scoring.REWARDS[self._scheme],
            "seed": int(self._steps["seed"][0]),
            "answers": self._answers,
            "next_seeds": seeds.bit_generator.state if isinstance(seeds, np.random.Generator) else seeds,
            **{name: getattr(self, name) for name in _KEPT},
        }
        return json.dumps(saved).encode()

    def load_state(self, saved: bytes) -> None:
        """Restore what `save_state` returned, in this or another environment with the same rules and rewards.

        Raises InvalidArgumentError (a ValueError), and changes nothing, if it was saved under other rules or is no saved state.
        """
        data = json_object("this is no state saved by save_state", saved)
        try:
            self.__dict__.update(self._restored(data).__dict__)
        except (TypeError, KeyError, AttributeError) as error:
            raise InvalidArgumentError(f"this is no state saved by save_state: {error!r}") from None

    def _restored(self, data: dict[str, Any]) -> "raw_env":
        theirs, scheme = dict(data["rules"]), one_of("rewards", data["rewards_are"], scoring.REWARDS)
        different = [name for name, value in json.loads(self.rules.to_json()).items() if theirs.get(name) != value]
        different += ["rewards"] if scheme != scoring.REWARDS[self._scheme] else []
        if different:
            raise InvalidArgumentError(f"the state was saved under other rules; different: {', '.join(different)}")
        other = self.clone()
        other._deal(seed_number(data["seed"]))
        for action in data["answers"]:
            if not other.is_legal(action):
                raise InvalidArgumentError(f"this is no state saved by save_state: {other._refusal(action)}")
            other.answer(action)
        for name in _KEPT:
            setattr(other, name, data[name])
        other.infos = {agent: other.infos[agent] for agent in other.agents}
        other._next_seeds = data["next_seeds"]
        if isinstance(other._next_seeds, dict):
            generator = np.random.default_rng(0)
            generator.bit_generator.state = other._next_seeds
            other._next_seeds = generator
        return other
