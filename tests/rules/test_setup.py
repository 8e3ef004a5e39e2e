"""Setup: roles, decks, what everybody begins with, and the draft for every number of players."""

import warnings
from collections import Counter

import pytest

from citadels_env import AMERICAN, EDITIONS, FRENCH, GERMAN, Game, Rules
from citadels_env.cards import BASE_UNIQUES, DISTRICTS, NEW_DISTRICTS, ROLES
from rules_helpers import at, finish, play, seat, texts, using

COLOURS = ("noble", "religious", "trade", "military", "unique")
NINE = (
    ("Assassin", "Witch"), ("Thief", "Tax Collector"), ("Magician", "Wizard"), ("King", "Emperor"), ("Bishop", "Abbot"),
    ("Merchant", "Alchemist"), ("Architect", "Navigator"), ("Warlord", "Diplomat"), ("Artist", "Queen"),
)  # fmt: skip


def lighthouse(rules: Rules) -> Game:
    """The King has just built a Lighthouse; hands and cities are otherwise empty."""
    rules = rules.with_(add_districts=tuple({*rules.add_districts, "Lighthouse"}))
    g = at(rules, players=[seat("King", gold=9, hand=["Lighthouse"]), seat("Bishop"), seat("Merchant"), seat("Architect")])
    play(g, "take gold", "build Lighthouse")
    assert g.question == "LIGHTHOUSE"
    return g


def in_the_deck(rules: Rules) -> set[str]:
    """The districts that a Lighthouse finds."""
    return {text.removeprefix("take ") for text in texts(lighthouse(rules), "take ")} | {"Lighthouse"}


def draft(g: Game, last: bool = False) -> list[tuple[int | None, str, list[str]]]:
    """Answer a whole draft (taking the first or the last role each time); who was asked what."""
    asked = []
    while g.question in ("DRAFT", "BURY"):
        asked.append((g.actor, g.question, g.legal()))
        g.play(g.legal()[-1 if last else 0])
    return asked


def nine(rules: Rules = GERMAN, players: int = 4) -> Rules:
    """The base roles and the Artist."""
    return using(rules, "Artist", players=players)


# --- roles ----------------------------------------------------------------------


@pytest.mark.rule("S-1", "X-6")
def test_there_are_two_roles_of_each_rank() -> None:
    assert [row.name for row in ROLES] == [name for pair in NINE for name in pair]
    assert [row.rank for row in ROLES] == [rank for rank in range(1, 10) for _ in range(2)]


@pytest.mark.rule("S-1", "O-roles")
@pytest.mark.parametrize("pair", NINE)
def test_two_roles_of_one_rank_never_meet(pair: tuple[str, str]) -> None:
    roles = tuple(name for name in using(GERMAN, "Artist", players=5).roles if name not in pair) + pair
    with pytest.raises(ValueError, match=f"{pair[0]} and {pair[1]} are both of rank"):
        GERMAN.with_(players=5, roles=roles)


@pytest.mark.rule("S-1", "O-roles")
@pytest.mark.parametrize("second", [0, 1])
@pytest.mark.filterwarnings("ignore:the designer")
def test_exactly_the_roles_of_the_rules_are_dealt(second: int) -> None:
    rules = GERMAN.with_(players=6, roles=tuple(pair[second] for pair in NINE))
    g = Game(rules, seed=3)
    seen = set(g.face_up) | {text.removeprefix("draft ") for text in g.legal()}
    assert len(seen) == 8  # the ninth lies face down
    assert seen <= {pair[second] for pair in NINE}
    draft(g)
    held = [name for player in range(6) for name in g.roles(player)]
    assert len(set(held)) == 6
    assert set(held) <= seen


@pytest.mark.rule("S-2", "O-players")
@pytest.mark.parametrize("players", range(2, 9))
def test_without_a_wish_the_base_roles_are_used_and_a_ninth_for_eight_players(players: int) -> None:
    rules = GERMAN.with_(players=players)
    assert len(rules.roles) == (9 if players == 8 else 8)
    assert rules.roles[:8] == tuple(pair[0] for pair in NINE[:8])
    assert len(Game(rules, seed=1).gold) == players


