"""Rules as a value: what is refused and how it is said, changing, writing, reading, describing."""

import json
import pickle
import random
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from citadels_env import AMERICAN, EDITIONS, FRENCH, GERMAN, Game, Rules
from citadels_env.cards import BASE_ROLES, DISTRICTS, NEW_DISTRICTS, ROLES
from citadels_env.rules import default_roles, recommended_districts

OPTIONS = {f.name: f for f in fields(Rules)}
CHOICES = {name: f.metadata["values"] for name, f in OPTIONS.items() if f.metadata["values"] is not None}
TEN = (*BASE_ROLES, "Artist", "Queen")

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"players": 1}, r"players must be 2 to 8, not 1 \(S-2\)"),
    ({"players": 9}, r"players must be 2 to 8, not 9 \(S-2\)"),
    ({"players": "four"}, "players must be a whole number, not 'four'"),
    ({"players": 4.0}, r"players must be a whole number, not 4\.0"),
    ({"players": True}, "players must be a whole number, not True"),
    ({"max_rounds": 0}, r"max_rounds must be one of 1 to 9999, not 0 \(X-11\)"),
    ({"max_rounds": "60"}, r"max_rounds must be one of 1 to 9999, not '60' \(X-11\)"),
    ({"districts_seed": 0.5}, r"districts_seed must be a whole number from 0 to 2\*\*64 - 1, not 0\.5"),
    ({"roles": (*BASE_ROLES[:7], "Pope")}, r"no role 'Pope'; the roles are Assassin, Witch.*\(S-1\)"),
    ({"roles": "Assassin"}, "roles must be a list of names, not 'Assassin'"),
    ({"roles": BASE_ROLES[:7]}, r"a game uses the ranks 1 to 8 or 1 to 9, not 1, 2, 3, 4, 5, 6, 7 \(S-1, S-2\)"),
    ({"roles": (*BASE_ROLES[1:], "Artist")}, r"not 2, 3, 4, 5, 6, 7, 8, 9 \(S-1, S-2\)"),
    ({"roles": (*BASE_ROLES, "Assassin")}, r"Assassin and Assassin are both of rank 1.*\(S-1\)"),
    ({"roles": (*BASE_ROLES[:7], "Architect")}, r"Architect and Architect are both of rank 7.*\(S-1\)"),
    ({"roles": TEN, "players": 5}, r"Artist and Queen are both of rank 9.*\(S-1\)"),
    ({"roles": (*BASE_ROLES, "Artist"), "players": 3}, r"3 players use eight roles, not 9 \(S-2\)"),
    ({"roles": BASE_ROLES, "players": 8}, r"8 players use nine roles, not 8 \(S-2\)"),
    ({"roles": (*BASE_ROLES, "Queen"), "players": 4}, r"the Queen needs five or more players, not 4 \(S-5\)"),
    ({"base_deck": "italian"}, r"base_deck must be one of 'german', 'french', 'american', not 'italian' \(D1\)"),
    ({"add_districts": ("Keep",)}, r"'Keep' is none of the new districts Great Wall, .*Throne Room \(S-6\)"),
    ({"add_districts": "some"}, r"add_districts must be names of districts, 'none', 'all' or 'recommended', not 'some' \(S-6\)"),
    ({"add_districts": ("Park", "Park")}, "add_districts names a district twice: Park, Park"),
    ({"add_districts": 3}, "add_districts must be a list of names, not 3"),
    ({"remove_districts": ("Moat",)}, "there is no district 'Moat' to remove; the districts are Manor, .*Throne Room"),
    ({"remove_districts": ("Keep", "Keep")}, "remove_districts names a district twice: Keep, Keep"),
    ({"remove_districts": "Keep"}, "remove_districts must be a list of names, not 'Keep'"),
    ({"smithy": (3,)}, r"smithy must be \(gold to pay, cards to draw\), each 0 to 9, not \(3,\) \(D24\)"),
    ({"smithy": (3, 10)}, r"not \(3, 10\) \(D24\)"),
    ({"smithy": (-1, 2)}, r"not \(-1, 2\) \(D24\)"),
    ({"smithy": ("3", 2)}, r"not \('3', 2\) \(D24\)"),
    ({"smithy": 3}, "smithy must be a list of numbers, not 3"),
    ({"ballroom_forget_probability": 1.5}, r"ballroom_forget_probability must be 0 to 1, not 1\.5 \(D23\)"),
    ({"ballroom_forget_probability": -0.1}, r"ballroom_forget_probability must be 0 to 1, not -0\.1 \(D23\)"),
    ({"ballroom_forget_probability": float("nan")}, r"ballroom_forget_probability must be 0 to 1, not nan \(D23\)"),
    ({"ballroom_forget_probability": "often"}, r"ballroom_forget_probability must be 0 to 1, not 'often' \(D23\)"),
    ({"retro_tax_roles": ("Thief",)}, r"retro_tax_roles may hold Assassin and Witch, not 'Thief' \(D16\)"),
    ({"retro_tax_roles": "Witch"}, "retro_tax_roles must be a list of names, not 'Witch'"),
    ({"city_size": 9}, r"city_size must be one of 6, 7, 8, not 9 \(D42\)"),
    ({"keep_copies": True}, r"keep_copies must be one of 1, 2, not True \(D51\)"),
    ({"duplicates_allowed": 1}, r"duplicates_allowed must be one of False, True, not 1 \(D2\)"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED, ids=[str(changes) for changes, _ in REFUSED])
