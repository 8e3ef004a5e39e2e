"""`Game.from_position`: positions out of real games, names that cannot be, and what is paid to whom."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Batch, Game, Rules, batch, observation, position, state
from citadels_env.errors import PositionError
from invariants import random_answers
from positions import position_of, rules_of_game

HERE = Path(__file__).parent
BASE = ("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord")
WITCH = GERMAN.with_(roles=("Witch", *BASE[1:]))
BALL = GERMAN.with_(add_districts=("Ballroom",))

# What a position lays down; the rest of a record is what players remember, and counters of the turn that is over.
FIELDS = (
    "round_number", "crown", "gold", "hand", "hand_size", "city", "coins", "city_size", "deck_size", "draft_first", "draft_step",
    "owner", "called", "revealed", "murdered", "robbed", "bewitched", "robber", "witch", "tax_seat", "rank_1_built", "heir",
    "ending", "first_completers", "districts_to_end",
)  # fmt: skip
REMEMBERED = ("offered", "passed", "buried", "museum", "known")  # blocks of the observation that are one seat's memory


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    """Records just before each call of random games, by the seed of the game."""
    path = tmp_path_factory.mktemp("positions") / "records.npz"
    seeds = [str(seed) for seed in range(20)]
    environment = dict(os.environ, NUMBA_DISABLE_JIT="1", PYTHONPATH=os.pathsep.join(sys.path))
    subprocess.run([sys.executable, str(HERE / "positions.py"), str(path), *seeds], env=environment, check=True, cwd=HERE.parent)
    with np.load(path) as files:
        return {int(seed): files[seed].astype(state.STATE) for seed in files.files}


def _deck(g: Any) -> list[int]:
    """The deck from the top."""
    size, bottom = int(g["deck_size"]), int(g["deck_bottom"])
    return [int(g["deck"][(bottom + height) % state.DECK_CAPACITY]) for height in range(size - 1, -1, -1)]


def _resume(games: Batch) -> None:
    games._answers[:] = batch.RESUME
    games._advance(observe_too=False)


def _kinds(laid: dict[str, Any], rules: Rules) -> dict[str, bool]:
    """What a position says that is not said often."""
    return {
        "crown moved": laid["crown"] != laid["drafted_first"],
        "silenced King": "silenced" in laid,
        "Haunted City": laid["haunted_city_this_round"],
        "the Witch robs": laid.get("bewitched") == "Thief" and "robbed" in laid,
        "Hospital": laid.get("murdered_revealed", False),
        "tax": laid["tax_due"],
        "Bell Tower": laid["end_at"] != rules.city_size,
        "Museum": any(player["museum"] for player in laid["players"]),
    }


def test_positions_of_real_games_set_up_again_agree_with_the_record_and_play_on_identically(captured: dict[int, Any]) -> None:
    seen: dict[str, int] = {}
    blocks = [block.name for block in observation.blocks() if block.name not in REMEMBERED]
    for seed, records in captured.items():
        rules, n = rules_of_game(seed), len(records)
        original, again = (Batch(rules, n, auto_reset=False) for _ in range(2))
        for k, record in enumerate(records):
            laid = position_of(record, rules)
            position.set_up(again.states[k : k + 1], rules, position.normalised(laid), 5)
            for name, found in _kinds(laid, rules).items():
                seen[name] = seen.get(name, 0) + bool(found)
            assert _deck(again.states[k]) == _deck(record), (seed, k)
        for name in FIELDS:
            different = (again.states[name] != records[name]).reshape(n, -1).any(1)
            assert not different.any(), (seed, int(different.argmax()), name)
        kept = original.states["rules"].copy()
        original.states[:] = records
        original.states["rules"] = kept
        again.states["rng"] = records["rng"]  # chance goes on as it would have
        _resume(original), _resume(again)
        rng = np.random.default_rng(seed)
        for step in range(250):
            assert (again.masks() == original.masks()).all(), (seed, step)
            assert (again.actors == original.actors).all(), (seed, step)
            assert (again.rewards == original.rewards).all(), (seed, step)
            if step % 5 == 0:
                seats = np.full(n, step // 5 % rules.players)
                one, two = original.observe(seats), again.observe(seats)
                for name in blocks:
                    assert (observation.view(one, name) == observation.view(two, name)).all(), (seed, step, name)
            answers = random_answers(original.masks(), rng)
            original.step(answers), again.step(answers)
        for name in ("gold", "city", "hand", "crown", "score", "over", "round_number"):
            assert (again.states[name] == original.states[name]).all(), (seed, name)
    assert sum(map(len, captured.values())) > 1000
    assert min(seen.values()) >= 3, seen


def test_a_position_of_a_real_game_is_written_and_read_as_json_and_replays(captured: dict[int, Any]) -> None:
    for seed in (1, 4, 8):
        rules = rules_of_game(seed)
        laid = json.loads(json.dumps(position_of(captured[seed][10], rules)))
        game = Game.from_position(rules, laid, seed=3)
        again = Game.replay(game.notation())
        assert (again._states == game._states).all()


def _at(rules: Rules, *roles: str, **more: Any) -> Game:
    players = [{"roles": [role], "gold": 0, "hand": [], "city": []} for role in roles]
    for seat, extra in more.pop("also", {}).items():
        players[seat] |= extra
    return Game.from_position(rules.with_(players=len(roles)), {"players": players, **more}, seed=1)


@pytest.mark.parametrize("edition", [GERMAN, FRENCH, AMERICAN])
def test_the_robbery_of_a_bewitched_thief_is_paid_to_the_witch(edition: Rules) -> None:
    rules = edition.with_(roles=WITCH.roles)
    also = {2: {"gold": 5}}
    g = _at(rules, "Witch", "Thief", "King", "Warlord", bewitched="Thief", robbed="King", called=2, also=also)
    assert g.turn_role == "King"
    assert g.gold == (5, 0, 0, 0)
    g = _at(edition, "Assassin", "Thief", "King", "Warlord", robbed="King", called=2, also=also)
    assert g.gold == (0, 5, 0, 0)


def test_the_robbery_of_a_bewitched_thief_is_what_play_from_the_call_of_the_witch_comes_to() -> None:
    g = _at(WITCH, "Witch", "Thief", "King", "Warlord", also={2: {"gold": 5}})
    for answer in ("take gold", "name Thief", "take gold", "name King", "end turn"):
        g.play(answer)
    assert g.turn_role == "King"
    laid = _at(
        WITCH,
        "Witch",
        "Thief",
        "King",
        "Warlord",
        bewitched="Thief",
        robbed="King",
        called=2,
        also={0: {"gold": 2}, 1: {"gold": 2}, 2: {"gold": 5}},
    )
    assert g.gold == laid.gold == (7, 2, 0, 0)


SILENT = {"add_districts": ("Ballroom",)}
FOUR, COVEN, NO_THIEF = (
    ("Assassin", "King", "Thief", "Warlord"),
    ("Witch", "King", "Thief", "Warlord"),
    ("King", "Bishop", "Assassin", "Warlord"),
)
HALL = {"also": {3: {"city": ["Ballroom"]}}, "crown": 3}


@pytest.mark.parametrize(
    ("rules", "roles", "laid", "message"),
    [
        (GERMAN, ("King", "Bishop", "Thief", "Warlord"), {"murdered": "King", "called": 1}, r"murdered: nobody holds the Assassin"),
        (WITCH, ("King", "Bishop", "Thief", "Warlord"), {"bewitched": "King", "called": 1}, r"bewitched: nobody holds the Witch"),
        (GERMAN, NO_THIEF, {"robbed": "King", "called": 2}, r"robbed: nobody holds the Thief"),
        (GERMAN, NO_THIEF, {"robbed": "King", "called": 2, "face_up": ["Thief", "Magician"]},
            r"robbed: nobody holds the Thief",
        ),
        (GERMAN, FOUR, {"murdered": "King"}, r"murdered: the Assassin has not been called yet; called is 0"),
        (WITCH, COVEN, {"bewitched": "King"}, r"bewitched: the Witch has not been called yet"),
        (GERMAN, FOUR, {"robbed": "King", "called": 1}, r"robbed: the Thief has not been called yet"),
        (GERMAN, FOUR, {"murdered": "Thief", "robbed": "King", "called": 2},
            r"robbed: the Thief was murdered and has no turn \(R-ASSASSIN\)",
        ),
        (
            WITCH, COVEN, {"bewitched": "Thief", "robbed": "Thief", "called": 2},
            r"robbed: the Thief names another role \(I2\)",
        ),
        (
            WITCH, COVEN, {"bewitched": "King", "robbed": "King", "called": 2},
            r"robbed: the Thief may name neither the Witch nor the murdered or bewitched role \(R9, R10\)",
        ),
        (BALL, FOUR, {"silenced": ["Thief"], "robbed": "King", "called": 2, **HALL}, r"robbed: .*silenced.*X-14"),
        (BALL, FOUR, {"silenced": ["Assassin"], "murdered": "King", "called": 2, **HALL}, r"murdered: .*silenced"),
        (BALL, FOUR, {"silenced": ["King"], "called": 3, **HALL}, r"silenced: the King has not been called"),
        (BALL, FOUR, {"silenced": ["Bishop"], "called": 8, **HALL}, r"silenced: the Bishop .*nobody holds it"),
        (BALL, FOUR, {"silenced": ["Warlord"], "called": 8, **HALL}, r"silenced: player 3 held the crown"),
        (GERMAN, FOUR, {"silenced": ["King"], "called": 4, "crown": 3}, r"in these rules nobody loses.*D-BALL"),
        (
            BALL.with_(ballroom="auto"), FOUR, {"silenced": ["King"], "called": 4, **HALL},
            r"in these rules nobody loses a turn to the Ballroom",
        ),
        (
            BALL, FOUR, {"silenced": ["King"], "murdered": "King", "called": 4, **HALL},
            r"silenced: the murdered King did not show itself",
        ),
        (
            WITCH.with_(**SILENT), COVEN, {"silenced": ["King"], "bewitched": "King", "called": 4, **HALL},
            r"silenced: the bewitched King need not thank \(X-14\)",
        ),
        (
            BALL, FOUR, {"silenced": ["King"], "called": 4, **HALL, "crown": 1, "drafted_first": 3},
            r"drafted_first is 3, but player 1 has the crown.*\(B-CROWN, R-EMP-2\)",
        ),
        (GERMAN, FOUR, {"crown": 1, "drafted_first": 3, "called": 3}, r"drafted_first is 3"),
        (GERMAN, FOUR, {"crown": 2, "drafted_first": 3, "called": 4}, r"drafted_first is 3"),
        (GERMAN, ("Assassin", "Bishop", "Thief", "Warlord"), {"crown": 1, "drafted_first": 3, "called": 8}, r"drafted_first is 3"),
        (GERMAN.with_(roles=(*BASE[:3], "Emperor", *BASE[4:])), ("Assassin", "Emperor", "Thief", "Warlord"),
            {"crown": 1, "drafted_first": 3, "called": 4}, r"the Emperor gives it to another player",
        ),
        (GERMAN, FOUR, {"tax_due": True}, r"tax_due: the Assassin has not been called yet"),
        (GERMAN, ("Bishop", "King", "Thief", "Warlord"), {"tax_due": True, "called": 2}, r"tax_due: nobody holds the Assassin"),
        (WITCH, COVEN, {"tax_due": True, "called": 2}, r"tax_due: a Witch who names a role has built nothing.*R42"),
        (GERMAN, FOUR, {"tax_due": 1, "called": 2}, r"tax_due must be True or False, not 1"),
        (GERMAN, FOUR, {"murdered": "King", "murdered_revealed": True, "called": 4},
            r"murdered_revealed is True, but only a murdered role.*\(I11\)",
        ),
        (GERMAN, FOUR, {"murdered_revealed": True, "called": 4}, r"murdered_revealed"),
        (GERMAN, FOUR, {"murdered_revealed": "yes"}, r"murdered_revealed must be True or False"),
        (GERMAN, FOUR, {"haunted_city_this_round": True, "called": 4}, r"no Haunted City stands.*D-HAUNTED"),
        (GERMAN, FOUR, {"haunted_city_this_round": True, "also": {0: {"city": ["Haunted City"]}}},
            r"nobody has been called that could have built it",
        ),
    ],
)  # fmt: skip
def test_what_cannot_have_happened_in_a_round_is_refused_with_its_rule(
    rules: Rules, roles: tuple[str, ...], laid: dict[str, Any], message: str
) -> None:
    with pytest.raises(PositionError, match=message):
        _at(rules, *roles, **copy.deepcopy(laid))


def test_where_no_roles_are_given_they_are_dealt_so_that_the_names_can_be() -> None:
    for seed in range(60):
        g = Game.from_position(GERMAN, {"players": [{}] * 4, "called": 2, "murdered": "King", "robbed": "Bishop"}, seed=seed)
        held = [role for seat in range(4) for role in g.roles(seat)]
        assert {"Assassin", "Thief"} <= set(held)
        laid = {"players": [{}] * 4, "called": 4, "silenced": ["King"], "crown": 1}
        g = Game.from_position(BALL, laid, seed=seed)
        assert "King" not in g.roles(1)
        laid = {"players": [{}] * 4, "called": 4, "crown": 2, "drafted_first": 1}
        g = Game.from_position(GERMAN, laid, seed=seed)
        assert "King" in g.roles(2) or g.round_number == 2  # nobody may hold a later rank


@pytest.mark.parametrize("heir", [True, False])
def test_a_king_silenced_at_the_ballroom_receives_the_crown_as_the_round_ends(heir: bool) -> None:
    laid = {"silenced": ["King"]} if heir else {}
    g = _at(BALL, "Assassin", "King", "Thief", "Warlord", called=8, **laid, **copy.deepcopy(HALL))
    assert (g.question, g.crown) == ("DRAFT", 1 if heir else 3)


@pytest.mark.parametrize("new", [True, False])
def test_a_haunted_city_built_in_this_round_stands_for_no_other_colour_where_the_option_says_so(new: bool) -> None:
    city = ["Manor", "Castle", "Temple", "Church", "Tavern", "Market", "Keep", "Haunted City"]  # no military district
    for option in (True, False):
        rules = GERMAN.with_(haunted_city_not_in_last_round=option)
        g = _at(rules, "Assassin", "King", "Thief", "Warlord", called=8, haunted_city_this_round=new, also={0: {"city": city}})
        assert g.over
        assert g.scores()[0] == 18 + 4 + (0 if new and option else 3)


def test_the_moved_crown_shows_who_drafted_first() -> None:
    g = _at(GERMAN, "Assassin", "King", "Thief", "Warlord", called=4, crown=1, drafted_first=3)
    column = observation.PLAYER_COLUMNS.index("drafted first")
    assert list(observation.view(g.observation(0), "players")[:4, column]) == [0, 0, 0, 1]


@pytest.mark.parametrize("shown", [None, True, False])
def test_a_murdered_role_may_have_shown_itself_although_its_hospital_is_gone(shown: bool | None) -> None:
    rules = GERMAN.with_(add_districts=("Hospital",))
    laid = {} if shown is None else {"murdered_revealed": shown}
    g = _at(rules, "Assassin", "Thief", "King", "Warlord", called=2, murdered="Thief", **laid)
    assert g.revealed(1) == (["Thief"] if shown else [])
    g = _at(rules, "Assassin", "Thief", "King", "Warlord", called=2, murdered="Thief", also={1: {"city": ["Hospital"]}}, **laid)
    assert g.revealed(1) == ([] if shown is False else ["Thief"])