@pytest.mark.rule("S-2", "O-players", "O-roles")
def test_two_and_three_players_have_no_ninth_rank_and_eight_players_need_it() -> None:
    for players in (2, 3):
        with pytest.raises(ValueError, match=f"{players} players use eight roles"):
            nine(players=players)
    with pytest.raises(ValueError, match="8 players use nine roles"):
        GERMAN.with_(players=8, roles=GERMAN.roles)
    for players in (4, 5, 6, 7):
        assert len(nine(players=players).roles) == 9
    for players in (1, 9):
        with pytest.raises(ValueError, match=f"players must be 2 to 8, not {players}"):
            GERMAN.with_(players=players)


@pytest.mark.rule("S-3")
@pytest.mark.parametrize(("players", "face_up"), [(4, 3), (5, 2), (6, 1), (7, 0), (8, 0)])
def test_with_nine_roles_some_lie_face_up(players: int, face_up: int) -> None:
    rules = nine(players=players)
    assert rules.face_up == face_up
    for seed in range(20):
        g = Game(rules, seed=seed)
        assert len(g.face_up) == face_up
        assert len(g.legal()) == 9 - face_up - 1  # and one face down


@pytest.mark.rule("S-4", "R75")
@pytest.mark.parametrize("role", ["King", "Emperor"])
def test_rank_four_never_lies_face_up_but_may_lie_face_down(role: str) -> None:
    rules = using(GERMAN, role)
    down = 0
    up: Counter[str] = Counter()
    for seed in range(600):
        g = Game(rules, seed=seed)
        up.update(g.face_up)
        down += f"draft {role}" not in g.legal()
    assert role not in up
    assert 55 <= down <= 145  # one of the six roles that do not lie open: 100 expected
    assert set(up) == set(rules.roles) - {role}
    assert all(110 <= up[name] <= 235 for name in up)  # two of seven: 171 expected


@pytest.mark.rule("S-5", "R109", "I36")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_queen_is_refused_with_fewer_than_five_players(players: int) -> None:
    reason = "the Queen needs five or more players, not 4" if players == 4 else f"{players} players use eight roles"
    with pytest.raises(ValueError, match=reason):
        GERMAN.with_(players=players, roles=(*GERMAN.roles, "Queen"))


@pytest.mark.rule("S-5", "R109")
def test_the_queen_plays_with_five_players() -> None:
    rules = using(GERMAN, "Queen", players=5)
    assert any("draft Queen" in Game(rules, seed=seed).legal() for seed in range(5))


@pytest.mark.rule("O-allow_emperor_and_queen", "R-QUEEN-4")
def test_emperor_and_queen_together_give_a_warning_or_are_refused() -> None:
    roles = using(GERMAN, "Queen", players=5).roles
    roles = tuple("Emperor" if name == "King" else name for name in roles)
    with pytest.warns(UserWarning, match="Emperor and Queen"):
        rules = GERMAN.with_(players=5, roles=roles)
    assert any({"draft Emperor", "draft Queen"} <= set(Game(rules, seed=seed).legal()) for seed in range(10))
    with pytest.raises(ValueError, match="Emperor and Queen"):
        GERMAN.with_(players=5, roles=roles, allow_emperor_and_queen=False)


def test_either_of_emperor_and_queen_alone_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        using(GERMAN, "Queen", players=5)
        using(GERMAN, "Emperor", "Artist", players=5)


# --- decks ----------------------------------------------------------------------


