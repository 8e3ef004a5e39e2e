"""`Game`: answers, errors, copies, text."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from citadels_env import AMERICAN, GERMAN, Game, observation
from invariants import cards_in_game, random_rules, violations


def _some(game: Game, answers: int, seed: int = 0) -> Game:
    rng = np.random.default_rng(seed)
    for _ in range(answers):
        if not game.over:
            game.play(int(rng.choice(game.legal_indices())))
    return game


def test_texts_and_indices_name_the_same_answers() -> None:
    game = Game(GERMAN, 7)
    for text, index in zip(game.legal(), game.legal_indices(), strict=True):
        assert game.mask()[index]
        assert game.clone().play(text).log == game.clone().play(int(index)).log


@pytest.mark.parametrize("answer", ["draft Queen", "build Palace", "", 5000, -1, 3.5, None, True])
def test_an_illegal_answer_names_itself_and_the_legal_ones_and_changes_nothing(answer: object) -> None:
    game = Game(GERMAN, 7)
    before, log = game._states.copy(), list(game.log)
    with pytest.raises(ValueError, match="is not a legal answer of player 0 to DRAFT; legal: draft ") as error:
        game.play(answer)  # type: ignore[arg-type]
    assert repr(answer) in str(error.value) or str(answer) in str(error.value)
    assert (game._states == before).all()
    assert game.log == log


def test_after_the_end_nothing_is_asked_and_answers_are_refused() -> None:
    game = _some(Game(GERMAN, 3), 5000)
    assert game.over
    assert game.actor is None
    assert game.question is None
    assert game.legal() == []
    assert not game.mask().any()
    with pytest.raises(ValueError, match="the game is over"):
        game.play("end turn")
    assert max(game.scores()) in [game.scores()[seat] for seat in game.winners()]


def test_winners_before_the_end_and_unknown_players_are_errors() -> None:
    game = Game(GERMAN, 3)
    with pytest.raises(ValueError, match="not over"):
        game.winners()
    with pytest.raises(ValueError, match="there is no player 4; the players are 0 to 3"):
        game.hand(4)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", True])
def test_a_seed_that_is_no_whole_number_in_range_is_refused(seed: object) -> None:
    with pytest.raises(ValueError, match="a seed must be a whole number"):
        Game(GERMAN, seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("duplicate", [Game.clone, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_copies_in_mid_game_continue_identically_and_independently(duplicate: object) -> None:
    game = _some(Game(AMERICAN.with_(add_districts="all"), 5), 60)
    twin = duplicate(game)  # type: ignore[operator]
    before = game._states.copy()
    one = _some(twin, 40, seed=1)
    assert (game._states == before).all()
    two = _some(game, 40, seed=1)
    assert one.log == two.log
    assert (one._states == two._states).all()


def test_step_answers_by_index_and_returns_what_the_next_player_sees() -> None:
    slow, fast = Game(GERMAN, 8), Game(GERMAN, 8)
    rng = np.random.default_rng(0)
    while not slow.over:
        index = int(rng.choice(slow.legal_indices()))
        slow.play(index)
        mask, seen = fast.step(index)
        assert (mask == slow.mask()).all()
        if not slow.over:
            assert (seen == slow.observation()).all()
    assert fast.log == slow.log
    with pytest.raises(ValueError, match="over"):
        fast.step(0)
    with pytest.raises(ValueError, match="not a legal answer"):
        Game(GERMAN, 8).step(900)


def test_a_written_game_replays_to_the_same_end() -> None:
    game = _some(Game(random_rules(12), 4), 5000)
    again = Game.replay(game.notation())
    assert (again._states == game._states).all()
    assert again.notation() == game.notation()


def test_a_game_from_a_position_replays_too() -> None:
    players = [{"gold": n, "roles": [role]} for n, role in enumerate(("King", "Thief", "Bishop", "Warlord"))]
    game = Game.from_position(GERMAN, {"round": 4, "players": players}, seed=2)
    _some(game, 25)
    again = Game.replay(game.notation())
    assert (again._states == game._states).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1"),
        ("chess 1", "line 1: a game begins with"),
        ("citadels 1\nseed 3\n", "names no rules"),
        ("citadels 1\nrules {}\nseed x\n", "line 3"),
        ("citadels 1\nrules {}\nseed 3\nhello\n", "line 4: expected"),
        ("citadels 1\nrules {}\nseed 3\nplayer 1: draft King\n", "line 4: 0 must answer"),
        ("citadels 1\nrules {}\nseed 3\nplayer 0: draft Queen\n", "line 4: 'draft Queen' is not a legal answer"),
    ],
)
def test_a_text_that_is_no_game_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Game.replay(text)


def test_wrong_scores_at_the_end_of_a_written_game_are_found() -> None:
    game = _some(Game(GERMAN, 3), 5000)
    text = game.notation()
    assert text.splitlines()[-1] == "scores " + " ".join(map(str, game.scores()))
    with pytest.raises(ValueError, match="the scores are"):
        Game.replay(text.rsplit("scores", 1)[0] + "scores 1 2 3 4\n")


def test_a_redealt_game_has_no_notation() -> None:
    with pytest.raises(ValueError, match="no notation"):
        Game(GERMAN, 1).redeal(0, 1).notation()


def test_printing_a_game_shows_every_player_and_the_open_question() -> None:
    game = _some(Game(GERMAN.with_(players=5), 2), 30)
    text = str(game)
    for seat in range(5):
        assert f"Player {seat}" in text
        assert ", ".join(game.hand(seat)) in text
    assert f"Player {game.actor} answers {game.question}" in text
    assert "seed 2" in repr(game)
    assert "Over: won by player" in str(_some(game, 5000))


def test_the_observation_of_a_game_is_compact_on_request() -> None:
    game = _some(Game(GERMAN.with_(players=3), 2), 30)
    full, compact = game.observation(1), game.observation(1, compact=True)
    for block in observation.blocks(3):
        wide = observation.view(full, block.name)
        assert (observation.view(compact, block.name) == wide[tuple(slice(n) for n in block.shape)]).all()


_BAD_POSITIONS = [
    ({"crwn": 0}, "no key 'crwn'"),
    ({"players": [{}] * 3}, "4 players"),
    ({"players": [{"purse": 3}, {}, {}, {}]}, "player 0 has no key 'purse'"),
    ({"players": [{"gold": -1}, {}, {}, {}]}, "gold of player 0 must be"),
    ({"players": [{"hand": ["Casino"]}, {}, {}, {}]}, "no district 'Casino'"),
    ({"players": [{"hand": ["Library", "Library"]}, {}, {}, {}]}, "holds 1 Library"),
    ({"players": [{"city": ["Museum"]}, {}, {}, {}]}, "holds 0 Museum"),
    ({"players": [{"city": ["Manor*"]}, {}, {}, {}]}, "no Artist"),
    ({"players": [{"museum": 2}, {}, {}, {}]}, "under a Museum"),
    ({"players": [{"roles": ["King"]}, {}, {}, {}]}, "for all players or for none"),
    ({"players": [{"roles": ["King"]}, {"roles": ["King"]}, {"roles": ["Thief"]}, {"roles": ["Bishop"]}]}, "King is already"),
    ({"players": [{"roles": ["Queen"]}, {"roles": ["King"]}, {"roles": ["Thief"]}, {"roles": ["Bishop"]}]}, "'Queen' is none of the roles"),
    ({"players": [{"roles": ["King", "Thief"]}, {"roles": ["Bishop"]}, {"roles": ["Warlord"]}, {"roles": ["Merchant"]}]}, "holds 1 role"),
    ({"face_up": ["King"]}, "never lies face up"),
    ({"face_up": ["Thief", "Bishop", "Merchant"]}, "2 different roles lie face up"),
    ({"crown": 4}, "crown must be a whole number from 0 to 3"),
    ({"round": 0}, "round must be"),
    ({"called": 9}, "called must be"),
    ({"end_at": 7}, "no Bell Tower"),
    ({"end_at": 5}, "end_at must be 7 or 8"),
    ({"bewitched": "King"}, "the Witch is not among the roles"),
    ({"murdered": "Assassin"}, "names another role"),
    ({"robbed": "Assassin"}, "may name neither"),
    ({"murdered": "King", "robbed": "King"}, "may name neither"),
    ({"deck_top": "Tavern"}, "deck_top must be a list"),
    ({"first_completers": [5]}, "first_completers must be"),
    ({"first_completers": 3}, "first_completers must be a list of seats, not 3"),
    ({"face_up": "Thief"}, "face_up must be a list of roles, not 'Thief'"),
    ({"players": [{"city": "Palace"}, {}, {}, {}]}, "city of player 0 must be a list of districts"),
]


@pytest.mark.parametrize(("position", "message"), _BAD_POSITIONS)
def test_a_position_that_cannot_be_is_refused_with_its_reason(position: dict[str, object], message: str) -> None:
    if "robbed" in position and "players" not in position:
        position = position | {"players": [{"roles": [r]} for r in ("Thief", "Magician", "Bishop", "Warlord")]}
    with pytest.raises(ValueError, match=message):
        Game.from_position(GERMAN, position)


class GameMachine(RuleBasedStateMachine):
    """Any mixture of answers, refused answers, copies and redeals leaves a sound game."""

    @initialize(rules_seed=st.integers(0, 5000), seed=st.integers(0, 2**64 - 1))
    def start(self, rules_seed: int, seed: int) -> None:
        self.game = Game(random_rules(rules_seed), seed)
        self.copies = cards_in_game([self.game.rules])

    @rule(data=st.data(), number=st.integers(1, 12))
    @precondition(lambda self: not self.game.over)
    def answer(self, data: st.DataObject, number: int) -> None:
        for _ in range(number):
            if not self.game.over:
                self.game.play(data.draw(st.sampled_from(self.game.legal())))

    @rule(index=st.integers(-5, 1400))
    def refuse(self, index: int) -> None:
        if index not in self.game.legal_indices():
            before = self.game._states.copy()
            with pytest.raises(ValueError, match=r"legal|over"):
                self.game.play(index)
            assert (before == self.game._states).all()

    @rule(seat=st.integers(0, 7), seed=st.integers(0, 1000))
    @precondition(lambda self: not self.game.over)
    def redeal(self, seat: int, seed: int) -> None:
        seat %= self.game.rules.players
        world = self.game.redeal(seat, seed)
        assert (world.observation(seat) == self.game.observation(seat)).all()

    @rule()
    @precondition(lambda self: self.game.over)
    def again(self) -> None:
        text = self.game.notation()
        assert Game.replay(text).scores() == self.game.scores()
        self.game = Game(self.game.rules, self.game.seed // 2)

    @invariant()
    def sound(self) -> None:
        if hasattr(self, "game"):
            assert violations(self.game._states, self.copies, self.game.mask()[None, :]) == []
            assert len(self.game.scores()) == self.game.rules.players


TestGameMachine = GameMachine.TestCase
TestGameMachine.settings = settings(max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
