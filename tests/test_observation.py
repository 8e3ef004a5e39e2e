"""The observation: blocks that fill it, values that agree with the table."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from citadels_env import FRENCH, GERMAN, Ask, Game, observation, pages, state
from citadels_env.cards import DISTRICT_INDEX, ROLE_INDEX
from citadels_env.errors import InvalidArgumentError
from citadels_env.observation import GAME_COLUMNS, PLAYER_COLUMNS, view
from invariants import random_rules

DOCS = Path(__file__).parent.parent / "docs"


def test_blocks_fill_the_observation_without_gaps_and_views_share_its_memory() -> None:
    for rows in range(2, 9):
        seen = np.zeros(observation.size(rows), np.uint8)
        for block in observation.blocks(rows):
            part = view(seen, block.name)
            assert part.shape == block.shape
            assert np.shares_memory(part, seen)
            part += 1
        assert (seen == 1).all()
        assert observation.high(rows).shape == seen.shape
    with pytest.raises(ValueError, match="no block 'cards'"):
        view(np.zeros(observation.size(), np.uint8), "cards")
    with pytest.raises(ValueError, match="entries, not 10"):
        view(np.zeros(10, np.uint8), "hand")


@settings(max_examples=40, deadline=None)
@given(rules_seed=st.integers(0, 10_000), answers=st.integers(0, 250), choice=st.integers(0, 2**32))
@example(rules_seed=100, answers=243, choice=928236499)  # over, nine roles: all ranks have been called
def test_every_public_figure_stands_where_the_table_says(rules_seed: int, answers: int, choice: int) -> None:
    game, rng = Game(random_rules(rules_seed), rules_seed), np.random.default_rng(choice)
    for _ in range(answers):
        if not game.over:
            game.play(int(rng.choice(game.legal_indices())))
    n = game.rules.players
    seat = int(rng.integers(n))
    seen = game.observation(seat)
    assert (seen <= observation.high()).all()
    hand = view(seen, "hand")
    assert sorted(name for name, index in DISTRICT_INDEX.items() for _ in range(hand[index])) == game.hand(seat)
    column = {name: index for index, name in enumerate(PLAYER_COLUMNS)}
    for k in range(n):
        other = (seat + k) % n
        row = view(seen, "players")[k]
        assert row[column["in play"]] == 1
        assert row[column["gold"]] == min(255, game.gold[other])
        assert row[column["cards in hand"]] == len(game.hand(other))
        assert row[column["districts"]] == len(game.city(other))
        assert row[column["holds the crown"]] == (game.crown == other)
        assert row[column["answers now"]] == (game.actor == other)
        assert row[column["cards under the Museum"]] == game.museum(other)
        assert row[column["completed first"]] == (other in game.first_completers)
        plain = [name.rstrip("*") for name in game.city(other)]
        stars = [name.rstrip("*") for name in game.city(other) if name.endswith("*")]
        for name, index in DISTRICT_INDEX.items():
            assert view(seen, "city")[k, index] == plain.count(name)
            assert view(seen, "beautified")[k, index] == stars.count(name)
        shown = [ROLE_INDEX[name] // 2 for name in game.revealed(other)]
        assert list(np.flatnonzero(view(seen, "revealed")[k])) == shown
    assert (view(seen, "players")[n:] == 0).all()
    assert list(np.flatnonzero(view(seen, "roles"))) == [ROLE_INDEX[name] // 2 for name in game.roles(seat)]
    assert list(np.flatnonzero(view(seen, "face_up"))) == [ROLE_INDEX[name] // 2 for name in game.face_up]
    assert list(np.flatnonzero(view(seen, "role_set"))) == [ROLE_INDEX[name] for name in game.rules.roles]
    figures = dict(zip(GAME_COLUMNS, view(seen, "game"), strict=True))
    assert figures["cards in the deck"] == game.deck_size
    assert figures["round"] == game.round_number
    assert figures["districts that end the game"] == game.districts_to_end
    question = np.flatnonzero(view(seen, "question"))
    assert list(question) == ([Ask[game.question]] if game.actor == seat and game.question else [])
    for key, role in game.named().items():
        assert list(np.flatnonzero(view(seen, key))) == [ROLE_INDEX[role] // 2]


def test_the_draft_shows_what_was_offered_and_passed_on() -> None:
    game = Game(GERMAN, 5)
    offered = [ROLE_INDEX[text.removeprefix("draft ")] // 2 for text in game.legal()]
    assert list(np.flatnonzero(view(game.observation(0), "offered")[0])) == offered
    assert not view(game.observation(0), "passed").any()
    game.play(game.legal()[0])
    assert list(np.flatnonzero(view(game.observation(0), "passed")[0])) == offered[1:]
    assert list(np.flatnonzero(view(game.observation(1), "offered")[0])) == offered[1:]
    assert not view(game.observation(2), "offered").any()


def test_two_players_see_both_visits_of_the_draft_and_what_they_buried() -> None:
    game = Game(GERMAN.with_(players=2), 5)
    counts = []
    while game.question in ("DRAFT", "BURY"):
        counts.append((game.actor, game.question, len(game.legal())))
        game.play(game.legal()[0])
    assert counts == [(0, "DRAFT", 7), (1, "DRAFT", 6), (1, "BURY", 5), (0, "DRAFT", 4), (0, "BURY", 3), (1, "DRAFT", 2)]
    for seat, sizes in ((0, ((7, 6), (4, 2))), (1, ((6, 4), (2, 1)))):
        seen = game.observation(seat)
        for visit, (offered, passed) in enumerate(sizes):
            assert view(seen, "offered")[visit].sum() == offered
            assert view(seen, "passed")[visit].sum() == passed
        assert view(seen, "buried").sum() == 1


def test_the_options_and_the_deck_of_the_rules_are_seen() -> None:
    game = Game(FRENCH.with_(add_districts=("Museum",)), 1)
    names = observation.RULE_COLUMNS
    values = dict(zip(names, view(game.observation(0), "options"), strict=True))
    assert values["duplicates_allowed"] == 0
    assert values["quarry"] == 1
    assert (values["smithy cost"], values["smithy cards"], values["Factory"]) == (3, 3, 5)
    deck = view(game.observation(0), "deck_list")
    assert {name: int(deck[index]) for name, index in DISTRICT_INDEX.items() if deck[index]} == game.rules.deck


# --- in words ------------------------------------------------------------------


def random_game(rules_seed: int, answers: int, choice: int) -> tuple[Game, np.random.Generator]:
    game, rng = Game(random_rules(rules_seed), rules_seed), np.random.default_rng(choice)
    for _ in range(answers):
        if not game.over:
            game.play(int(rng.choice(game.legal_indices())))
    return game, rng


@pytest.mark.parametrize("compact", [False, True])
@settings(max_examples=40, deadline=None)
@given(rules_seed=st.integers(0, 10_000), answers=st.integers(0, 250), choice=st.integers(0, 2**32))
def test_an_observation_in_words_says_what_the_game_says(compact: bool, rules_seed: int, answers: int, choice: int) -> None:
    game, rng = random_game(rules_seed, answers, choice)
    n, rules = game.rules.players, game.rules
    seat = int(rng.integers(n))
    said = observation.describe(game.observation(seat, compact))
    assert list(said) == [b.name for b in observation.blocks() if b.name not in ("revealed", "city", "beautified", "known")]
    assert said["role_set"] == list(rules.roles)
    assert said["deck_list"] == rules.deck
    for name in state.OPTIONS:
        value = getattr(rules, name)
        assert said["options"][name] == (min(value, 60) if type(value) is int else value)
        assert type(said["options"][name]) is type(value)
    assert (said["options"]["smithy cost"], said["options"]["smithy cards"]) == rules.smithy
    assert {name: said["options"][name] for name in ("Observatory", "Imperial Treasury", "Factory", "Poor House")} == {
        name: rules.cost(name) for name in ("Observatory", "Imperial Treasury", "Factory", "Poor House")
    }
    asked = game.actor == seat
    assert said["question"] == (game.question if asked else None)
    assert said["turn"]["districts that may be built"] >= 0
    assert said["roles"] == game.roles(seat)
    assert said["face_up"] == game.face_up
    assert {key: said[key] for key in ("murdered", "robbed", "bewitched")} == {
        key: game.named().get(key) for key in ("murdered", "robbed", "bewitched")
    }
    if asked and game.question == "DRAFT":
        visit = "second visit" if said["offered"]["second visit"] else "first visit"
        assert [f"draft {role}" for role in said["offered"][visit]] == game.legal()
    if asked and game.question in ("KEEP", "WIZARD_TAKE", "LIGHTHOUSE"):
        assert {text.split(" ", 1)[1] for text in game.legal() if text != "done"} <= set(said["shown"])
    assert said["hand"] == dict(Counter(game.hand(seat)))
    figures = said["game"]
    assert (figures["round"], figures["players"], figures["roles"]) == (min(255, game.round_number), n, len(rules.roles))
    assert (figures["cards in the deck"], figures["cards in the discard pile"]) == (game.deck_size, game.discard_size)
    assert figures["districts that end the game"] == game.districts_to_end
    assert len(said["players"]) == n
    for k, player in enumerate(said["players"]):
        other = (seat + k) % n
        assert (player["gold"], player["cards in hand"]) == (min(255, game.gold[other]), len(game.hand(other)))
        assert player["in play"] is True
        assert player["holds the crown"] is (game.crown == other)
        assert player["answers now"] is (game.actor == other)
        assert player["completed first"] is (other in game.first_completers)
        assert player["cards under the Museum"] == game.museum(other)
        assert player["revealed"] == game.revealed(other)
        assert player["city"] == dict(Counter(name.rstrip("*") for name in game.city(other)))
        assert player["beautified"] == dict(Counter(name.rstrip("*") for name in game.city(other) if name.endswith("*")))
        assert ("known" in player) is (k > 0)
        if k:
            assert Counter(player["known"]) <= Counter(game.hand(other))
    json.dumps(said)  # plain data


def test_columns_called_flags_are_yes_or_no_and_others_are_not_always() -> None:
    columns = {*PLAYER_COLUMNS, *GAME_COLUMNS, *observation.TURN_COLUMNS, *observation.RULE_COLUMNS}
    assert columns >= observation.FLAGS
    largest: dict[str, int] = dict.fromkeys(columns, 0)
    for seed in range(60):
        game, rng = Game(random_rules(seed), seed), np.random.default_rng(seed)
        while not game.over:
            seen = game.observation()
            for block in observation.blocks():
                if block.columns in (PLAYER_COLUMNS, GAME_COLUMNS, observation.TURN_COLUMNS, observation.RULE_COLUMNS):
                    most = view(seen, block.name).reshape(-1, len(block.columns)).max(axis=0)
                    for name, value in zip(block.columns, most.tolist(), strict=True):
                        largest[name] = max(largest[name], value)
            game.play(int(rng.choice(game.legal_indices())))
    assert {name for name in observation.FLAGS if largest[name] > 1} == set()
    numbers = columns - observation.FLAGS - {*observation.RULE_COLUMNS}
    assert {name for name in numbers if largest[name] <= 1} == set()


def test_the_question_a_district_is_about_and_the_cards_shown_are_named() -> None:
    position = {
        "players": [
            {"roles": ["Warlord"], "gold": 9},
            {"roles": ["Bishop"], "city": ["Graveyard", "Manor"], "gold": 3, "hand": ["Palace"]},
        ],
        "called": 7,
    }
    rules = GERMAN.with_(players=2)
    position["players"][0]["roles"] += ["King"]
    position["players"][1]["roles"] = ["Merchant", "Architect"]
    game = Game.from_position(rules, position)
    game.play("destroy Manor of player 1")
    said = observation.describe(game.observation(1))
    assert (said["question"], said["subject"]) == ("GRAVEYARD", "Manor")
    assert observation.describe(game.observation(0))["question"] is None
    game.play("yes")
    assert observation.describe(game.observation(1))["hand"] == {"Palace": 1, "Manor": 1}
    assert observation.describe(game.observation(0))["players"][1]["known"]["Manor"] == 1
    game.play("draw cards")
    said = observation.describe(game.observation(0))
    assert said["question"] == "KEEP"
    assert sum(said["shown"].values()) == 2
    assert said["called"] == "Warlord"


def test_every_entry_has_a_name_of_its_own_the_same_in_both_forms() -> None:
    full = observation.names()
    assert isinstance(full, tuple)
    assert len(full) == len(set(full)) == observation.size()
    at = {name: k for k, name in enumerate(full)}
    game = Game(GERMAN.with_(players=3), 1)
    for rows in range(2, 9):
        names = observation.names(rows)
        assert len(names) == observation.size(rows)
        assert set(names) <= set(full)
    seen, compact = game.observation(), game.observation(compact=True)
    assert (seen[[at[name] for name in observation.names(3)]] == compact).all()
    for block in observation.blocks():
        first = observation.offsets()[block.name]
        assert all(name.startswith(f"{block.name}.") for name in full[first : first + block.size])
    assert seen[at["players.player 2.gold"]] == 2
    assert seen[at["options.city_size"]] == 8
    assert seen[at["question.DRAFT"]] == 1
    assert seen[at["deck_list.Palace"]] == game.rules.deck["Palace"]
    assert at["known.player 1.Manor"] == observation.offsets()["known"]


@pytest.mark.parametrize("rows", [1, 9, True, 2.0, None, "8"])
def test_names_are_refused_for_an_impossible_number_of_rows(rows: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="rows"):
        observation.names(rows)


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros(10, np.uint8),
        np.zeros((1, observation.size()), np.uint8),
        np.zeros((observation.size(), 1), np.uint8),
        np.zeros(observation.size(), np.float32),
        np.zeros(observation.size(), np.bool_),
        [0] * observation.size(),
        {"observation": np.zeros(observation.size(), np.uint8)},
        None,
        np.zeros(observation.size(), np.uint8),  # a game has players
        np.full(observation.size(), 255, np.uint8),
        np.full(observation.size(), -1, np.int64),
    ],
    ids=str,
)
def test_what_is_no_observation_is_not_put_into_words(wrong: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="observation"):
        observation.describe(wrong)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("question.PARK", 1, "question is DRAFT and PARK at once"),
        ("options.tie_break", 3, r"options\.tie_break is 3, but at most 2"),
        ("options.quarry", 60, r"options\.quarry is 60"),
        ("options.duplicates_allowed", 2, r"options\.duplicates_allowed is 2, but at most 1"),
        ("hand.Palace", 10, r"hand\.Palace is 10, but at most 9"),
        ("game.players", 5, r"game\.players is 5"),
    ],
)
def test_values_that_no_observation_holds_are_named(name: str, value: int, message: str) -> None:
    seen = Game(GERMAN, 7).observation(compact=True)
    seen[observation.names(4).index(name)] = value
    with pytest.raises(InvalidArgumentError, match=message):
        observation.describe(seen)


def test_the_page_is_the_one_that_the_tables_make_and_names_every_entry() -> None:
    page = (DOCS / "observation.md").read_text(encoding="utf-8")
    assert page == pages.OBSERVATION_PAGE
    for columns in (observation.DISTRICT_NAMES, observation.ROLE_NAMES):
        for k, name in enumerate(columns):
            assert f"| {k} | {name} |" in page
    for k, name in enumerate(observation.QUESTIONS):
        assert f"| {k} | `{name}` |" in page
    for k, name in enumerate(state.OPTIONS):
        assert f"| {k} | `{name}` |" in page
    assert "0 buildings, 1 buildings_then_gold, 2 shared" in page


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", pages.OBSERVATION_PAGE, re.DOTALL)
    exec(compile(example, "docs/observation.md", "exec"), {})
    out = capsys.readouterr().out
    assert out.startswith("DRAFT [")
    assert "players.player 3.cards in hand" in out