@pytest.mark.rule("B-DECK", "O-base_deck")
@pytest.mark.parametrize(
    ("edition", "cards", "total_cost", "colours", "cost_by_colour"),
    [
        ("german", 65, 204, (12, 11, 20, 11, 11), (46, 28, 50, 28, 52)),
        ("american", 66, 210, (12, 11, 20, 11, 12), (46, 28, 50, 28, 58)),
        ("french", 65, 201, (11, 12, 20, 11, 11), (41, 30, 50, 28, 52)),
    ],
)
def test_the_base_decks_add_up(
    edition: str, cards: int, total_cost: int, colours: tuple[int, ...], cost_by_colour: tuple[int, ...]
) -> None:
    rules = EDITIONS[edition]
    assert sum(rules.deck.values()) == cards
    assert sum(copies * rules.cost(name) for name, copies in rules.deck.items()) == total_cost
    assert sum(copies * rules.points(name) for name, copies in rules.deck.items()) == total_cost + 4
    number: Counter[int] = Counter()
    cost: Counter[int] = Counter()
    for row in DISTRICTS:
        number[row.colour] += rules.deck.get(row.name, 0)
        cost[row.colour] += rules.deck.get(row.name, 0) * rules.cost(row.name)
    assert tuple(number[colour] for colour in range(5)) == colours
    assert tuple(cost[colour] for colour in range(5)) == cost_by_colour
    g = Game(rules, seed=2)
    assert g.deck_size + sum(len(g.hand(player)) for player in range(4)) == cards


@pytest.mark.rule("B-DECK", "S-6")
@pytest.mark.parametrize("edition", EDITIONS)
def test_with_everything_in_the_deck_has_eighty_cards(edition: str) -> None:
    rules = EDITIONS[edition].with_(add_districts="all")
    new = [name for name in NEW_DISTRICTS if name not in EDITIONS[edition].deck]
    assert sum(rules.deck.values()) == 80
    assert sum(rules.cost(name) for name in new) == 69
    assert in_the_deck(rules) == set(rules.deck)


@pytest.mark.rule("B-DECK", "O-base_deck")
def test_the_editions_differ_in_palaces_churches_and_the_great_wall() -> None:
    assert {
        name: (GERMAN.deck.get(name, 0), FRENCH.deck.get(name, 0), AMERICAN.deck.get(name, 0))
        for name in ("Palace", "Church", "Great Wall")
    } == {
        "Palace": (3, 2, 3),
        "Church": (3, 4, 3),
        "Great Wall": (0, 0, 1),
    }
    for deck, palaces in (("german", 3), ("french", 2), ("american", 3)):
        rules = GERMAN.with_(base_deck=deck, add_districts=("Lighthouse",))
        hand = ["Lighthouse"] + ["Palace"] * (palaces - 1)
        players = [seat("King", gold=9, hand=hand), seat("Bishop"), seat("Merchant"), seat("Architect")]
        assert "take Palace" in play(at(rules, players=players), "take gold", "build Lighthouse").legal()
        players[1] = seat("Bishop", hand=["Palace"])
        assert "take Palace" not in play(at(rules, players=players), "take gold", "build Lighthouse").legal()


@pytest.mark.rule("B-DECK", "O-keep_copies", "D-KEEP")
@pytest.mark.parametrize("copies", [1, 2])
def test_the_keep_is_one_card_or_two(copies: int) -> None:
    rules = GERMAN.with_(keep_copies=copies, add_districts=("Lighthouse",))
    assert rules.deck["Keep"] == copies
    g = at(rules, players=[seat("King", gold=9, hand=["Lighthouse"]), seat("Bishop", city=["Keep"]), seat("Merchant"), seat("Architect")])
    play(g, "take gold", "build Lighthouse")
    assert ("take Keep" in g.legal()) == (copies == 2)


@pytest.mark.rule("B-DECK", "O-great_wall_in_base", "D-WALL")
@pytest.mark.parametrize("within", [False, True])
def test_the_great_wall_belongs_to_the_base_deck_or_not(within: bool) -> None:
    assert ("Great Wall" in in_the_deck(GERMAN.with_(great_wall_in_base=within))) == within
    assert GERMAN.with_(great_wall_in_base=True, add_districts="all").deck["Great Wall"] == 1