def test_a_refusal_names_the_rule_and_the_value(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        GERMAN.with_(**changes)
    with pytest.raises(ValueError, match=said):
        Rules(**changes)


@pytest.mark.parametrize("name", CHOICES)
def test_every_option_with_a_list_of_values_refuses_others_and_takes_all_of_them(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be"):
        GERMAN.with_(**{name: "nonsense"})
    for value in CHOICES[name]:
        if name == "max_rounds" and value not in (1, 60, 9999):
            continue
        assert getattr(GERMAN.with_(**{name: value}), name) == value


def test_every_option_has_a_sentence_and_a_source() -> None:
    for f in OPTIONS.values():
        assert f.metadata["text"].endswith(".")
        assert f.metadata["source"] != ""


def test_a_deck_too_small_for_the_players_is_refused() -> None:
    coloured = tuple(row.name for row in DISTRICTS if row.colour != 4)
    with pytest.raises(ValueError, match=r"the deck holds 11 cards, too few for 4 players who receive 4 each \(B1\)"):
        GERMAN.with_(remove_districts=coloured)
    assert sum(GERMAN.with_(players=2, remove_districts=coloured).deck.values()) == 11


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no option 'player'; did you mean 'players'\? The options are players, roles, base_deck"):
        GERMAN.with_(player=5)
    with pytest.raises(ValueError, match="no option 'pleyers'"):
        Rules.from_json('{"pleyers": 5}')


# --- with_ -------------------------------------------------------------------------


def test_rules_are_values() -> None:
    assert GERMAN.with_() == GERMAN == Rules()
    assert GERMAN != FRENCH != AMERICAN
    assert EDITIONS == {"german": GERMAN, "french": FRENCH, "american": AMERICAN}
    changed = GERMAN.with_(city_size=7, quarry="any_duplicates")
    assert (changed.city_size, changed.quarry, GERMAN.city_size, GERMAN.quarry) == (7, "any_duplicates", 8, "discount")
    assert len({GERMAN, Rules(), changed, GERMAN.with_(quarry="any_duplicates", city_size=7)}) == 2
    with pytest.raises(FrozenInstanceError):
        GERMAN.players = 5  # type: ignore[misc]


def test_the_order_of_names_does_not_matter() -> None:
    shuffled = GERMAN.with_(roles=BASE_ROLES[::-1], add_districts=["Throne Room", "Park"], remove_districts=["Keep", "Tavern"])
    assert shuffled.roles == BASE_ROLES
    assert (shuffled.add_districts, shuffled.remove_districts) == (("Park", "Throne Room"), ("Tavern", "Keep"))
    assert GERMAN.with_(retro_tax_roles=["Witch", "Assassin"]) == GERMAN


def test_the_base_roles_follow_a_changed_number_of_players_but_chosen_roles_stay() -> None:
    assert GERMAN.with_(players=8).roles == default_roles(8) == (*BASE_ROLES, "Artist")
    assert GERMAN.with_(players=8).with_(players=5).roles == BASE_ROLES
    chosen = GERMAN.with_(roles=("Witch", *BASE_ROLES[1:]))
    assert chosen.with_(players=6).roles == chosen.roles
    assert GERMAN.with_(players=5, roles=()).roles == BASE_ROLES


def test_editions_differ_where_they_should() -> None:
    def differences(one: Rules, other: Rules) -> set[str]:
        return {name for name in OPTIONS if getattr(one, name) != getattr(other, name)}

    assert {"base_deck", "duplicates_allowed", "quarry", "emperor_tribute", "smithy", "tie_break"} <= differences(GERMAN, FRENCH)
    assert differences(FRENCH, AMERICAN) == {
        "base_deck", "great_wall_in_base", "remove_graveyard_with_diplomat", "quarry", "diplomat_timing",
        "diplomat_may_target_complete_city",
        "navigator_bonus_ends_turn", "alchemist_refund", "smithy", "factory_cost", "poor_house_cost", "merchant_bonus_timing",
        "architect_cards_timing", "tie_break",
    }  # fmt: skip


# --- text ---------------------------------------------------------------------------


def varied(seed: int) -> Rules:
    """Rules with every option drawn from its values."""
    draw = random.Random(seed)
    players = draw.randint(2, 8)
    number = 8 if players <= 3 else 9 if players == 8 else draw.choice((8, 9))
    roles = [draw.choice(ROLES[2 * k : 2 * k + 2]).name for k in range(number)]
    if players < 5:
        roles = ["Artist" if name == "Queen" else name for name in roles]
    if "Queen" in roles:
        roles[3] = "King"
    changes: dict[str, Any] = {name: draw.choice(list(values)) for name, values in CHOICES.items() if name != "players"}
    changes |= {
        "players": players,
        "roles": tuple(roles),
        "add_districts": tuple(draw.sample(NEW_DISTRICTS, draw.randint(0, 15))),
        "remove_districts": tuple(draw.sample([row.name for row in DISTRICTS[:17]], draw.randint(0, 3))),
        "districts_seed": draw.randint(0, 1000),
        "smithy": (draw.randint(0, 9), draw.randint(0, 9)),
        "ballroom_forget_probability": draw.random(),
        "retro_tax_roles": tuple(draw.sample(["Assassin", "Witch"], draw.randint(0, 2))),
    }
    return GERMAN.with_(**changes)


@pytest.mark.parametrize("seed", range(60))
def test_rules_survive_json_and_pickle(seed: int) -> None:
    rules = varied(seed)
    again = Rules.from_json(rules.to_json())
    assert again == rules
    assert again.deck == rules.deck
    assert set(json.loads(rules.to_json())) == set(OPTIONS)
    assert pickle.loads(pickle.dumps(rules)) == rules


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_a_game_starts_under_any_rules(seed: int) -> None:
    rules = varied(seed)
    g = Game(rules, seed=seed)
    while not g.over and (g.round_number < 4 or g.question == "KEEP"):
        g.play(g.legal()[0])
    placed = sum(len(g.hand(player)) + len(g.city(player)) + g.museum(player) for player in range(rules.players))
    assert g.deck_size + g.discard_size + placed == sum(rules.deck.values())


@pytest.mark.parametrize("edition", EDITIONS)
def test_editions_survive_json(edition: str) -> None:
    assert Rules.from_json(EDITIONS[edition].to_json()) == EDITIONS[edition]


def test_missing_fields_in_json_are_german() -> None:
    assert Rules.from_json("{}") == GERMAN
    assert Rules.from_json('{"players": 6, "add_districts": "all"}') == GERMAN.with_(players=6, add_districts="all")


@pytest.mark.parametrize(("text", "said"), [("[]", "a JSON object, not list"), ("{", "Expecting"), ('{"players": "x"}', "whole number")])
def test_bad_json_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rules.from_json(text)


@pytest.mark.parametrize("seed", range(5))
def test_describe_prints_every_option_with_its_value_and_the_deck(seed: int) -> None:
    rules = varied(seed)
    lines = rules.describe().splitlines()
    for name, f in OPTIONS.items():
        (line,) = [line for line in lines if line.split(" ")[0] == name]
        value = getattr(rules, name)
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        assert line.split(None, 1)[1].startswith(shown or "-")
        assert line.endswith(f"{f.metadata['text']} [{f.metadata['source']}]")
    (deck,) = [line for line in lines if line.startswith("deck (")]
    assert deck.startswith(f"deck ({sum(rules.deck.values())} cards): ")
    for name, copies in rules.deck.items():
        assert f"{copies} {name}" in deck


def test_describe_tells_what_was_left_out() -> None:
    rules = GERMAN.with_(roles=("Witch", *BASE_ROLES[1:7], "Diplomat"), add_districts=("Hospital", "Park"))
    assert rules.left_out == ("Graveyard", "Hospital")
    assert "left out: Graveyard, Hospital (S-6, S-7)" in rules.describe()
    assert "left out:" not in GERMAN.describe()


# --- costs and the recommended districts ------------------------------------------------


@pytest.mark.parametrize(
    ("option", "district"),
    [
        ("observatory_cost", "Observatory"),
        ("treasury_cost", "Imperial Treasury"),
        ("factory_cost", "Factory"),
        ("poor_house_cost", "Poor House"),
    ],
)
def test_costs_by_edition_move_the_points_with_them(option: str, district: str) -> None:
    for value in CHOICES[option]:
        rules = GERMAN.with_(**{option: value})
        assert (rules.cost(district), rules.points(district)) == (value, value)


def test_points_are_the_cost_but_for_two_districts() -> None:
    assert {
        row.name: GERMAN.points(row.name) - GERMAN.cost(row.name) for row in DISTRICTS if GERMAN.points(row.name) != GERMAN.cost(row.name)
    } == {
        "University": 2,
        "Dragon Gate": 2,
    }


def test_the_recommended_districts_are_two_or_three_in_the_order_of_the_cards() -> None:
    drawn = [recommended_districts(seed) for seed in range(100)]
    assert {len(names) for names in drawn} == {2, 3}
    assert all(list(names) == sorted(names, key=NEW_DISTRICTS.index) for names in drawn)
    assert drawn == [recommended_districts(seed) for seed in range(100)]
    assert GERMAN.with_(add_districts="recommended", districts_seed=4).add_districts == drawn[4]
