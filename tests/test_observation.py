"""The observation: blocks that fill it, values that agree with the table."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from citadels_env import FRENCH, GERMAN, Ask, Game, observation
from citadels_env.cards import DISTRICT_INDEX, ROLE_INDEX
from citadels_env.observation import GAME_COLUMNS, PLAYER_COLUMNS, view
from invariants import random_rules


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
