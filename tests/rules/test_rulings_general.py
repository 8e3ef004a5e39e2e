"""Rulings R1 to R30: the turn, the base roles, and the base districts."""

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN, Game, Rules
from role_helpers import askers, draw, editions, every_edition, player, with_roles
from rules_helpers import at, finish, play, reach, texts

EIGHT = ("Temple", "Church", "Monastery", "Tavern", "Market", "Trading Post", "Docks", "Watchtower")


# --- powers and the moment of income ------------------------------------------------------


@pytest.mark.rule("R1")
@every_edition
def test_no_role_has_to_use_its_power(rules: Rules) -> None:
    g = at(
        rules,
        crown=0,
        players=[player("Assassin", city=("Tavern",)), player("Thief"), player("Magician", hand=("Temple",)), player("Warlord")],
    )
    for role, power in (("Assassin", "name "), ("Thief", "name "), ("Magician", "swap hands "), ("Warlord", "destroy ")):
        reach(g, role)
        g.play("take gold")
        assert texts(g, power)
        assert "end turn" in g.legal()
        g.play("end turn")
    assert g.gold == (2, 2, 2, 2)
    assert g.city(0) == ["Tavern"]
    assert g.hand(2) == ["Temple"]
    assert g.question == "DRAFT"


@pytest.mark.rule("R2")
@every_edition
def test_the_witch_has_to_name_and_the_navigator_can_never_build(rules: Rules) -> None:
    rules = with_roles(rules, "Witch", "Navigator")
    g = at(rules, crown=0, players=[player("Witch"), player("Navigator", gold=5, hand=("Temple",)), player("King"), player("Bishop")])
    g.play("take gold")
    assert g.question == "NAME"
    assert all(text.startswith("name ") for text in g.legal())
    g.play("name Thief")
    reach(g, "Navigator")
    g.play("take gold")
    assert texts(g, "build") == []
    assert "take 4 gold" in g.legal()
    assert "end turn" in g.legal()


@pytest.mark.rule("R3")
@every_edition
def test_income_is_taken_once_and_not_partly_before_and_partly_after_building(rules: Rules) -> None:
    players = [player("King", gold=4, city=("Manor",), hand=("Castle",)), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, called=3, players=players)
    play(g, "income")
    assert g.gold[0] == 5
    play(g, "take gold", "build Castle")
    assert g.city(0) == ["Manor", "Castle"]
    assert "income" not in g.legal()
    assert g.gold[0] == 3


