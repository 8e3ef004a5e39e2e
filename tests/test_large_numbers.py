"""Gold, scores and standings are exact in every game that the options allow, however long and however rich."""

from itertools import product

import numpy as np
import pytest

from citadels_agents import SeatedBatch, arena, make
from citadels_agents.belief import BEHAVIOURAL
from citadels_agents.personas import PERSONAS
from citadels_env import AMERICAN, FRENCH, GERMAN, Batch, Game, Rules, actions, citadels_v0, observation, state
from citadels_env.cards import IMPERIAL_TREASURY, ROLES
from citadels_env.scoring import REWARDS

MOST = 80_000 + 200 * 9_999  # gold of eight rich seats, and what the bank gives in the most rounds at most: below 2**21


def test_the_bank_gives_fewer_than_200_gold_in_a_round() -> None:
    """Every source of gold at its most in one round of nine turns; `state.STATE` and PettingZoo's `state` rely on it."""
    actions_, laboratory, poor_house = 9 * 2, 9 * 2, 9 * 1
    districts_of_a_colour, school = 54, 4
    merchant, navigator, queen, throne_room = 1, 4, 3, 2 * 2
    assert actions_ + laboratory + poor_house + districts_of_a_colour + school + merchant + navigator + queen + throne_room < 200
    assert MOST < 2**21 < np.iinfo(state.STATE["gold"].base).max
    assert state.STATE["gold"] == state.STATE["score"]


def test_a_thief_who_robs_seven_rich_players_holds_all_their_gold() -> None:
    roles = ("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord", "Artist")
    order = ("Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord", "Artist")
    players = [{"roles": [role], "gold": 10_000, "hand": [], "city": []} for role in order]
    game = Game.from_position(GERMAN.with_(players=8, roles=roles), {"players": players, "called": 1}, seed=1)
    most, before = 0, 0
    while game.round_number < 40 and not game.over:
        legal = game.legal()
        rich = max(range(1, 8), key=lambda seat: game.gold[seat])
        wish = [f"name {role}" for role in game.roles(rich)] if game.turn_role == "Thief" and game.actor == 0 else []
        if game.question == "DRAFT":
            wish = ["draft Thief"] if game.actor == 0 else [text for text in legal if text != "draft Thief"]
        game.play(next(text for text in [*wish, "take gold", "end turn", "no", "done", *legal] if text in legal))
        assert 0 <= sum(game.gold) - before <= 200 or before == 0  # nothing is spent, nothing vanishes
        before, most = sum(game.gold), max(most, game.gold[0])
    assert most > 2 * 32_767


@pytest.mark.slow
def test_a_game_of_9999_rounds_in_which_nobody_builds_is_scored_exactly() -> None:
    rules = GERMAN.with_(
        players=2, max_rounds=9_999, roles=("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant", "Navigator", "Warlord")
    )
    batch = Batch(rules, 1, seed=0, auto_reset=False)
    wish = np.full(actions.N_ACTIONS, 0.01)
    wish[actions.BUILD : actions.LABORATORY] = 0.0001
    for action, value in (
        (actions.TAKE_4_GOLD, 9),
        (actions.TAKE_GOLD, 8),
        (actions.INCOME, 5),
        (actions.USE_POWER, 5),
        (actions.END_TURN, 1),
    ):
        wish[action] = value
    for row in ROLES:
        wish[actions.DRAFT + row.role] = 7 if row.name in ("Navigator", "Merchant") else 2
    highest = 0
    while batch.actors[0] >= 0:
        batch.step((batch.masks() * wish).argmax(axis=1))
        gold = batch.states["gold"][0, :2].astype(int)
        assert gold.min() >= 0
        highest = max(highest, int(gold.sum()))
    assert batch.states["round_number"][0] == 9_999
    assert batch.states["truncated"][0] == 1
    assert highest > 32_767


TIES = ("shared", "buildings", "buildings_then_gold")


