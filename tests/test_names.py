"""Names are read whatever their case, and what is nearly right is suggested: in Python and on the command line."""

import pytest

from citadels_env import GERMAN, Rules
from citadels_env.errors import RulesError
from citadels_env.names import canonical, hint, known_name

NAMES = ("Tax Collector", "Thief", "Witch")


def test_a_name_is_found_whatever_its_case_spaces_and_hyphens():
    for given in ("Tax Collector", "tax collector", "TAX-COLLECTOR", "tax_collector", "taxcollector"):
        assert canonical(given, NAMES) == known_name("role", given, NAMES) == "Tax Collector"
    for given in ("Tax", "", 3, None, ["Witch"]):
        assert canonical(given, NAMES) is None


def test_the_nearest_name_is_suggested_and_none_if_none_is_near():
    assert hint("wich", NAMES) == "; did you mean 'Witch'?"
    assert hint("Pope", NAMES) == hint(7, NAMES) == ""
    with pytest.raises(
        RulesError, match=r"^there is no role 'Theif'; did you mean 'Thief'\? The roles are Tax Collector, Thief, Witch \(S-1\)$"
    ):
        known_name("role", "Theif", NAMES, RulesError, "(S-1)")
    with pytest.raises(ValueError, match=r"^there is no role 7; the roles are Tax Collector, Thief, Witch$"):
        known_name("role", 7, NAMES)


def test_roles_districts_and_options_are_read_whatever_their_case():
    rules = GERMAN.with_(
        roles=["WITCH", "tax-collector", "wizard", "emperor", "abbot", "ALCHEMIST", "navigator", "diplomat", "artist"],
        add_districts=["bell tower", "throneroom", "museum"],
        remove_districts=("keep",),
        retro_tax_roles=["witch"],
        quarry="Discount",
        City_Size=7,
    )
    assert rules.roles == ("Witch", "Tax Collector", "Wizard", "Emperor", "Abbot", "Alchemist", "Navigator", "Diplomat", "Artist")
    assert set(rules.add_districts) == {"Bell Tower", "Museum", "Throne Room"}
    assert (rules.remove_districts, rules.retro_tax_roles, rules.quarry, rules.city_size) == (("Keep",), ("Witch",), "discount", 7)
    assert GERMAN.with_(add_districts="All") == GERMAN.with_(add_districts="all")
    assert Rules.from_json(rules.to_json().replace("Witch", "witch")) == rules


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"roles": ["Assasin"]}, "there is no role 'Assasin'; did you mean 'Assassin'\\? The roles are Assassin, Witch"),
        ({"add_districts": ["Musem"]}, "'Musem' is none of the new districts .*did you mean 'Museum'"),
        ({"remove_districts": ["Kep"]}, "no district 'Kep' to remove.*did you mean 'Keep'"),
        ({"citysize": 7, "city_size": 7}, "the option city_size is given twice"),
        ({"roles": [["Palace"]]}, "roles must be a list of names, but it holds \\['Palace'\\]"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(change, message):
    with pytest.raises(ValueError, match=message):
        GERMAN.with_(**change)