@pytest.mark.rule("R4")
@every_edition
def test_a_district_built_before_the_income_is_taken_pays_too(rules: Rules) -> None:
    players = [player("King", gold=4, city=("Manor",), hand=("Castle",)), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(rules, crown=1, called=3, players=players)
    play(g, "take gold", "build Castle", "income")
    assert g.gold[0] == 4 + 2 - 4 + 2


@pytest.mark.rule("R5")
def test_german_merchant_takes_his_gold_and_his_income_at_different_moments() -> None:
    g = at(GERMAN, called=5, players=[player("Merchant", city=("Tavern", "Market")), player("Thief"), player("Bishop"), player("King")])
    play(g, "income")
    assert g.gold[0] == 2
    assert "use power" in g.legal()
    play(g, "take gold", "use power")
    assert g.gold[0] == 5
    assert "use power" not in g.legal()


@pytest.mark.rule("R5")
def test_french_merchant_has_his_gold_at_the_start_and_his_income_later() -> None:
    g = at(FRENCH, called=5, players=[player("Merchant", city=("Tavern", "Market")), player("Thief"), player("Bishop"), player("King")])
    assert g.gold[0] == 1
    assert "use power" not in g.legal()
    play(g, "take gold")
    assert g.gold[0] == 3
    play(g, "income")
    assert g.gold[0] == 5


@pytest.mark.rule("R5")
@pytest.mark.parametrize(("action", "gold"), [("take gold", 3), ("draw cards", 1)])
def test_american_merchant_has_his_gold_after_either_action_and_his_income_before_it(action: str, gold: int) -> None:
    players = [player("Merchant", city=("Tavern", "Market")), player("Thief"), player("Bishop"), player("King")]
    g = at(AMERICAN, called=5, deck_top=["Manor", "Temple"], players=players)
    assert g.gold[0] == 0
    assert "use power" not in g.legal()
    play(g, "income")
    assert g.gold[0] == 2
    play(g, "take gold") if action == "take gold" else draw(g)
    assert g.gold[0] == 2 + gold
    assert "use power" not in g.legal()
    assert "income" not in g.legal()


@pytest.mark.rule("R6")
def test_german_merchant_uses_power_and_income_before_his_action() -> None:
    players = [player("Merchant", city=("Tavern", "Market"), hand=("Docks",)), player("Thief"), player("Bishop"), player("King")]
    g = at(GERMAN, called=5, deck_top=["Temple", "Manor"], players=players)
    play(g, "use power", "income")
    assert g.gold[0] == 3
    play(g, "draw cards", "keep Temple", "build Docks")
    assert g.gold[0] == 0
    assert g.city(0) == ["Tavern", "Market", "Docks"]
    assert g.hand(0) == ["Temple"]


# --- Thief, Magician, King ------------------------------------------------------------------


@pytest.mark.rule("R7")
@every_edition
def test_the_thiefs_victim_keeps_what_it_earns_after_the_robbery(rules: Rules) -> None:
    players = [player("Thief", gold=1), player("King", gold=5, city=("Manor", "Castle")), player("Bishop"), player("Warlord")]
    g = at(rules, called=3, robbed="King", players=players)
    assert (g.actor, g.gold[0], g.gold[1]) == (1, 6, 0)
    play(g, "income", "take gold", "end turn")
    assert (g.gold[0], g.gold[1]) == (6, 4)
    finish(g)
    assert (g.gold[0], g.gold[1]) == (6, 4)


@pytest.mark.rule("R8")
@every_edition
def test_the_thiefs_victim_shows_itself_when_it_is_called_and_not_before(rules: Rules) -> None:
    g = at(rules, called=1, players=[player("Thief"), player("King", gold=5), player("Bishop"), player("Warlord")])
    play(g, "name King", "take gold")
    assert g.gold == (2, 5, 0, 0)
    assert g.revealed(1) == []
    g.play("end turn")
    assert g.turn_role == "King"
    assert g.revealed(1) == ["King"]
    assert g.gold == (7, 0, 0, 0)


@pytest.mark.rule("R9")
@every_edition
def test_the_thief_may_not_name_the_assassin_nor_the_murdered_role(rules: Rules) -> None:
    g = at(rules, called=1, murdered="King", players=[player("Assassin"), player("Thief"), player("King"), player("Bishop")])
    expected = {"name Magician", "name Bishop", "name Merchant", "name Architect", "name Warlord"}
    assert set(texts(g, "name")) == expected
    with pytest.raises(ValueError, match="King"):
        g.play("name King")
    with pytest.raises(ValueError, match="Assassin"):
        g.play("name Assassin")


@pytest.mark.rule("R10")
@every_edition
def test_the_thief_may_not_name_the_witch_nor_the_bewitched_role(rules: Rules) -> None:
    rules = with_roles(rules, "Witch")
    g = at(rules, called=1, bewitched="King", players=[player("Witch"), player("Thief"), player("King"), player("Bishop")])
    assert set(texts(g, "name")) == {"name Magician", "name Bishop", "name Merchant", "name Architect", "name Warlord"}
    with pytest.raises(ValueError, match="King"):
        g.play("name King")
    with pytest.raises(ValueError, match="Witch"):
        g.play("name Witch")


@pytest.mark.rule("R11")
@every_edition
def test_the_magician_swaps_his_empty_hand(rules: Rules) -> None:
    players = [player("Magician"), player("King", hand=("Manor", "Castle", "Temple")), player("Bishop"), player("Warlord")]
    g = at(rules, called=2, players=players)
    play(g, "swap hands with player 1")
    assert sorted(g.hand(0)) == ["Castle", "Manor", "Temple"]
    assert g.hand(1) == []


@pytest.mark.rule("R12")
@every_edition
def test_the_magician_swaps_after_building_his_last_card(rules: Rules) -> None:
    players = [player("Magician", hand=("Temple",)), player("King", hand=("Manor", "Castle")), player("Bishop"), player("Warlord")]
    g = at(rules, called=2, players=players)
    play(g, "take gold", "build Temple", "swap hands with player 1")
    assert g.city(0) == ["Temple"]
    assert sorted(g.hand(0)) == ["Castle", "Manor"]
    assert g.hand(1) == []


@pytest.mark.rule("R13")
@every_edition
def test_a_murdered_king_loses_his_turn_and_inherits_the_crown_at_the_end_of_the_round(rules: Rules) -> None:
    players = [player("Assassin"), player("Bishop"), player("King", gold=3, city=("Manor",)), player("Warlord")]
    g = at(rules, crown=0, called=3, murdered="King", players=players)
    assert g.turn_role == "Bishop"
    reach(g, "Warlord")
    assert g.crown == 0
    assert askers(g) == [3, 3]
    assert g.gold[2] == 3
    assert g.crown == 2
    assert (g.question, g.actor) == ("DRAFT", 2)


@pytest.mark.rule("R14")
@every_edition
def test_the_crown_stays_where_it_is_if_nobody_is_king(rules: Rules) -> None:
    g = at(rules, crown=1, called=2, players=[player("Assassin"), player("Bishop"), player("Merchant"), player("Warlord")])
    finish(g)
    assert g.crown == 1
    assert (g.question, g.actor) == ("DRAFT", 1)


# --- Warlord ------------------------------------------------------------------------------


@pytest.mark.rule("R15")
@every_edition
def test_the_warlord_may_destroy_in_the_city_of_a_murdered_bishop(rules: Rules) -> None:
    players = [player("Warlord", gold=5), player("Bishop", city=("Temple", "Manor")), player("Assassin"), player("King")]
    g = at(rules, called=7, murdered="Bishop", players=players)
    g.play("take gold")
    assert set(texts(g, "destroy")) == {"destroy Temple of player 1", "destroy Manor of player 1"}
    g.play("destroy Manor of player 1")
    assert g.gold[0] == 5
    assert g.city(1) == ["Temple"]


@pytest.mark.rule("R15")
@every_edition
def test_the_warlord_may_not_destroy_in_the_city_of_a_living_bishop(rules: Rules) -> None:
    players = [player("Warlord", gold=5), player("Bishop", city=("Temple", "Manor")), player("Assassin"), player("King", city=("Manor",))]
    g = at(rules, called=7, players=players)
    g.play("take gold")
    assert texts(g, "destroy") == ["destroy Manor of player 3"]


@pytest.mark.rule("R16")
@every_edition
def test_the_warlord_may_destroy_in_the_city_of_any_other_murdered_player(rules: Rules) -> None:
    players = [player("Warlord", gold=5), player("Merchant", city=("Tavern",)), player("Assassin"), player("King")]
    g = at(rules, called=7, murdered="Merchant", players=players)
    play(g, "take gold", "destroy Tavern of player 1")
    assert g.city(1) == []
    assert g.gold[0] == 7


@pytest.mark.rule("R17")
def test_german_warlord_may_not_destroy_his_own_districts() -> None:
    players = [player("Warlord", gold=5, city=("Temple",)), player("King", city=("Tavern",)), player("Assassin"), player("Thief")]
    g = at(GERMAN, called=7, players=players)
    assert texts(g, "destroy") == ["destroy Tavern of player 1"]
    g.play("take gold")
    assert texts(g, "destroy") == ["destroy Tavern of player 1"]


@pytest.mark.rule("R17")
@editions("french", "american")
def test_french_and_american_warlord_may_destroy_his_own_districts(rules: Rules) -> None:
    players = [player("Warlord", gold=5, city=("Manor", "Keep")), player("King", city=("Tavern",)), player("Assassin"), player("Thief")]
    g = at(rules, called=7, players=players)
    g.play("take gold")
    assert set(texts(g, "destroy")) == {"destroy Manor of player 0", "destroy Tavern of player 1"}
    g.play("destroy Manor of player 0")
    assert g.city(0) == ["Keep"]
    assert g.gold[0] == 5


@pytest.mark.rule("R18")
@every_edition
def test_the_warlord_may_not_destroy_in_a_complete_city(rules: Rules) -> None:
    players = [player("Warlord", gold=20), player("King", city=EIGHT), player("Assassin", city=("Temple",)), player("Thief")]
    g = at(rules, called=7, players=players)
    g.play("take gold")
    assert texts(g, "destroy") == ["destroy Temple of player 2"]


@pytest.mark.rule("R18")
@editions("french", "american")
def test_the_warlord_may_not_destroy_in_his_own_complete_city(rules: Rules) -> None:
    players = [player("Warlord", gold=20, city=EIGHT), player("King"), player("Assassin", city=("Temple",)), player("Thief")]
    g = at(rules, called=7, players=players)
    g.play("take gold")
    assert texts(g, "destroy") == ["destroy Temple of player 2"]


@pytest.mark.rule("R19")
@every_edition
@pytest.mark.parametrize("district", ["University", "Dragon Gate"])
def test_destroying_university_or_dragon_gate_costs_5(rules: Rules, district: str) -> None:
    def position(gold: int) -> Game:
        players = [player("Warlord", gold=gold), player("King", city=(district,)), player("Assassin"), player("Thief")]
        return draw(at(rules, called=7, players=players))

    assert texts(position(4), "destroy") == []
    g = position(5)
    g.play(f"destroy {district} of player 1")
    assert g.gold[0] == 0
    assert g.city(1) == []


@pytest.mark.rule("R20")
@every_edition
def test_the_warlord_cannot_destroy_the_keep(rules: Rules) -> None:
    players = [player("Warlord", gold=20), player("King", city=("Keep", "Watchtower")), player("Assassin", city=("Keep",)), player("Thief")]
    g = at(rules, called=7, players=players)
    g.play("take gold")
    assert texts(g, "destroy") == ["destroy Watchtower of player 1"]


def behind_the_wall(rules: Rules, gold: int) -> Game:
    """A Warlord with `gold`, his action taken, before a city with the Great Wall."""
    if rules.base_deck != "american":
        rules = rules.with_(add_districts=("Great Wall",))
    players = [player("Warlord", gold=gold), player("King", city=("Temple", "Manor", "Great Wall")), player("Assassin"), player("Thief")]
    return draw(at(rules, called=7, players=players))


@pytest.mark.rule("R21")
@every_edition
def test_the_great_wall_makes_every_other_district_of_the_city_1_dearer_to_destroy(rules: Rules) -> None:
    assert texts(behind_the_wall(rules, 0), "destroy") == []
    assert texts(behind_the_wall(rules, 1), "destroy") == ["destroy Temple of player 1"]
    assert texts(behind_the_wall(rules, 2), "destroy") == ["destroy Temple of player 1"]
    g = behind_the_wall(rules, 3)
    assert set(texts(g, "destroy")) == {"destroy Temple of player 1", "destroy Manor of player 1"}
    g.play("destroy Manor of player 1")
    assert g.gold[0] == 0
    g = behind_the_wall(rules, 3)
    g.play("destroy Temple of player 1")
    assert g.gold[0] == 2


@pytest.mark.rule("R21")
@pytest.mark.parametrize(("rules", "price"), [(GERMAN, 6), (FRENCH, 5), (AMERICAN, 5)], ids=["german", "french", "american"])
def test_the_great_wall_protects_itself_in_the_german_edition_only(rules: Rules, price: int) -> None:
    assert "destroy Great Wall of player 1" not in behind_the_wall(rules, price - 1).legal()
    g = behind_the_wall(rules, price)
    g.play("destroy Great Wall of player 1")
    assert g.gold[0] == 0


@pytest.mark.rule("R21", "X-20")
@editions("german", "french")
@pytest.mark.parametrize(("wall", "price"), [(False, 0), (True, 1)])
def test_a_district_of_cost_0_is_destroyed_for_nothing_and_for_1_behind_the_great_wall(rules: Rules, wall: bool, price: int) -> None:
    rules = rules.with_(add_districts=("Great Wall", "Poor House"))
    city = ("Poor House", "Great Wall") if wall else ("Poor House",)
    players = [player("Warlord", gold=1), player("King", city=city), player("Assassin"), player("Thief")]
    g = draw(at(rules, called=7, players=players))
    g.play("destroy Poor House of player 1")
    assert g.gold[0] == 1 - price


@pytest.mark.rule("R22")
@every_edition
def test_a_district_made_cheaper_by_the_factory_costs_the_warlord_its_printed_cost_less_1(rules: Rules) -> None:
    rules = rules.with_(add_districts=("Factory",))

    def position(gold: int) -> Game:
        players = [player("Warlord", gold=gold), player("King", city=("Library", "Factory")), player("Assassin"), player("Thief")]
        return draw(at(rules, called=7, players=players))

    assert "destroy Library of player 1" not in position(4).legal()
    g = position(5)
    g.play("destroy Library of player 1")
    assert g.gold[0] == 0


@pytest.mark.rule("R22")
def test_a_copy_made_cheaper_by_the_quarry_costs_the_warlord_its_printed_cost_less_1() -> None:
    rules = GERMAN.with_(add_districts=("Quarry",))

    def position(gold: int) -> Game:
        players = [player("Warlord", gold=gold), player("King", city=("Palace", "Palace", "Quarry")), player("Assassin"), player("Thief")]
        return at(rules, called=7, players=players)

    assert texts(position(3), "destroy") == []
    g = position(4)
    g.play("destroy Palace of player 1")
    assert g.gold[0] == 0
    assert g.city(1) == ["Palace", "Quarry"]


# --- Graveyard ----------------------------------------------------------------------------


@pytest.mark.rule("R23")
@every_edition
def test_a_destroyed_graveyard_cannot_rescue_itself(rules: Rules) -> None:
    players = [player("Warlord", gold=4), player("King", gold=3, city=("Graveyard", "Tavern")), player("Assassin"), player("Thief")]
    g = draw(at(rules, called=7, players=players))
    g.play("destroy Graveyard of player 1")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert g.city(1) == ["Tavern"]
    assert g.gold[:2] == (0, 3)
    assert g.hand(1) == []


@pytest.mark.rule("R24")
@every_edition
def test_the_warlord_cannot_rescue_with_his_own_graveyard_what_he_destroys(rules: Rules) -> None:
    players = [player("Warlord", gold=4, city=("Graveyard",)), player("King", city=("Tavern",)), player("Assassin"), player("Thief")]
    g = draw(at(rules, called=7, deck_top=["Manor", "Castle"], players=players))
    g.play("destroy Tavern of player 1")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert g.hand(0) in (["Manor"], ["Castle"])
    assert g.gold[0] == 4


@pytest.mark.rule("R25")
@every_edition
@pytest.mark.parametrize("victim", [1, 2])
def test_the_graveyard_rescues_any_district_that_the_warlord_destroys(rules: Rules, victim: int) -> None:
    cities = {1: ("Graveyard",), 2: ()} | {victim: ("Manor", "Graveyard") if victim == 1 else ("Manor",)}
    players = [
        player("Warlord", gold=2),
        player("King", gold=1, city=cities[1]),
        player("Assassin", city=cities[2]),
        player("Thief"),
    ]
    g = draw(at(rules, called=7, players=players))
    g.play(f"destroy Manor of player {victim}")
    assert (g.question, g.actor) == ("GRAVEYARD", 1)
    assert set(g.legal()) == {"yes", "no"}

    declined = g.clone()
    declined.play("no")
    assert declined.gold[1] == 1
    assert declined.hand(1) == []

    g.play("yes")
    assert g.gold[1] == 0
    assert g.hand(1) == ["Manor"]
    assert "Manor" not in g.city(victim)
    assert (g.question, g.actor) == ("PLAY", 0)


@pytest.mark.rule("R25")
@every_edition
def test_the_graveyard_cannot_rescue_without_1_gold(rules: Rules) -> None:
    players = [player("Warlord", gold=2), player("King", city=("Graveyard",)), player("Assassin", city=("Manor",)), player("Thief")]
    g = draw(at(rules, called=7, players=players))
    g.play("destroy Manor of player 2")
    assert (g.question, g.actor) == ("PLAY", 0)
    assert g.hand(1) == []


# --- districts ----------------------------------------------------------------------------


@pytest.mark.rule("R26")
@every_edition
def test_library_and_observatory_do_not_touch_the_architects_two_cards(rules: Rules) -> None:
    players = [player("Architect", city=("Observatory", "Library")), player("King"), player("Bishop"), player("Thief")]
    g = at(rules, called=6, deck_top=["Temple", "Tavern", "Manor", "Market", "Docks"], players=players)
    if "use power" in g.legal():
        deck = g.deck_size
        g.play("use power")
        assert g.deck_size == deck - 2
    g.play("take gold")
    assert g.question == "PLAY"
    assert sorted(g.hand(0)) == ["Tavern", "Temple"]
    assert "use power" not in g.legal()


@pytest.mark.rule("R27")
def test_german_cities_may_hold_identical_districts() -> None:
    players = [
        player("King", gold=5, city=("Temple", "Keep"), hand=("Temple", "Keep")),
        player("Thief"),
        player("Bishop"),
        player("Warlord"),
    ]
    g = at(GERMAN, called=3, players=players)
    g.play("take gold")
    assert set(texts(g, "build")) == {"build Temple", "build Keep"}
    g.play("build Temple")
    assert g.city(0) == ["Temple", "Temple", "Keep"]


@pytest.mark.rule("R27")
@editions("french", "american")
def test_french_and_american_cities_may_not_hold_identical_districts(rules: Rules) -> None:
    hand = ("Temple", "Keep", "Manor")
    players = [player("King", gold=5, city=("Temple", "Keep"), hand=hand), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(rules, called=3, players=players)
    g.play("take gold")
    assert texts(g, "build") == ["build Manor"]


@pytest.mark.rule("R27")
@every_edition
def test_identical_districts_may_stand_in_different_cities(rules: Rules) -> None:
    players = [player("King", hand=("Temple",)), player("Thief", city=("Temple",)), player("Bishop"), player("Warlord")]
    g = at(rules, called=3, players=players)
    play(g, "take gold", "build Temple")
    assert g.city(0) == ["Temple"]
    assert g.city(1) == ["Temple"]


@pytest.mark.rule("R28")
@every_edition
def test_a_city_may_grow_beyond_8_districts(rules: Rules) -> None:
    players = [player("Architect", gold=10, city=EIGHT[:7], hand=("Manor", "Castle")), player("King"), player("Bishop"), player("Thief")]
    g = at(rules, called=6, players=players)
    play(g, "take gold", "build Manor", "build Castle")
    assert len(g.city(0)) == 9
    assert not g.over


@pytest.mark.rule("R29")
@every_edition
@pytest.mark.parametrize(("role", "called"), [("King", 3), ("Bishop", 4), ("Merchant", 5), ("Warlord", 7)])
def test_the_school_of_magic_counts_for_the_income_of_every_colour(rules: Rules, role: str, called: int) -> None:
    g = at(rules, called=called, players=[player(role, city=("School of Magic",)), player("Thief"), player("Assassin"), player("Magician")])
    before = g.gold[0]
    g.play("income")
    assert g.gold[0] == before + 1


@pytest.mark.rule("R29")
@every_edition
def test_the_school_of_magic_pays_nothing_to_a_role_without_colour(rules: Rules) -> None:
    g = at(
        rules, called=6, players=[player("Architect", city=("School of Magic",)), player("Thief"), player("Assassin"), player("Magician")]
    )
    assert "income" not in g.legal()


@pytest.mark.rule("R29")
@every_edition
def test_the_school_of_magic_is_purple_in_the_bonus_for_five_colours(rules: Rules) -> None:
    players = [
        player("King", city=("Temple", "Tavern", "Watchtower", "Keep", "School of Magic")),
        player("Thief", city=("Manor", "Temple", "Tavern", "Watchtower", "Library")),
        player("Bishop"),
        player("Warlord"),
    ]
    g = at(rules, called=3, players=players)
    assert g.scores()[0] == 1 + 1 + 1 + 3 + 6
    assert g.scores()[1] == 3 + 1 + 1 + 1 + 6 + 3


@pytest.mark.rule("R30")
@every_edition
def test_with_observatory_and_library_three_cards_are_drawn_and_two_kept(rules: Rules) -> None:
    players = [player("King", city=("Observatory", "Library")), player("Thief"), player("Bishop"), player("Warlord")]
    g = at(rules, called=3, deck_top=["Temple", "Manor", "Docks"], players=players)
    deck, discard = g.deck_size, g.discard_size
    g.play("draw cards")
    assert set(g.legal()) == {"keep Temple", "keep Manor", "keep Docks"}
    g.play("keep Docks")
    assert set(g.legal()) == {"keep Temple", "keep Manor"}
    g.play("keep Temple")
    assert g.question == "PLAY"
    assert sorted(g.hand(0)) == ["Docks", "Temple"]
    if rules.discard_to == "discard_pile":
        assert (g.deck_size, g.discard_size) == (deck - 3, discard + 1)
    else:
        assert (g.deck_size, g.discard_size) == (deck - 2, discard)