def _round_end(tie_break: str, gold: list[int], cities: list[list[str]], edition: Rules = AMERICAN) -> Game:
    roles = ("King", "Bishop", "Merchant", "Warlord")
    players = [{"roles": [r], "gold": n, "hand": [], "city": city} for r, n, city in zip(roles, gold, cities, strict=True)]
    rules = edition.with_(players=4, tie_break=tie_break, add_districts=("Imperial Treasury",))
    return Game.from_position(rules, {"players": players, "called": 8, "round": 60}, seed=1)


@pytest.mark.parametrize("gold", [0, 999, 1000, 2999, 3001, 5000, 10_000])
@pytest.mark.parametrize("tie_break", TIES)
def test_no_amount_of_gold_outweighs_a_point_of_districts_in_a_tie(tie_break: str, gold: int) -> None:
    five_colours = ["Manor", "Temple", "Tavern", "Watchtower", "Smithy", "Laboratory"]  # 16 points, and 3 for five colours
    dear = ["Castle", "Palace", "Cathedral", "Town Hall"]  # 19 points
    game = _round_end(tie_break, [gold, 0, 0, 0], [five_colours, dear, ["Fortress"], []])
    assert game.over
    assert game.scores()[:2] == (19, 19)
    assert game.winners() == ([0, 1] if tie_break == "shared" else [1])


@pytest.mark.parametrize(("gold", "winners"), [((5000, 5000), [0, 1]), ((4999, 5000), [1]), ((10_000, 9_999), [0])])
def test_gold_decides_between_equal_districts_to_the_last_coin(gold: tuple[int, int], winners: list[int]) -> None:
    game = _round_end("buildings_then_gold", [*gold, 0, 0], [["Manor", "Prison"], ["Castle", "Temple"], [], []])
    assert game.winners() == winners
    assert _round_end("buildings", [*gold, 0, 0], [["Manor", "Prison"], ["Castle", "Temple"], [], []]).winners() == [0, 1]


@pytest.mark.parametrize(("scheme", "tie_break"), list(product(REWARDS, TIES)))
def test_rewards_are_those_of_standings_compared_one_thing_after_the_other(scheme: str, tie_break: str) -> None:
    rules = GERMAN.with_(players=5, tie_break=tie_break, add_districts=("Imperial Treasury",))
    batch = Batch(rules, 600, seed=3, rewards=scheme, auto_reset=False)
    rng = np.random.default_rng(5)
    n, size = rules.players, len(batch.states)
    before = np.zeros((size, n), np.int64)
    # Play to the last answer of the game, and set cities and gold before it.
    while (batch.actors >= 0).any():
        batch.states["round_number"] = rules.max_rounds
        batch.states["gold"][:, :n] = rng.choice([0, 1, 1000, 1001, 32_768, 1_000_000, MOST], (size, n))
        batch.states["city"][:, :n] = 0
        for seat in range(n):
            batch.states["city"][np.arange(size), seat, rng.integers(0, 3, size)] = 1  # 3, 4 or 5 points
            batch.states["city"][np.arange(size), seat, IMPERIAL_TREASURY] = rng.integers(0, 2, size) * (seat == 0)
        open_ = batch.actors >= 0
        masks = batch.masks()
        answers = np.where(open_, masks.argmax(1), 0)
        for action in (actions.TAKE_GOLD, actions.END_TURN):
            answers = np.where(masks[:, action], action, answers)
        batch.step(answers)
        ended = batch.done & open_
        for k in np.flatnonzero(ended):
            g = batch.states[k]
            points = [int((g["city"][seat] * g["rules"]["points"]).sum()) for seat in range(n)]
            key = [
                (int(g["score"][seat]), points[seat] * (tie_break != "shared"), int(g["gold"][seat]) * (tie_break == "buildings_then_gold"))
                for seat in range(n)
            ]
            better = [sum(other > mine for other in key) for mine in key]
            equal = [sum(other == mine for other in key) for mine in key]
            mean = sum(score for score, *_ in key) / n
            expected = {
                "win": [1 / e if b == 0 else 0 for b, e in zip(better, equal, strict=True)],
                "score": [(score - mean) / 10 for score, *_ in key],
                "rank": [1 - (2 * b + e - 1) / (n - 1) for b, e in zip(better, equal, strict=True)],
            }[scheme]
            assert (batch.rewards[k, :n] == np.array(expected, np.float32)).all()
            assert int(g["score"][0]) >= (int(g["gold"][0]) if g["city"][0, IMPERIAL_TREASURY] else 0)
            before[k] = [score for score, *_ in key]
    assert before.max() > 1_000_000
    assert before.min() > 0