@pytest.mark.rule("S-6", "O-add_districts")
@pytest.mark.parametrize("added", [(), ("Park",), ("Museum", "Park", "Throne Room")])
def test_any_new_districts_can_be_added(added: tuple[str, ...]) -> None:
    assert in_the_deck(GERMAN.with_(add_districts=added)) == set(GERMAN.deck) | {*added, "Lighthouse"}


@pytest.mark.rule("S-6", "O-add_districts")
def test_all_none_and_recommended_are_ready_made_choices() -> None:
    assert GERMAN.with_(add_districts="none").add_districts == ()
    assert GERMAN.with_(add_districts="all").add_districts == NEW_DISTRICTS
    assert len(GERMAN.with_(add_districts="recommended").add_districts) in (2, 3)
    assert GERMAN.with_(add_districts=("Park", "Museum")).add_districts == ("Park", "Museum")


@pytest.mark.rule("S-6", "O-districts_seed", "O-add_districts")
def test_the_recommended_districts_follow_their_seed() -> None:
    chosen = {seed: GERMAN.with_(add_districts="recommended", districts_seed=seed) for seed in range(200)}
    assert chosen[5] == GERMAN.with_(add_districts="recommended", districts_seed=5)
    assert {len(rules.add_districts) for rules in chosen.values()} == {2, 3}
    assert {name for rules in chosen.values() for name in rules.add_districts} == set(NEW_DISTRICTS)
    assert in_the_deck(chosen[5]) == set(GERMAN.deck) | set(chosen[5].add_districts) | {"Lighthouse"}
    assert set(chosen[5].add_districts) != set(chosen[6].add_districts)


@pytest.mark.rule("S-6", "O-remove_districts")
def test_districts_can_be_left_out() -> None:
    rules = GERMAN.with_(remove_districts=("Tavern", "Laboratory"))
    assert sum(rules.deck.values()) == 65 - 5 - 1
    assert in_the_deck(rules) == set(GERMAN.deck) - {"Tavern", "Laboratory"} | {"Lighthouse"}


@pytest.mark.rule("S-6", "O-replace_uniques", "O-districts_seed")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_as_many_base_uniques_can_leave_as_new_districts_come(seed: int) -> None:
    new = ("Museum", "Park", "Lighthouse")
    plain = GERMAN.with_(add_districts=new, districts_seed=seed)
    rules = plain.with_(replace_uniques=True)
    gone = {name: plain.deck[name] - rules.deck.get(name, 0) for name in BASE_UNIQUES}
    assert sum(rules.deck.values()) == 65
    assert sum(gone.values()) == 3
    assert set(new) <= set(rules.deck)
    assert in_the_deck(rules) == {name for name in plain.deck if plain.deck[name] > gone.get(name, 0)}
    assert set(rules.left_out) == {name for name in gone if name not in rules.deck}


@pytest.mark.rule("S-6", "O-replace_uniques", "O-districts_seed")
def test_which_uniques_leave_follows_the_seed() -> None:
    decks = [GERMAN.with_(add_districts=("Park",), replace_uniques=True, districts_seed=seed).deck for seed in range(100)]
    left = [next(name for name in BASE_UNIQUES if deck.get(name, 0) < GERMAN.deck[name]) for deck in decks]
    assert set(left) == set(BASE_UNIQUES)
    assert decks[7] == GERMAN.with_(add_districts=("Park",), replace_uniques=True, districts_seed=7).deck


@pytest.mark.rule("S-7", "X-7", "R117", "O-hospital_requires_assassin", "D-HOSPITAL")
@pytest.mark.parametrize("edition", EDITIONS)
def test_without_the_assassin_the_hospital_stays_out(edition: str) -> None:
    with_assassin = EDITIONS[edition].with_(add_districts=("Hospital",))
    without = using(with_assassin, "Witch")
    assert "Hospital" in in_the_deck(with_assassin)
    assert "Hospital" not in in_the_deck(without)
    assert without.left_out == ("Hospital",)
    assert with_assassin.left_out == ()
    assert "left out: Hospital" in without.describe()
    assert "Hospital" in in_the_deck(without.with_(hospital_requires_assassin=False))


