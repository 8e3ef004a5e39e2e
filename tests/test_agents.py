"""The first agents: strength, honesty, reproducibility."""

import numpy as np
import pytest

from citadels_agents import arena, make, play_games, registry
from citadels_env import AMERICAN, FRENCH, GERMAN, Batch, Game, batch
from invariants import random_answers, random_rules

NEW_ROLES = ("Witch", "Tax Collector", "Wizard", "Emperor", "Abbot", "Alchemist", "Navigator", "Diplomat", "Artist")


def _share(results: np.ndarray, players: int) -> float:
    """Share of wins of the agent that rotates through all seats."""
    games = np.arange(len(results))
    return float(results["wins"][games, games % players].mean())


def test_the_heuristic_beats_four_random_players_in_95_of_100_games_over_all_seats() -> None:
    results = play_games(GERMAN.with_(players=5), ["heuristic"] + ["random"] * 4, 2000, seed=1, rotate=True)
    assert _share(results, 5) >= 0.95


@pytest.mark.parametrize("edition", [FRENCH, AMERICAN, GERMAN])
@pytest.mark.parametrize("players", [2, 4, 5])
def test_the_heuristic_wins_with_all_new_roles_and_districts_too(edition, players: int) -> None:  # type: ignore[no-untyped-def]
    roles = NEW_ROLES if players >= 4 else NEW_ROLES[:8]
    rules = edition.with_(players=players, roles=roles, add_districts="all")
    results = play_games(rules, ["heuristic"] + ["random"] * (players - 1), 600, seed=2, rotate=True)
    assert _share(results, players) >= 0.95


def test_random_players_win_evenly_over_seats() -> None:
    results = play_games(GERMAN, "random", 4000, seed=3)
    shares = results["wins"][:, :4].mean(0)
    assert np.allclose(shares, 0.25, atol=0.03)
    assert np.allclose(results["wins"].sum(1), 1, atol=1e-5)


def test_game_k_depends_on_rules_seed_and_k_only() -> None:
    many = play_games(GERMAN, "heuristic", 700, seed=4, threads=2)
    few = play_games(GERMAN, "heuristic", 300, seed=4)
    assert (many[:300] == few).all()
    assert (many["scores"] != play_games(GERMAN, "heuristic", 700, seed=5)["scores"]).any()


def test_agents_share_the_deal_of_a_seed() -> None:
    """Common random numbers: the roles laid aside in round 1 leave the same choices, whoever plays."""
    one, two = (play_games(FRENCH, agent, 200, seed=6) for agent in ("random", "heuristic"))
    assert (one["first_crown"] == two["first_crown"]).all()


def test_rotation_seats_every_agent_everywhere() -> None:
    results = play_games(GERMAN, ["heuristic", "random", "random", "random"], 800, seed=7, rotate=True)
    for seat in range(4):
        assert results["wins"][seat::4, seat].mean() > 0.9


def test_the_heuristic_uses_nothing_that_its_seat_cannot_know() -> None:
    rules = [random_rules(seed) for seed in range(300)]
    games = Batch(rules, seed=8, auto_reset=False)
    rng = np.random.default_rng(0)
    compared = 0
    for turn in range(260):
        actors = games.actors
        live = actors >= 0
        if not live.any():
            break
        if turn % 5 == 0:
            saved = games.states.copy()
            streams = saved["rng"].copy()
            first = registry.choices(games.states)
            games.states[:] = saved
            batch.redeal(games.states, np.maximum(actors, 0).astype(np.int64), batch.game_seeds(turn, len(rules)))
            games.states["rng"] = streams
            second = registry.choices(games.states)
            games.states[:] = saved
            assert (first[live] == second[live]).all()
            compared += int(live.sum())
        masks = games.masks()
        games.step(random_answers(masks, rng))
    assert compared > 5000


def test_unknown_agents_and_impossible_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no agent .genius.; the agents are random, heuristic, builder"):
        play_games(GERMAN, "genius")
    with pytest.raises(ValueError, match="4 seats, but 2 agents"):
        play_games(GERMAN, ["random", "random"])
    with pytest.raises(ValueError, match="num_games must be a whole number from 1 to 10,000,000, not 0"):
        play_games(GERMAN, "random", 0)
    with pytest.raises(ValueError, match="threads must be a whole number from 1 to 4,096, not 0"):
        play_games(GERMAN, "random", 1, threads=0)


def test_the_record_of_a_game_adds_up() -> None:
    results = play_games(GERMAN.with_(players=3), "heuristic", 300, seed=9)
    drafted = results["drafted"].sum((1, 2))
    assert (drafted == 6 * results["rounds"]).all()
    assert (results["drafted"][:, 3:] == 0).all()
    best = results["scores"][:, :3].max(1)
    winners = results["wins"][:, :3] > 0
    assert (np.where(winners, results["scores"][:, :3], best[:, None]) == best[:, None]).all()


def _crown_answer(agent: str, crown: int, cities: list[list[str]], tribute: bool) -> str:
    """What an Emperor at seat 0 who may keep the crown in place answers, and that he is asked."""
    roles = ("Assassin", "Thief", "Magician", "Emperor", "Bishop", "Merchant", "Architect", "Warlord")
    tributes = "payer_chooses" if tribute else "none"
    rules = FRENCH.with_(roles=roles, emperor_may_keep_crown_in_place=True, emperor_tribute=tributes)
    names = ("Emperor", "Bishop", "Merchant", "Warlord")
    players = [{"roles": [name], "city": city, "gold": 3} for name, city in zip(names, cities, strict=True)]
    game = Game.from_position(rules, {"players": players, "called": 3, "crown": crown}, seed=1)
    assert (game.question, "done" in game.legal()) == ("CROWN", True)
    answers = np.zeros(1, np.int64)
    kind = make(agent)
    if kind.row["kind"][0] == arena.SEARCHING:
        answers[0] = game._index(kind.act(registry.View(game, 1)))
    else:
        arena.answer_all(game._states, kind.row, answers)
    return game.describe(int(answers[0]))


def test_an_emperor_who_may_keep_the_crown_judges_its_holder_like_any_receiver() -> None:
    small, large = ["Tavern"], ["Tavern", "Manor", "Temple", "Market", "Docks", "Harbor"]
    assert _crown_answer("heuristic", 0, [small] * 4, tribute=False) == "done"  # nobody is better than oneself
    assert _crown_answer("heuristic", 3, [[], [], large, []], tribute=False) == "done"  # far away, and weak
    assert _crown_answer("heuristic", 1, [[], large, [], []], tribute=False) == "crown player 3"
    assert _crown_answer("heuristic", 3, [[], [], [], large], tribute=False) == "crown player 2"
    assert _crown_answer("heuristic", 3, [[], [], [], []], tribute=True) == "crown player 2"  # 1 gold for a seat nearer


@pytest.mark.parametrize("agent", ["random", "expert", "ismcts:iterations=60"])
@pytest.mark.parametrize("crown", [0, 2])
def test_every_kind_of_agent_answers_an_emperors_question_with_the_option(agent: str, crown: int) -> None:
    assert _crown_answer(agent, crown, [[], [], [], []], tribute=True).startswith(("done", "crown player"))
