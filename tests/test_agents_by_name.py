"""The registry, personas, search, and games with agents written in Python."""

import json
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from citadels_agents import (
    AgentError,
    SeatedBatch,
    View,
    alias,
    load_agents,
    make,
    names,
    personas,
    play_games,
    play_lineups,
    register,
    registry,
    weights,
)
from citadels_env import EDITIONS, FRENCH, GERMAN, ROLES, AgentSpecError, Batch, Game, actions, batch
from citadels_env.batch import game_seeds
from invariants import random_answers, random_rules
from python_agents import Broken, First

PERSONAS = ("heuristic", "builder", "opportunist", "aggressor", "economist", "expert")
NEW_ROLES = ("Witch", "Tax Collector", "Wizard", "Emperor", "Abbot", "Alchemist", "Navigator", "Diplomat", "Artist")


def _share(results: np.ndarray, players: int) -> float:
    games = np.arange(len(results))
    return float(results["wins"][games, games % players].mean())


def _some(game: Game, answers: int, seed: int = 0) -> Game:
    rng = np.random.default_rng(seed)
    for _ in range(answers):
        if not game.over:
            game.play(int(rng.choice(game.legal_indices())))
    return game


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("genius", "no agent 'genius'; the agents are random, heuristic, builder"),
        ("random:speed=3", "random has no option 'speed'"),
        ("expert:inference=magic", "inference must be one of none, elimination, behavioural, not 'magic'"),
        ("expert:inference", "an option is written name=value, not 'inference'"),
        ("expert:inference=", "an option is written name=value, not 'inference='"),
        ("expert:", "an option is written name=value, not ''"),
        ("expert:inference=none,inference=none", "inference is named twice"),
        ("ismcts:iterations=0", "iterations must be a whole number from 1 to 1,000,000, not 0"),
        ("ismcts:iterations=many", "iterations must be a whole number from 1 to 1,000,000, not 'many'"),
        ("ismcts:iterations=1.5", "iterations must be a whole number from 1 to 1,000,000, not '1.5'"),
        ("ismcts:iterations=10000000000000000000", "iterations must be a whole number from 1 to 1,000,000, not 10000000000000000000"),
        ("ismcts:trees=100000", "trees must be a whole number from 1 to 64, not 100000"),
        ("ismcts:exploration=nan", "exploration must be a finite number from 0 to 1,000, not nan"),
        ("ismcts:exploration=inf", "exploration must be a finite number from 0 to 1,000, not inf"),
        ("cheating:widening=nan", "widening must be a finite number from 0 to 1,000, not nan"),
        ("ismcts:widening=-1", "widening must be a finite number from 0 to 1,000, not -1.0"),
        ("ismcts:milliseconds=inf", "milliseconds must be a finite number from 0 to 3,600,000, not inf"),
        ("ismcts:milliseconds=nan", "milliseconds must be a finite number"),
        ("ismcts:horizon=-1", "horizon must be a whole number from 0 to 10,000, not -1"),
        ("ismcts:persona=genius", "persona must be one of heuristic, builder, .*, not 'genius'"),
        ("ismcts:opponents=fools", "opponents must be one of persona, search, not 'fools'"),
        ("network", "the file that was trained is missing"),
        ("network:choice=worst,file=x", "choice must be one of best, sample, not 'worst'"),
        (None, "an agent is a name with options, such as .*, not None"),
        (b"expert", "an agent is a name with options, such as .*, not b'expert'"),
        ("ismcts:depth=3", "ismcts has no option 'depth'; it has iterations"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(AgentSpecError, match=message):
        make(spec)


@pytest.mark.parametrize("persona", PERSONAS)
def test_every_persona_beats_random_players(persona: str) -> None:
    for rules in (GERMAN, FRENCH.with_(players=4, roles=NEW_ROLES, add_districts="all")):
        results = play_games(rules, [persona, "random", "random", "random"], 400, seed=1, rotate=True)
        assert _share(results, 4) >= 0.85


def test_the_expert_wins_97_of_100_games_against_three_random_players() -> None:
    assert _share(play_games(GERMAN, ["expert", "random", "random", "random"], 2000, seed=2, rotate=True), 4) >= 0.97


def test_the_expert_wins_at_least_0_40_against_three_plain_heuristics() -> None:
    assert _share(play_games(GERMAN, ["expert"] + ["heuristic"] * 3, 4000, seed=3, rotate=True), 4) >= 0.40


@pytest.mark.parametrize("players", [2, 4, pytest.param(7, marks=pytest.mark.slow)])
def test_the_expert_is_the_strongest_persona(players: int) -> None:
    fair, rules = 1 / players, GERMAN.with_(players=players)
    for persona in PERSONAS[:-1]:
        share = _share(play_games(rules, ["expert"] + [persona] * (players - 1), 2000, seed=4, rotate=True), players)
        back = _share(play_games(rules, [persona] + ["expert"] * (players - 1), 4000, seed=5, rotate=True), players)
        assert share > 1.1 * fair > 0.97 * fair > back, (persona, share, back)


def test_the_expert_uses_the_power_of_every_role_and_district() -> None:
    """Every verb that gains something is used somewhere; nobody ever stays silent."""
    used: dict[str, int] = {}
    roles = [tuple(ROLES[2 * rank + (k >> rank & 1)].name for rank in range(8)) for k in (0, 255, 0b01010101, 0b10101010)]
    rules = [
        edition.with_(players=4, roles=(*eight, "Artist"), add_districts="all") for eight in roles for edition in EDITIONS.values()
    ] + [GERMAN.with_(players=2)]
    games = Batch(rules * 20, seed=3, auto_reset=False)
    while (games.actors >= 0).any():
        answers = registry.choices(games.states, "expert")
        for action in answers[answers >= 0]:
            verb = actions.split(int(action))[0]
            used[verb] = used.get(verb, 0) + 1
        games.step(np.maximum(answers, 0))
    missing = {block.verb for block in actions.BLOCKS} - set(used)
    assert missing == {"stay silent"}, missing


def test_no_persona_uses_what_its_seat_cannot_know() -> None:
    rules = [random_rules(seed) for seed in range(200)]
    games = Batch(rules, seed=8, auto_reset=False)
    rng = np.random.default_rng(0)
    compared = 0
    for turn in range(200):
        actors = games.actors
        live = actors >= 0
        if turn % 10 == 0:
            saved = games.states.copy()
            for persona in PERSONAS:
                first = registry.choices(games.states, persona)
                games.states[:] = saved
                batch.redeal(games.states, np.maximum(actors, 0).astype(np.int64), batch.game_seeds(turn, len(rules)))
                games.states["rng"] = saved["rng"]
                second = registry.choices(games.states, persona)
                games.states[:] = saved
                assert (first[live] == second[live]).all(), persona
                compared += int(live.sum())
        masks = games.masks()
        games.step(random_answers(masks, rng))
    assert compared > 5000


def test_personas_explain_their_choice_with_the_values_of_all_answers() -> None:
    agent = make("expert")
    for seed in range(25):
        game = _some(Game(random_rules(seed), seed), 3 * seed, seed)
        if game.over:
            continue
        explained = agent.explain(game, seed=5)
        assert sorted(text for text, _ in explained) == sorted(game.legal())
        values = [value for _, value in explained]
        assert values == sorted(values, reverse=True)
        assert game.describe(agent.act(View(game, 5))) == explained[0][0]


def test_weights_are_documented_and_travel_through_vectors_and_files(tmp_path: Path) -> None:
    table = weights.table()
    for weight in weights.WEIGHTS:
        assert f"`{weight.name}`" in table
        assert weight.text
    record = personas.PERSONAS["aggressor"]
    assert personas.from_vector(personas.to_vector(record)) == record
    personas.save(tmp_path / "mine.json", record, what="a test")
    assert np.allclose(personas.to_vector(personas.load(tmp_path / "mine.json")), personas.to_vector(record), atol=1e-4)
    with pytest.raises(ValueError, match="no weight 'courage'"):
        weights.changed(record, courage=1.0)
    (tmp_path / "bad.json").write_text(json.dumps({"weights": {"role": [1, 2]}}))
    with pytest.raises(ValueError, match="weight 'role' has the shape"):
        personas.load(tmp_path / "bad.json")
    with pytest.raises(ValueError, match="a vector of weights has"):
        personas.from_vector(np.zeros(3))


@pytest.mark.slow
def test_search_beats_the_persona_it_plays_out_with() -> None:
    results = play_games(GERMAN, ["ismcts:iterations=200", "expert", "expert", "expert"], 120, seed=6, threads=2, rotate=True)
    assert _share(results, 4) > 0.30


def test_search_is_the_same_for_one_and_two_threads_and_in_or_out_of_the_kernel_loop() -> None:
    one, two = (play_games(GERMAN, ["ismcts:iterations=50", "expert", "random", "heuristic"], 12, seed=7, threads=t) for t in (1, 2))
    assert (one == two).all()
    agent = make("ismcts:iterations=60,trees=2")
    game = _some(Game(GERMAN, 5), 30)
    answers = {agent.act(View(game, 3)) for _ in range(3)}
    assert len(answers) == 1


def test_the_searching_agent_reads_only_what_its_seat_knows() -> None:
    agent = make("ismcts:iterations=100")
    game = _some(Game(FRENCH.with_(players=5, add_districts="all"), 5), 35)
    assert game.actor is not None
    for seed in range(8):
        world = game.redeal(game.actor, seed)
        world._states["rng"] = game._states["rng"]
        assert agent.act(View(world, 9)) == agent.act(View(game, 9))


def test_search_explains_itself_by_chances_of_winning() -> None:
    game = _some(Game(GERMAN, 5), 30)
    explained = make("ismcts:iterations=300").explain(game)
    assert explained
    assert all(0 <= value <= 1 for _, value in explained)
    assert {text for text, _ in explained} <= set(game.legal())


def test_search_within_a_time_limit_answers_legally() -> None:
    game = _some(Game(GERMAN, 5), 30)
    assert make("ismcts:milliseconds=20").act(View(game)) in game.legal_indices()


def test_the_cheating_agent_plays_in_line_ups_only() -> None:
    agent = make("cheating:iterations=50")
    with pytest.raises(ValueError, match="sees hidden cards"):
        agent.act(View(Game(GERMAN, 1)))
    results = play_lineups(GERMAN, [["cheating:iterations=20", "expert", "expert", "expert"]], game_seeds(1, 1))
    assert results["decisions"][0] > 50


def test_agents_written_in_python_play_through_views() -> None:
    lineups = [[First(), "expert", "random", "heuristic"], ["expert"] * 4]
    results = play_lineups(GERMAN, lineups, game_seeds(1, 2))
    assert (results["wins"].sum(1) == 1).all()
    again = play_lineups(GERMAN, lineups, game_seeds(1, 2))
    assert (results == again).all()


@pytest.mark.parametrize(
    ("how", "reason"), [("raise", "raised RuntimeError: out of ideas"), ("illegal", "'build Atlantis' is not a legal answer")]
)
def test_an_agent_that_fails_is_reported_with_game_seat_and_replay(how: str, reason: str) -> None:
    lineups = [["random"] * 4, ["random", "random", Broken(how), "random"]]
    with pytest.raises(AgentError, match="agent broken in game 1, seat 2") as error:
        play_lineups(GERMAN, lineups, game_seeds(4, 2))
    assert reason in error.value.reason
    assert error.value.seat == 2
    assert Game.replay(error.value.replay).actor == 2


def test_an_agent_can_be_registered_once() -> None:
    register("test-first", First)
    assert "test-first" in names()
    assert make("test-first").name == "test-first"
    with pytest.raises(ValueError, match="test-first:speed=3: "):
        make("test-first:speed=3")
    with pytest.raises(ValueError, match="an agent 'test-first' already"):
        register("test-first", First)
    with pytest.raises(ValueError, match="without colon"):
        register("a:b", First)
    del registry._FACTORIES["test-first"]


def test_agents_and_personas_are_read_in_any_case_and_suggested() -> None:
    assert make("Expert:inference=none").name == "expert:inference=none"
    assert make("ISMCTS:iterations=9,persona=Builder").name == "ismcts:iterations=9,persona=Builder"
    for spec, near in (("exprt", "expert"), ("ismcts:persona=buildr", "builder"), ("ismcts:iteration=3", "iterations")):
        with pytest.raises(ValueError, match=f"did you mean '{near}'"):
            make(spec)


@pytest.fixture
def forget() -> Iterator[None]:
    factories, aliases = dict(registry._FACTORIES), dict(registry._ALIASES)
    yield
    for table, kept in ((registry._FACTORIES, factories), (registry._ALIASES, aliases)):
        table.clear()
        table.update(kept)
    registry._FILES.clear()


@pytest.mark.usefixtures("forget")
def test_an_alias_plays_everywhere_under_its_name() -> None:
    alias("mine", "ismcts:iterations=5")
    assert "mine" in names()
    agent = make("Mine")
    assert (agent.name, agent.row["search"]["iterations"][0]) == ("mine", 5)
    lineups, seeds = [["mine", "random", "expert", "mine"]], game_seeds(1, 1)
    spelled = [[name.replace("mine", "ismcts:iterations=5") for name in lineups[0]]]
    assert (play_lineups(GERMAN, lineups, seeds) == play_lineups(GERMAN, spelled, seeds)).all()
    env = gymnasium.make("citadels_env:Citadels-v0", opponents="mine")
    env.reset(seed=1)
    batch = SeatedBatch(GERMAN, 2, opponents={"mine": 0.5, "calm=expert:inference=none": 0.5})
    assert sorted(agent.name for agent in batch.agents) == ["calm", "mine"]
    assert "calm" not in names()  # a name given in passing is not kept by `make`
    alias("mine", "random")
    alias("yours", "mine")
    alias("mine", "expert")
    assert registry.spec_of("yours") == "random"
    for name, spec, message in (
        ("expert", "random", "an agent 'expert' already"),
        ("a:b", "random", "without colon"),
        ("x", "exprt", "did you mean 'expert'"),
    ):
        with pytest.raises(ValueError, match=message):
            alias(name, spec)
    with pytest.raises(ValueError, match="mine stands for expert and takes no further options"):
        make("mine:inference=none")


@pytest.mark.usefixtures("forget")
def test_commas_part_agents_options_and_names() -> None:
    text = "random,mine=network:file=a,choice=sample, ismcts:iterations=2,persona=expert,calm=expert:inference=none,b=random"
    assert registry.split_specs(text) == (
        "random",
        "mine=network:file=a,choice=sample",
        "ismcts:iterations=2,persona=expert",
        "calm=expert:inference=none,b=random",  # an option, for what it looks like
    )
    assert registry.split_specs("a=random,b=expert") == ("a=random", "b=expert")


@pytest.mark.usefixtures("forget")
def test_a_file_of_agents_is_run_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("from citadels_agents import make, register\nregister('own-one', lambda: make('random'))\n")
    first = load_agents(file)
    assert load_agents(file) == first
    assert "own-one" in names()
    file.write_text(file.read_text().replace("own-one", "own-two"))
    assert load_agents(file) != first
    assert "own-two" in names() and "own-one" not in names()
    file.write_text(file.read_text() + "1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        load_agents(file)
    assert "own-two" not in names()
    with pytest.raises(ValueError, match="there is no Python file"):
        load_agents(tmp_path / "missing.py")


def test_line_ups_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="a line-up has 4 agents, not 2"):
        play_lineups(GERMAN, [["random", "random"]], game_seeds(1, 1))
    with pytest.raises(ValueError, match="1 line-ups, but 2 seeds"):
        play_lineups(GERMAN, [["random"] * 4], game_seeds(1, 2))
    with pytest.raises(ValueError, match="nobody has anything to answer"):
        View(_some(Game(GERMAN, 1), 5000))


def test_a_determinised_game_tells_neither_the_seed_nor_what_was_drafted():
    game = Game(GERMAN, seed=77)
    while game.question == "DRAFT":
        game.play(game.legal_indices()[0])
    for world in (View(game, seed=5).determinise(6), game.redeal(1, 5)):
        assert world.seed != 77
        assert world.log == []
        assert world._steps["seed"][0] != 77
    assert len(game.log) > 0


@pytest.mark.parametrize("value", [np.nan, -np.inf, -1e9])
def test_the_search_answers_legally_whatever_numbers_reach_the_kernel(value: float) -> None:
    """`make` refuses such numbers; the search must not read outside its tree even so."""
    game = _some(Game(GERMAN, 5), 30)
    for name in ("exploration", "widening"):
        agent = make("ismcts:iterations=200,opponents=search")
        agent.row["search"][name] = value
        assert agent.act(View(game, 3)) in game.legal_indices()
    agent = make("ismcts:iterations=100")
    agent.row["w"]["printed"] = agent.row["w"]["role"] = value
    assert agent.act(View(game, 3)) in game.legal_indices()


def test_a_factory_that_makes_no_agent_is_an_error_of_the_spec() -> None:
    register("test-nothing", lambda: None)
    try:
        with pytest.raises(AgentSpecError, match="test-nothing"):
            make("test-nothing")
    finally:
        del registry._FACTORIES["test-nothing"]
    with pytest.raises(AgentSpecError, match="something to call, not 3"):
        register("test-nothing", 3)  # type: ignore[arg-type]
    with pytest.raises(AgentSpecError, match="unlike None"):
        register(None, First)  # type: ignore[arg-type]