@pytest.mark.rule("S-7", "X-7", "R98", "O-remove_graveyard_with_diplomat")
@pytest.mark.parametrize(("edition", "leaves"), [("german", True), ("french", True), ("american", False)])
def test_with_the_diplomat_the_graveyard_leaves_the_german_and_french_deck(edition: str, leaves: bool) -> None:
    rules = EDITIONS[edition]
    diplomat = using(rules, "Diplomat")
    assert "Graveyard" in in_the_deck(rules)
    assert ("Graveyard" not in in_the_deck(diplomat)) == leaves
    assert diplomat.left_out == (("Graveyard",) if leaves else ())
    assert ("Graveyard" in in_the_deck(diplomat.with_(remove_graveyard_with_diplomat=not leaves))) == leaves


@pytest.mark.rule("X-6")
def test_districts_have_one_name_each() -> None:
    names = [row.name for row in DISTRICTS]
    assert len(set(names)) == len(names) == 42
    assert NEW_DISTRICTS == (
        "Great Wall", "Quarry", "Wishing Well", "Imperial Treasury", "Map Room", "Hospital", "Poor House", "Lighthouse", "Park",
        "Powder Tower", "Ballroom", "Factory", "Museum", "Bell Tower", "Throne Room",
    )  # fmt: skip
    assert BASE_UNIQUES == (
        "Keep", "Haunted City", "Laboratory", "Smithy", "Observatory", "Graveyard", "Library", "School of Magic",
        "University", "Dragon Gate",
    )  # fmt: skip


# --- the beginning --------------------------------------------------------------


@pytest.mark.rule("B-SETUP", "O-players")
@pytest.mark.parametrize("players", range(2, 9))
def test_everybody_begins_with_four_cards_and_two_gold(players: int) -> None:
    g = Game(GERMAN.with_(players=players), seed=players)
    assert g.gold == (2,) * players
    assert [len(g.hand(player)) for player in range(players)] == [4] * players
    assert [g.city(player) for player in range(players)] == [[]] * players
    assert (g.deck_size, g.discard_size, g.round_number) == (65 - 4 * players, 0, 1)


@pytest.mark.rule("B-SETUP")
def test_the_deck_is_shuffled_by_the_seed() -> None:
    hands = {tuple(Game(GERMAN, seed=seed).hand(0)) for seed in range(20)}
    assert len(hands) > 15
    assert Game(GERMAN, seed=4).hand(0) == Game(GERMAN, seed=4).hand(0)


@pytest.mark.rule("B-CROWN-FIRST", "O-first_crown", "S-8")
def test_the_crown_begins_with_the_oldest_or_with_anybody() -> None:
    assert {Game(GERMAN, seed=seed).crown for seed in range(50)} == {0}
    games = [Game(GERMAN.with_(first_crown="random"), seed=seed) for seed in range(100)]
    assert {g.crown for g in games} == {0, 1, 2, 3}
    assert all(g.actor == g.crown for g in games)


# --- the draft ------------------------------------------------------------------


@pytest.mark.rule("B-DRAFT-PASS", "S-8")
@pytest.mark.parametrize("players", range(4, 9))
def test_the_crown_chooses_first_and_the_others_follow_to_the_left(players: int) -> None:
    for seed in range(5):
        g = Game(GERMAN.with_(players=players, first_crown="random"), seed=seed)
        crown = g.crown
        assert [actor for actor, _, _ in draft(g)] == [(crown + k) % players for k in range(players)]


@pytest.mark.rule("B-DRAFT-PASS")
def test_a_chosen_role_is_gone_and_stays_secret() -> None:
    g = Game(GERMAN, seed=5)
    first = g.legal()
    g.play(first[2])
    assert g.legal() == first[:2] + first[3:]
    assert g.roles(0) == [first[2].removeprefix("draft ")]
    assert g.revealed(0) == []


