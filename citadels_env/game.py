"""`Game`: one game with a friendly face, for people, tests and search."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import actions, batch, cards, notation, observation, position, state
from .actions import MAX_PLAYERS, N_ACTIONS
from .cards import DISTRICTS, N_DISTRICTS, N_RANKS, ROLES
from .checks import index_of, seed_number, shown, true_or_false, whole_number
from .errors import CitadelsError, IllegalActionError, InvalidArgumentError
from .rules import GERMAN, Rules
from .vocabulary import Ask, Turn

_NOTHING = np.zeros((1, 0), np.uint8)
_advance = batch.advance


class Game:
    """One game of Citadels under `rules`; the same rules, seed and answers give the same game.

    Seats are numbered from 0, to the left.  Answers are texts such as ``"build Palace"`` or action indices.

    Raises InvalidArgumentError (a ValueError) for rules that are none and an impossible seed.
    """

    def __init__(self, rules: Rules = GERMAN, seed: int = 0) -> None:
        self._begin(rules, seed)
        self._steps["seed"] = self.seed
        self._advance(batch.DEAL)

    def _begin(self, rules: Rules, seed: int) -> None:
        self.rules = batch.checked_rules(rules)
        self.seed = seed_number(seed)
        self._answered: list[tuple[int, int, int]] = []  # seat, action, owner * 2 + coin of a single district on the table
        self._start: dict[str, Any] | None = None  # the position the game began from
        self._redealt = False
        self._states = state.records(1)
        self._templates = batch.fill_in_rules(self._states, [rules], MAX_PLAYERS)
        self._mask = np.zeros((1, N_ACTIONS), np.uint8)
        self._seen = np.zeros((1, observation.size()), np.uint8)
        self._steps = state.records(1, batch.STEP)
        self._bind()

    def _bind(self) -> None:
        """Views of single fields: NumPy takes half a microsecond to find a field of a record."""
        self._answer, self._depth, self._actors = self._steps["answer"], self._states["depth"], self._states["actor"]
        self._shown = self._mask[0].view(np.bool_), self._seen[0]
        self._is_legal = self._mask[0].item  # NumPy's fastest way to one number

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_answer", "_depth", "_actors", "_shown", "_is_legal")}

    def __setstate__(self, contents: dict[str, Any]) -> None:
        self.__dict__.update(contents)
        self._bind()

    @classmethod
    def from_position(cls, rules: Rules, position_: Mapping[str, Any], seed: int = 0) -> "Game":
        """A game that stands just before the next rank is called, and then calls it.

        The dictionary is described in `citadels_env.position`.  Everything it does not name is dealt from `seed`.
        Raises PositionError (a ValueError), naming what is wrong, for a position that cannot be, and InvalidArgumentError for
        rules that are none and an impossible seed.
        """
        game = cls.__new__(cls)
        game._begin(rules, seed)
        game._start = position.normalised(position_)
        position.set_up(game._states, rules, game._start, game.seed)
        game._advance(batch.RESUME)
        return game

    @classmethod
    def of_state(cls, rules: Rules, states: Any, seed: int = 0) -> "Game":
        """A game that goes on from the first record of `states` (see `citadels_env.state`), played by `rules`; it has no notation.

        Raises InvalidArgumentError (a ValueError) for anything but an array of such records, of games of as many players.
        """
        batch.checked_rules(rules)
        if not isinstance(states, np.ndarray) or states.dtype != state.STATE or states.ndim != 1 or not len(states):
            raise InvalidArgumentError(f"states must be an array of records of state.STATE, not {shown(states)}")
        if states["rules"]["n_players"][0] != rules.players:
            raise InvalidArgumentError(f"rules are for {rules.players} players, the state for {int(states['rules']['n_players'][0])}")
        game = cls.__new__(cls)
        game._begin(rules, seed)
        own = state.copied(game._states["rules"])
        game._states.view(np.uint8)[...] = state.copied(states[:1]).view(np.uint8)
        game._states["rules"] = own
        game._redealt = True
        game._advance(batch.LOOK)
        return game

    @classmethod
    def replay(cls, text: str) -> "Game":
        """The game that `notation` wrote; raises NotationError (a ValueError), naming the line, if it is not one."""
        return notation.replay(cls, text)

    def _advance(self, answer: int) -> None:
        self._answer[0] = answer
        _advance(self._states, self._steps, self._mask, _NOTHING, self._templates, 0, False, MAX_PLAYERS, N_DISTRICTS, 0, 1)

    # --- what is asked ----------------------------------------------------------

    def _get(self, name: str) -> int:
        return int(self._states[name][0])

    @property
    def over(self) -> bool:
        """Has the game ended?"""
        return bool(self._get("over"))

    @property
    def truncated(self) -> bool:
        """Was the game cut off by `max_rounds` and scored as it stood? (X-11)"""
        return bool(self._get("truncated"))

    @property
    def actor(self) -> int | None:
        """The seat that must answer, None when the game is over."""
        return None if self.over else int(self._states["actor"][0, self._get("depth") - 1])

    @property
    def question(self) -> str | None:
        """The name of the open question (see `vocabulary.Ask`), None when the game is over."""
        return None if self.over else Ask(int(self._states["ask"][0, self._get("depth") - 1])).name

    def mask(self) -> Any:
        """(N_ACTIONS,) bool: the legal answers; a new array."""
        return self._mask[0].astype(np.bool_)

    def legal_indices(self) -> Any:
        """The legal answers as indices, in rising order: int64 array."""
        return np.flatnonzero(self._mask[0])

    def legal(self) -> list[str]:
        """The legal answers as texts, in the order of their indices."""
        seat = self.actor or 0
        return [self._text(seat, action, self._single(action)) for action in self.legal_indices().tolist()]

    def describe(self, action: int) -> str:
        """The text of an action for the seat that must answer; raises InvalidArgumentError (a ValueError) for what is no action."""
        action = whole_number("action", action, 0, N_ACTIONS - 1)
        return self._text(self.actor or 0, action, self._single(action))

    def _single(self, action: int) -> int:
        """Owner * 2 + coin of the single-copy district on the table that an action names; -1 for other actions."""
        _, card, player, _ = actions.split(action)
        if actions.block_of(action).argument not in ("own", "target") or player is not None or card is None or card < cards.N_REPEATED:
            return -1
        owners = np.flatnonzero(self._states["city"][0, :, card])
        return int(owners[0]) * 2 + int(self._states["coins"][0, owners[0], card]) if owners.size else -1

    def _text(self, seat: int, action: int, single: int) -> str:
        owner = None if single < 0 else single >> 1
        return actions.describe(action, seat, self.rules.players, owner, single > 0 and bool(single & 1))

    # --- answering --------------------------------------------------------------

    def play(self, answer: str | int) -> "Game":
        """Answer the open question; returns the game itself.

        Raises IllegalActionError (a ValueError) for an answer that is not legal, listing those that are, and for what is no text
        and no whole number; the game is unchanged then.
        """
        action = answer if type(answer) is int and 0 <= answer < N_ACTIONS and self._is_legal(answer) else self._index(answer)
        self._answered.append((int(self._actors[0, self._depth[0] - 1]), action, self._single(action) if action >= actions.OFFER else -1))
        self._advance(action)
        return self

    def step(self, action: int) -> tuple[Any, Any]:
        """Answer by index and return (mask, observation) of whoever answers next, in one call of the kernel.

        mask: (N_ACTIONS,) bool, observation: full form, uint8; both are live arrays that the next `step` overwrites.
        Raises IllegalActionError (a ValueError) as `play` does, and for texts, too.
        """
        if not (type(action) is int and 0 <= action < N_ACTIONS and self._is_legal(action)):
            action = self._number(action)
        self._answered.append((self._actors[0, self._depth[0] - 1], action, self._single(action) if action >= actions.OFFER else -1))
        self._answer[0] = action
        _advance(self._states, self._steps, self._mask, self._seen, self._templates, 0, False, MAX_PLAYERS, N_DISTRICTS, 0, 1)
        return self._shown

    @property
    def log(self) -> list[str]:
        """What was answered so far, one text each: ``"player 0: draft King"``."""
        return [f"player {seat}: {self._text(seat, action, single)}" for seat, action, single in self._answered]

    def _index(self, answer: str | int) -> int:
        """The index of a legal answer."""
        if isinstance(answer, str) and not self.over:
            texts = dict(zip(self.legal(), self.legal_indices().tolist(), strict=True))
            if answer in texts:
                return int(texts[answer])
            raise self._refusal(shown(answer))
        return self._number(answer)

    def _number(self, answer: Any) -> int:
        """The index of a legal answer that is given as a whole number."""
        index: int = index_of(answer, -1)
        if not 0 <= index < N_ACTIONS:
            raise self._refusal(shown(answer))
        if not self._is_legal(index):
            raise self._refusal(f"{index} ({self.describe(index)})")
        return index

    def _refusal(self, answer: str) -> IllegalActionError:
        if self.over:
            return IllegalActionError(f"the game is over; {answer} answers no question")
        return IllegalActionError(
            f"{answer} is not a legal answer of player {self.actor} to {self.question}; legal: {', '.join(self.legal())}"
        )

    # --- what lies on the table -------------------------------------------------

    def _seat(self, seat: int) -> int:
        """A seat that there is; raises InvalidArgumentError for any other."""
        try:
            return whole_number("seat", seat, 0, self.rules.players - 1)
        except InvalidArgumentError:
            text = f"seat: there is no player {shown(seat)}; the players are 0 to {self.rules.players - 1}"
            raise InvalidArgumentError(text) from None

    @property
    def gold(self) -> tuple[int, ...]:
        """The gold of each seat."""
        return tuple(int(n) for n in self._states["gold"][0, : self.rules.players])

    def hand(self, seat: int) -> list[str]:
        """The cards in a hand, sorted by name."""
        counts = self._states["hand"][0, self._seat(seat)]
        return sorted(DISTRICTS[card].name for card in range(N_DISTRICTS) for _ in range(int(counts[card])))

    def city(self, seat: int) -> list[str]:
        """The districts of a city in the order of the table; a beautified one is written with a star."""
        seat = self._seat(seat)
        standing, coins = self._states["city"][0, seat], self._states["coins"][0, seat]
        names = []
        for card in range(N_DISTRICTS):
            plain = int(standing[card]) - int(coins[card])
            names += [DISTRICTS[card].name] * plain + [DISTRICTS[card].name + "*"] * int(coins[card])
        return names

    def museum(self, seat: int) -> int:
        """The number of cards under the Museum of a seat, 0 without one."""
        owner = self._states["city"][0, self._seat(seat), cards.MUSEUM]
        return int(self._states["hand_size"][0, state.MUSEUM_PILE]) if owner else 0

    def roles(self, seat: int) -> list[str]:
        """The roles a seat holds this round, whether revealed or not."""
        seat = self._seat(seat)
        return [self._role(rank) for rank in range(N_RANKS) if self._states["owner"][0, rank] == seat]

    def revealed(self, seat: int) -> list[str]:
        """The roles a seat has revealed this round."""
        return [name for name in self.roles(seat) if self._states["revealed"][0, cards.ROLE_INDEX[name] // 2]]

    def _role(self, rank: int) -> str:
        return ROLES[int(self._states["rules"]["role"][0, rank])].name

    @property
    def face_up(self) -> list[str]:
        """The roles that lie face up this round."""
        return [self._role(rank) for rank in range(len(self.rules.roles)) if self._states["drafted_at"][0, rank] == state.FACE_UP]

    @property
    def turn_role(self) -> str | None:
        """The role whose turn is played, None in the draft and at the end; a Witch who goes on has the bewitched role."""
        role = self._get("turn_role")
        return None if role < 0 else ROLES[role].name

    @property
    def crown(self) -> int:
        """The seat that holds the crown."""
        return self._get("crown")

    @property
    def round_number(self) -> int:
        """The round, from 1."""
        return self._get("round_number")

    @property
    def deck_size(self) -> int:
        """Cards in the deck."""
        return self._get("deck_size")

    @property
    def discard_size(self) -> int:
        """Cards in the discard pile."""
        return int(self._states["hand_size"][0, state.DISCARD_PILE])

    @property
    def districts_to_end(self) -> int:
        """Districts that complete a city (the Bell Tower may lower it)."""
        return self._get("districts_to_end")

    @property
    def first_completers(self) -> list[int]:
        """The seats that completed their cities first."""
        bits = self._get("first_completers")
        return [seat for seat in range(self.rules.players) if bits >> seat & 1]

    def named(self) -> dict[str, str]:
        """The roles named this round: any of the keys `murdered`, `robbed`, `bewitched`."""
        return {key: self._role(self._get(key)) for key in ("murdered", "robbed", "bewitched") if self._get(key) >= 0}

    def scores(self) -> tuple[int, ...]:
        """The points of each seat as the game stands."""
        if not self.over:
            copy = state.copied(self._states)
            batch.count_scores(copy)
            return tuple(int(n) for n in copy["score"][0, : self.rules.players])
        return tuple(int(n) for n in self._states["score"][0, : self.rules.players])

    def winners(self) -> list[int]:
        """The seats that won, several if they share it; raises CitadelsError (a ValueError) before the end."""
        if not self.over:
            raise CitadelsError("the game is not over; it has no winners yet")
        return [seat for seat in range(self.rules.players) if self._steps["rewards"][0, seat] > 0]

    # --- hidden information and copies ------------------------------------------

    def observation(self, seat: int | None = None, compact: bool = False) -> Any:
        """What `seat` (default: the one to answer) sees: uint8 array, see docs/observation.md; a new array.

        `compact` gives as many player rows as there are players instead of eight.

        Raises InvalidArgumentError (a ValueError) for a seat that there is not.
        """
        if seat is None:
            seat = self.actor or 0
        rows = self.rules.players if true_or_false("compact", compact) else MAX_PLAYERS
        result = np.zeros((1, observation.size(rows)), np.uint8)
        templates = batch.templates_of(self.rules, rows)
        batch.observe(self._states, np.array([self._seat(seat)]), result, templates, rows, N_DISTRICTS)
        return result[0]

    def redeal(self, seat: int, seed: int) -> "Game":
        """A copy of the game with other hidden cards, roles and chances, consistent with all that `seat` knows.

        It has no notation, its log begins anew, and its seed is not the game's: they would tell what is hidden.

        Raises InvalidArgumentError (a ValueError) for a seat that there is not and an impossible seed.
        """
        seat, seed = self._seat(seat), seed_number(seed)
        copy = self.clone()
        batch.redeal(copy._states, np.array([seat]), batch.game_seeds(seed, 1))
        copy._redealt = True
        copy.seed, copy._answered, copy._start = seed, [], None
        copy._steps["seed"] = seed
        return copy

    def clone(self) -> "Game":
        """An independent copy that continues identically."""
        copy = Game.__new__(Game)
        copy.__dict__.update(self.__dict__)
        copy._states, copy._steps = state.copied(self._states), state.copied(self._steps)
        copy._mask, copy._seen = self._mask.copy(), self._seen.copy()
        copy._bind()
        copy._answered = list(self._answered)
        return copy

    __copy__ = clone

    def __deepcopy__(self, memo: Any) -> "Game":
        return self.clone()

    # --- as text ----------------------------------------------------------------

    def notation(self) -> str:
        """The whole game as text: rules, seed or position, answers (see `citadels_env.notation`).

        Raises CitadelsError (a ValueError) for a game with redealt cards.
        """
        if self._redealt:
            raise CitadelsError("a game with redealt cards has no notation: its deal comes from no seed of the rules")
        return notation.write(self.rules, self.seed, self._start, self.log, self.scores() if self.over else None)

    def __repr__(self) -> str:
        where = "over" if self.over else f"round {self.round_number}, player {self.actor} answers {self.question}"
        return f"<Game {self.rules.players} players, seed {self.seed}, {where}>"

    def __str__(self) -> str:
        piles = f"deck {self.deck_size}, discards {self.discard_size}"
        lines = [f"Round {self.round_number}, {self.districts_to_end} districts end the game, {piles}"]
        if self.face_up:
            lines.append(f"Face up: {', '.join(self.face_up)}")
        if self.named():
            lines.append("Named: " + ", ".join(f"{role} {key}" for key, role in self.named().items()))
        scores = self.scores()
        for seat in range(self.rules.players):
            crown = " (crown)" if seat == self.crown else ""
            shown = self.revealed(seat)
            hidden = [role for role in self.roles(seat) if role not in shown]
            roles = ", ".join(shown + [f"{role} (hidden)" for role in hidden]) or "-"
            lines.append(f"Player {seat}{crown}: {self.gold[seat]} gold, {scores[seat]} points, {roles}")
            under = f", {self.museum(seat)} under the Museum" if self.museum(seat) else ""
            lines.append(f"    city: {', '.join(self.city(seat)) or '-'}{under}")
            lines.append(f"    hand: {', '.join(self.hand(seat)) or '-'}")
        if self.over:
            lines.append(f"Over: won by {', '.join(f'player {seat}' for seat in self.winners())}")
        else:
            turn = "" if self.turn_role is None else f" as {self.turn_role}"
            kind = Turn(self._get("turn_kind"))
            if self.turn_role is not None and kind is not Turn.NORMAL:
                turn += f" ({kind.name.lower()})"
            legal = self.legal()
            more = f", ... ({len(legal)} in all)" if len(legal) > 12 else ""
            lines.append(f"Player {self.actor} answers {self.question}{turn}: {', '.join(legal[:12])}{more}")
        return "\n".join(lines)