def _rich(batch: Batch) -> None:
    """Give seat 0 a Treasury and a million gold in every game, the others half a million."""
    batch.states["gold"][:, 0], batch.states["gold"][:, 1:4] = 1_000_000, 500_000
    batch.states["city"][:, 0, IMPERIAL_TREASURY] = 1
    batch.states["city_size"][:, 0] = batch.states["city"][:, 0].sum(1)


def test_scores_of_rich_games_arrive_whole_in_records_environments_and_results() -> None:
    rules = FRENCH.with_(players=4, max_rounds=1, add_districts=("Imperial Treasury",))
    seated = SeatedBatch(rules, 8, seed=2, opponents="random", own_seat=0, auto_reset=False)
    while (seated.asked >= 0).any():
        _rich(seated)
        places = np.flatnonzero(seated.asked >= 0)
        seated.step_in(places, seated.masks()[places].argmax(1))
    scores = seated.ended(np.arange(8))["scores"]
    assert (scores[:, 0] > 900_000).sum() >= 4  # in some games the million is robbed in the last moment
    assert (scores == seated.states["score"]).all()
    results = state.records(1, arena.RESULT)
    for k in range(8):
        arena.finish(state.copied(seated.states[k : k + 1])[0], results[0])
        assert (results["scores"][0] == seated.states["score"][k]).all()
        assert results["wins"][0].argmax() == scores[k].argmax()


def test_the_state_of_the_pettingzoo_environment_is_exact_and_inside_its_space() -> None:
    env = citadels_v0.env(rules=GERMAN)
    env.reset(seed=1)
    raw = env.unwrapped
    for gold in (32_767, 32_768, 2**21 - 1, MOST):
        raw._states["gold"][0, :4] = gold
        raw._states["score"][0, :4] = gold + 499
        flat = raw.state()
        assert raw.state_space.contains(flat)
        assert (flat[raw.state_fields["gold"]][:4] == gold).all()
        assert (flat[raw.state_fields["score"]][:4].astype(np.int64) == gold + 499).all()
    seen = env.observe("player_1")["observation"]
    assert env.agent_selection != "player_1"
    assert (observation.view(seen, "players")[:4, 1] == 255).all()


@pytest.mark.parametrize("agent", ["heuristic", *PERSONAS])
def test_agents_play_on_sensibly_among_players_with_millions(agent: str) -> None:
    rules = GERMAN.with_(players=4, max_rounds=3)
    batch = SeatedBatch(rules, 16, seed=4, opponents=agent, own_seat=0, auto_reset=False)
    while (batch.asked >= 0).any():
        batch.states["gold"][:, :4] = MOST
        places = np.flatnonzero(batch.asked >= 0)
        batch.step_in(places, batch.masks()[places].argmax(1))
    assert (batch.states["over"] == 1).all()


@pytest.mark.parametrize("gold", [0, 100, 10_000, MOST])
def test_beliefs_about_a_thief_among_rich_players_are_chances(gold: int) -> None:
    agent = make("expert")
    agent.row["w"]["inference"] = BEHAVIOURAL
    game = Game(GERMAN.with_(players=5), seed=3)
    while game.question == "DRAFT":
        game.play(int(game.legal_indices()[0]))
    game._states["gold"][0, :5] = gold
    belief = np.zeros((8 + 9, 9))
    arena.believe_once(game._states, 2, agent.row, belief)
    assert np.isfinite(belief[:8]).all()
    assert ((belief[:8] >= 0) & (belief[:8] <= 1 + 1e-9)).all()
    assert belief[:5].sum(1) == pytest.approx(1, abs=0.1)  # few alternating normalisations