@pytest.mark.rule("B-DRAFT-PASS")
def test_what_another_player_chose_cannot_be_seen() -> None:
    a, b = Game(GERMAN.with_(players=7), seed=5), Game(GERMAN.with_(players=7), seed=5)
    one, two = a.legal()[:2]
    play(a, one, two)
    play(b, two, one)
    assert (a.observation(2) == b.observation(2)).all()
    assert (a.observation(0) != b.observation(0)).any()


@pytest.mark.rule("B-DRAFT-PASS", "S-8")
def test_every_round_has_its_own_draft() -> None:
    g = Game(GERMAN, seed=8)
    draft(g)
    finish(g)
    assert (g.round_number, g.question, g.actor) == (2, "DRAFT", g.crown)
    assert [g.roles(player) for player in range(4)] == [[]] * 4
    assert len(g.face_up) == 2
    assert len(g.legal()) == 5


def drafted(rules: Rules, seed: int, last: bool) -> tuple[Game, list[tuple[int | None, str, list[str]]]]:
    g = Game(rules, seed=seed)
    return g, draft(g, last)


@pytest.mark.rule("B-DRAFT-2")
@pytest.mark.parametrize("last", [False, True])
def test_two_players_take_and_put_away_in_turn(last: bool) -> None:
    for seed in range(10):
        g, asked = drafted(GERMAN.with_(players=2), seed, last)
        steps = [(actor, question, len(legal)) for actor, question, legal in asked]
        assert steps == [(0, "DRAFT", 7), (1, "DRAFT", 6), (1, "BURY", 5), (0, "DRAFT", 4), (0, "BURY", 3), (1, "DRAFT", 2)]
        held = g.roles(0) + g.roles(1)
        assert len(g.roles(0)) == len(g.roles(1)) == 2
        assert len(set(held)) == 4
        assert g.face_up == []


@pytest.mark.rule("B-DRAFT-2")
def test_a_role_put_away_is_out_of_the_round() -> None:
    g = Game(GERMAN.with_(players=2), seed=1)
    g.play(g.legal()[0])
    g.play(g.legal()[0])
    assert all(text.startswith("bury ") for text in g.legal())
    away = g.legal()[2]
    rest = [text.removeprefix("bury ") for text in g.legal() if text != away]
    g.play(away)
    assert g.actor == 0
    assert g.legal() == [f"draft {name}" for name in rest]


@pytest.mark.rule("B-DRAFT-3")
@pytest.mark.parametrize("last", [False, True])
def test_three_players_take_two_roles_each_one_at_a_time(last: bool) -> None:
    for seed in range(10):
        g, asked = drafted(GERMAN.with_(players=3), seed, last)
        assert [(actor, question, len(legal)) for actor, question, legal in asked] == [
            (0, "DRAFT", 7), (1, "DRAFT", 6), (2, "DRAFT", 5), (0, "DRAFT", 4), (1, "DRAFT", 3), (2, "DRAFT", 2),
        ]  # fmt: skip
        assert [len(g.roles(player)) for player in range(3)] == [2, 2, 2]
        assert len({name for player in range(3) for name in g.roles(player)}) == 6
        assert g.face_up == []


EIGHT_ROLES = [
    pytest.param(4, 2, [5, 4, 3, 2], marks=pytest.mark.rule("B-DRAFT-4")),
    pytest.param(5, 1, [6, 5, 4, 3, 2], marks=pytest.mark.rule("B-DRAFT-5")),
    pytest.param(6, 0, [7, 6, 5, 4, 3, 2], marks=pytest.mark.rule("B-DRAFT-6")),
    pytest.param(7, 0, [7, 6, 5, 4, 3, 2, 2], marks=pytest.mark.rule("B-DRAFT-7")),
]
NINE_ROLES = [
    (4, 3, [5, 4, 3, 2]),
    (5, 2, [6, 5, 4, 3, 2]),
    (6, 1, [7, 6, 5, 4, 3, 2]),
    (7, 0, [8, 7, 6, 5, 4, 3, 2]),
    (8, 0, [8, 7, 6, 5, 4, 3, 2, 2]),
]


