"""What is played, from plain data: the table `[games]` of a training file."""

import warnings
from collections import Counter

import numpy as np
import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, observation

# neither ray nor torch is needed
from citadels_experiments.learning.games import Games


def test_without_entries_it_is_four_players_with_the_base_roles_against_itself():
    games = Games.from_config({})
    assert games.rules == (GERMAN,)
    assert (games.rules_shares, games.opponents, games.rewards, games.compact, games.stagger) == ((), "self", "win", True, 200)
    assert games.players == games.rows == 4


def test_rules_are_the_product_of_editions_players_roles_and_districts():
    games = Games.from_config({"editions": ["german", "french"], "players": [3, 5], "districts": ["none", "all"]})
    editions = {"german": GERMAN, "french": FRENCH}
    expected = [editions[e].with_(players=n, add_districts=d) for e in editions for n in (3, 5) for d in ("none", "all")]
    assert list(games.rules) == expected and len(set(expected)) == 8
    assert not games.compact
    assert (games.players, games.rows) == (5, 8)


@pytest.mark.parametrize(
    ("given", "districts"),
    [
        ("none", [()]),
        ("all", [GERMAN.with_(add_districts="all").add_districts]),
        ("recommended", [GERMAN.with_(add_districts="recommended").add_districts]),
        ("Park", [("Park",)]),
        (["Park", "Museum"], [("Park", "Museum")]),
        ([["Park"], ["Museum", "Park"]], [("Park",), ("Museum", "Park")]),
        (["none", ["Museum"]], [(), ("Museum",)]),
    ],
)
def test_districts_are_a_choice_by_name_one_list_of_names_or_several(given, districts):
    games = Games.from_config({"districts": given})
    assert [set(rules.add_districts) for rules in games.rules] == [set(names) for names in districts]


NINE = ("Witch", "Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord", "Artist")


def test_roles_are_one_list_several_lists_or_every_set_there_is():
    one = Games.from_config({"roles": list(NINE)})
    assert [set(rules.roles) for rules in one.rules] == [set(NINE)]
    two = Games.from_config({"roles": [list(NINE), list(NINE[:8])]})
    assert [len(rules.roles) for rules in two.rules] == [9, 8]
    every = Games.from_config({"roles": "all", "players": [2, 8]})
    # two or three roles of each of eight ranks with two players, and Artist or Queen with eight
    counts = Counter(rules.players for rules in every.rules)
    assert counts[2] >= 2**8 and counts[8] > counts[2]
    assert len(set(every.rules)) == len(every.rules)
    assert {len(rules.roles) for rules in every.rules if rules.players == 8} == {9}


def test_every_role_set_may_be_asked_for_without_a_warning_and_one_that_is_advised_against_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Games.from_config({"roles": "all", "players": 6})
    queen = ["Assassin", "Thief", "Magician", "Emperor", "Bishop", "Merchant", "Architect", "Warlord", "Queen"]
    with pytest.warns(UserWarning, match="Emperor and Queen"):
        Games.from_config({"roles": queen, "players": 6})


def test_rules_may_be_listed_one_by_one_with_the_options_of_an_edition():
    listed = [{"players": 2, "max_rounds": 3}, {"edition": "american", "players": 7, "smithy": [2, 3]}, AMERICAN]
    games = Games.from_config({"rules": listed, "rules_shares": [1, 0, 3]})
    assert games.rules == (GERMAN.with_(players=2, max_rounds=3), AMERICAN.with_(players=7, smithy=(2, 3)), AMERICAN)
    assert games.rules_shares == (1, 0, 3)
    drawn = games.batch(400, 1).games["rules"]
    assert set(drawn) == {0, 2} and 0.15 < np.mean(drawn == 0) < 0.35
    assert Games.from_config({"rules": {"players": 3}}).rules == (GERMAN.with_(players=3),)


@pytest.mark.parametrize("opponents", ["random", ["heuristic", "random", "self"], {"self": 1, "random": 3.0}])
def test_a_batch_has_the_games_opponents_and_rewards_that_were_asked_for(opponents):
    games = Games.from_config({"opponents": opponents, "rewards": "score"})
    batch = games.batch(60, 3)
    assert batch.num_games == 60 and batch.rules == (GERMAN,)
    assert batch.observation_size == observation.size(4)
    own = np.arange(60), batch.games["own"]
    assert (batch.games["seating"][own] == -1).all()
    others = {int(code) for i in range(60) for seat, code in enumerate(batch.games["seating"][i, :4]) if seat != batch.games["own"][i]}
    names = {"self" if code < 0 else batch.agents[code].name for code in others}
    assert names == ({opponents} if isinstance(opponents, str) else set(opponents))