@pytest.mark.rule("B-DRAFT-4", "B-DRAFT-5", "B-DRAFT-6", "B-DRAFT-7")
@pytest.mark.parametrize(("players", "face_up", "choices"), EIGHT_ROLES)
def test_with_eight_roles_each_has_fewer_to_choose_from(players: int, face_up: int, choices: list[int]) -> None:
    for seed in range(10):
        g, asked = drafted(GERMAN.with_(players=players), seed, seed % 2 == 0)
        assert [len(legal) for _, _, legal in asked] == choices
        assert {question for _, question, _ in asked} == {"DRAFT"}
        assert len(g.face_up) == face_up
        held = [g.roles(player) for player in range(players)]
        assert [len(roles) for roles in held] == [1] * players
        assert len({roles[0] for roles in held} | set(g.face_up)) == players + face_up


@pytest.mark.rule("S-3", "B-DRAFT-7", "B-DRAFT-8")
@pytest.mark.parametrize(("players", "face_up", "choices"), NINE_ROLES)
def test_with_nine_roles_each_has_fewer_to_choose_from(players: int, face_up: int, choices: list[int]) -> None:
    for seed in range(10):
        g, asked = drafted(nine(players=players), seed, seed % 2 == 0)
        assert [len(legal) for _, _, legal in asked] == choices
        assert len(g.face_up) == face_up
        assert len({g.roles(player)[0] for player in range(players)} | set(g.face_up)) == players + face_up


@pytest.mark.parametrize(
    ("players", "roles"),
    [pytest.param(7, 8, marks=pytest.mark.rule("B-DRAFT-7")), pytest.param(8, 9, marks=pytest.mark.rule("B-DRAFT-8"))],
)
def test_the_last_chooser_may_take_the_role_lying_face_down(players: int, roles: int) -> None:
    rules = GERMAN.with_(players=players)
    assert len(rules.roles) == roles
    for seed in range(10):
        g = Game(rules, seed=seed)
        offered = {text.removeprefix("draft ") for text in g.legal()}
        (down,) = set(rules.roles) - offered
        asked = []
        while g.question == "DRAFT" and g.actor != players - 1:
            asked.append(g.legal()[0].removeprefix("draft "))
            g.play(g.legal()[0])
        (over,) = offered - set(asked)
        assert {text.removeprefix("draft ") for text in g.legal()} == {over, down}
        choice = (over, down)[seed % 2]
        g.play(f"draft {choice}")
        assert g.roles(players - 1) == [choice]


@pytest.mark.parametrize(
    ("players", "nine_roles"),
    [
        pytest.param(4, False, marks=pytest.mark.rule("B-DRAFT-4")),
        pytest.param(5, False, marks=pytest.mark.rule("B-DRAFT-5")),
        pytest.param(6, False, marks=pytest.mark.rule("B-DRAFT-6")),
        pytest.param(7, True, marks=pytest.mark.rule("B-DRAFT-7")),
        pytest.param(3, False, marks=pytest.mark.rule("B-DRAFT-3")),
        pytest.param(2, False, marks=pytest.mark.rule("B-DRAFT-2")),
    ],
)
def test_otherwise_nobody_gets_the_role_lying_face_down(players: int, nine_roles: bool) -> None:
    rules = nine(players=players) if nine_roles else GERMAN.with_(players=players)
    for seed in range(10):
        g = Game(rules, seed=seed)
        (down,) = set(rules.roles) - {text.removeprefix("draft ") for text in g.legal()} - set(g.face_up)
        asked = draft(g, last=seed % 2 == 0)
        assert all(not text.endswith(f" {down}") for _, _, legal in asked for text in legal)