def test_a_batch_may_differ_from_what_was_asked_for():
    batch = Games.from_config({"opponents": "random"}).batch(3, opponents="expert", own_seat=2, auto_reset=False, compact=False)
    assert [agent.name for agent in batch.agents] == ["expert"]
    assert (batch.games["own"] == 2).all()
    assert batch.observation_size == observation.size()


def test_reading_changes_nothing_and_what_was_read_does_not_change_with_it():
    config = {"rules": [{"players": 3, "roles": []}], "opponents": {"self": 1, "random": 2}}
    games = Games.from_config(config)
    assert config == {"rules": [{"players": 3, "roles": []}], "opponents": {"self": 1, "random": 2}}
    config["opponents"]["random"] = 0
    assert games.opponents == {"self": 1, "random": 2}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"player": 4}, "there is no player; there are editions, players"),
        ({5: 4}, "there is no 5"),
        ({"players": 9}, "players must be 2 to 8, not 9"),
        ({"players": "four"}, "players must be a whole number, not 'four'"),
        ({"players": True}, "players must be a whole number, not True"),
        ({"players": []}, "a list is empty"),
        ({"rules": []}, "a list is empty"),
        ({"editions": []}, "a list is empty"),
        ({"districts": []}, "a list is empty"),
        ({"roles": []}, "a list is empty"),
        ({"editions": "danish"}, "the editions are german, french, american, not 'danish'"),
        ({"editions": [["german"]]}, "the editions are .*, not \\['german'\\]"),
        ({"roles": "none"}, "roles is base, all, .*, not 'none'"),
        ({"roles": 8}, "roles is base, all, .*, not 8"),
        ({"roles": ["King"]}, "ranks 1 to 8"),
        ({"roles": ["base", "all"]}, "no role 'base'"),
        ({"roles": ["King", ["Witch"]]}, "Witch"),
        ({"roles": [3]}, "roles must be a list of names, not 3"),
        ({"roles": list(NINE), "players": 2}, "2 players use eight roles"),
        ({"districts": "some"}, "'some' is none of the new districts"),
        ({"districts": 3}, "add_districts must be a list of names, not 3"),
        ({"rules": "german"}, "an entry of rules is a table of options, not 'german'"),
        ({"rules": 4}, "an entry of rules is a table of options, not 4"),
        ({"rules": [{"edition": "danish"}]}, "not 'danish'"),
        ({"rules": [{"edition": ["german"]}]}, "not \\['german'\\]"),
        ({"rules": [{"colour": 1}]}, "no option 'colour'"),
        ({"rules": [{"players": 4}], "players": 4, "districts": "all"}, "leave out districts, players"),
        ({"rules_shares": [1, 2]}, "rules_shares must be 1 shares, .* not \\[1, 2\\]"),
        ({"rules_shares": [0]}, "rules_shares must be 1 shares"),
        ({"players": [3, 4], "rules_shares": [1, -1]}, "none of them negative"),
        ({"players": [3, 4], "rules_shares": [1, float("nan")]}, "none of them negative"),
        ({"players": [3, 4], "rules_shares": ["a", "b"]}, "none of them negative"),
        ({"players": [3, 4], "rules_shares": 1}, "rules_shares must be 2 shares"),
        ({"rewards": "money"}, "rewards is one of win, score, rank, not 'money'"),
        ({"rewards": {"win": 1}}, "rewards is one of"),
        ({"opponents": 3}, "opponents is a name, a list of names or a table .*, not 3"),
        ({"opponents": []}, "opponents is a name"),
        ({"opponents": {}}, "opponents is a name"),
        ({"opponents": ["self", 3, "self"]}, "opponents is a name"),
        ({"opponents": {"self": "much"}}, "shares of opponents are numbers, .*'much'"),
        ({"opponents": {"self": -1}}, "shares of opponents"),
        ({"opponents": {"self": 0}}, "shares of opponents"),
        ({"compact": "no"}, "compact is true or false, not 'no'"),
        ({"compact": True, "players": [3, 4]}, "same number of players"),
        ({"stagger": -1}, "stagger .*, not -1"),
        ({"stagger": True}, "stagger"),
        ({"stagger": 2.5}, "stagger"),
    ],
)
def test_impossible_games_are_refused_naming_the_value(config, message):
    with pytest.raises(ValueError, match=message):
        Games.from_config(config)


@pytest.mark.parametrize(
    ("opponents", "message"),
    [("nobody", "no agent 'nobody'"), (["random"], "4 players need 3 opponents, not 1"), ("past", "no agent 'past'")],
)
def test_unknown_and_too_few_opponents_are_found_by_the_batch(opponents, message):
    with pytest.raises(ValueError, match=message):
        Games.from_config({"opponents": opponents}).batch(1)
