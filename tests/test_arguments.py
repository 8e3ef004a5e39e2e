"""Whatever a user gives: it works, or one clear error names the argument and the value, and nothing has changed."""

import copy
import json
import math
import pickle
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from citadels_agents import Collector, SeatedBatch, View, make, play_games, play_lineups, play_to_end, registry, specs
from citadels_agents.envs.single import CitadelsEnv
from citadels_agents.envs.vector import CitadelsVectorEnv
from citadels_env import (
    AMERICAN,
    GERMAN,
    AgentSpecError,
    Batch,
    CitadelsError,
    Game,
    IllegalActionError,
    InvalidArgumentError,
    NotationError,
    PositionError,
    Rules,
    RulesError,
    RulesWarning,
    citadels_v0,
)
from citadels_env.checks import shown
from citadels_env.position import KEYS, PLAYER_KEYS
from citadels_experiments import cli, tuning, value
from citadels_experiments.learning.games import KEYS as GAMES_KEYS
from citadels_experiments.learning.games import Games
from citadels_experiments.learning.settings import DEFAULTS
from citadels_experiments.learning.training import TABLES, Training
from citadels_experiments.study import Study
from citadels_experiments.tournament import Tournament

DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]

ODD = [
    math.nan, math.inf, -math.inf, -1, -1.0, 0.5, 10**30, -(10**30), 10**400, 2.0, True, False, None, "", "text", "nan", b"text", 1j,
    [], [1.5], [None], ["x", "x"], [["Palace"]], [math.nan], (), {}, {"x": math.nan}, {1: 2}, set(), object(), np.bool_(True),
    np.float64("nan"), np.int64(-5), np.zeros(3), np.zeros((2, 2), int), np.array(["x"]), DEEP, "x" * 10_000, "\u00b2",
]  # fmt: skip


class Reached(Exception):  # noqa: N818
    """The arguments were accepted, and what would take long is about to begin."""


def long_work(*_: Any, **__: Any) -> None:
    raise Reached


def refused(call: Callable[..., Any], argument: str, odd: Any, *, names: str = "") -> CitadelsError | None:
    """The error of a call, None if it works; any other kind of error fails the test."""
    try:
        call(odd)
    except Reached:
        return None
    except CitadelsError as error:
        text = str(error)
        assert len(text) < 2500, text
        told = [shown(odd)[:60], *(shown(part).strip("'") for part in parts(odd)), type(odd).__name__, str(getattr(odd, "dtype", "?"))]
        told += ["an object of type", "not 2"] if isinstance(odd, list) else []  # nested without end; a list of two
        told += EMPTY if not isinstance(odd, np.ndarray) and (odd is None or odd == "" or parts(odd) == []) else []
        told += [str(odd)[:40].strip()] if isinstance(odd, str | np.integer) else []
        assert any(part in text for part in told), f"{argument}={shown(odd)}: {text}"
        assert any(name in text for name in (argument, *filter(None, names.split("|")))), f"{argument}={shown(odd)}: {text}"
        return error
    return None


# How a message may speak of nothing at all.
EMPTY = [
    "not 0", "but 0", "has 0", "are 0", "not ()", "not []", "[] is none", "not none", "two agents or more", "one persona or more",
    "at least one", "is empty", "shape (0,)", "this is no JSON", "JSON object", "of rank", "after which to stop",
]  # fmt: skip


def parts(odd: Any) -> list[Any]:
    """What is in a container."""
    inside = [*odd, *odd.values()] if isinstance(odd, dict) else list(odd) if isinstance(odd, list | tuple | set | np.ndarray) else []
    return inside + [word for one in inside if isinstance(one, list) for word in one if isinstance(word, str)]


BATCH = SeatedBatch(GERMAN, 2, seed=1)
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    # name: what is called, the arguments that are varied with good values, other words that a message may name instead
    "Rules": (Rules, {f.name: getattr(GERMAN, f.name) for f in fields(Rules)}, "role|district|smithy"),
    "Game": (Game, {"rules": GERMAN, "seed": 0}, ""),
    "Batch": (
        Batch,
        {"rules": GERMAN, "num_games": 2, "seed": 0, "rewards": "win", "auto_reset": True, "threads": 1, "compact": False},
        "",
    ),
    "SeatedBatch": (
        SeatedBatch,
        {
            "rules": GERMAN, "num_games": 2, "seed": 0, "rules_shares": [1.0], "opponents": "random", "own_seat": 0, "policies": (),
            "rewards": "win", "auto_reset": True, "threads": 1, "compact": False, "final_observations": False,
        },
        "agent|option",
    ),
    "Collector": (Collector, {"batch": BATCH, "steps": 3, "gamma": 1.0, "lambda_": 0.9, "learning": [0], "seed": 0}, ""),
    "CitadelsEnv": (
        CitadelsEnv,
        {
            "rules": GERMAN, "num_players": 4, "opponents": "random", "seat": 0, "rewards": "win", "mask_in": "obs", "compact": False,
            "illegal": "raise", "render_mode": "ansi",
        },
        "players|agent|option",
    ),
    "CitadelsVectorEnv": (
        CitadelsVectorEnv,
        {
            "num_envs": 2, "rules": GERMAN, "num_players": 4, "opponents": "random", "seat": 0, "rewards": "win", "mask_in": "obs",
            "compact": False, "illegal": "raise", "render_mode": "ansi", "autoreset_mode": "NEXT_STEP", "threads": 1, "copy": True,
        },
        "players|agent|option",
    ),
    "raw_env": (
        citadels_v0.raw_env,
        {"rules": GERMAN, "num_players": 4, "rewards": "win", "mask_in": "obs", "compact": False, "render_mode": "ansi"},
        "players",
    ),
    "play_games": (play_games, {"rules": GERMAN, "agents": "random", "num_games": 2, "seed": 0, "threads": 1, "rotate": False}, "option"),
    "play_lineups": (play_lineups, {"rules": GERMAN, "lineups": [["random"] * 4], "seeds": [1], "threads": 1}, "line-up|agent|seed"),
    "belief": (registry.belief, {"game": Game(GERMAN, 1), "seat": 0, "level": "none", "persona": "expert"}, ""),
    "View": (View, {"game": Game(GERMAN, 1), "seed": 0}, ""),
    "Study": (
        Study,
        {"rules": GERMAN, "sets": (GERMAN.roles,), "agents": ("random",), "games": 2, "seed": 0, "paired": False},
        "study|role|agent|rank",
    ),
    "Tournament": (
        Tournament,
        {"rules": GERMAN, "agents": ("random", "expert"), "design": "both", "blocks": 2, "seed": 0, "precision": 0.1, "fields": ()},
        "agent",
    ),
    "tune": (
        tuning.tune,
        {"start": "expert", "field": ("heuristic",), "generations": 1, "population": 4, "games": 8, "seed": 1, "sigma": 0.5, "threads": 1,
         "duel": False},
        "",
    ),
    "fit": (value.fit, {"persona": "expert", "games": 10, "seed": 1}, "agent|option"),
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def nothing_long() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "tuned_entries", long_work)
        patch.setattr(value, "sample", long_work)
        yield


ARGUMENTS = [(name, argument) for name, (_, good, _) in CALLS.items() for argument in good]


@pytest.mark.filterwarnings("ignore::citadels_env.RulesWarning", "ignore:.*no render mode")
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS, ids=[f"{name}-{argument}" for name, argument in ARGUMENTS])
def test_every_argument_works_or_is_refused_by_name_and_value(name: str, argument: str) -> None:
    call, good, names = CALLS[name]
    for odd in ODD:
        if name in ("raw_env", "Rules") and argument in ("rules",) and odd is None:
            continue
        refused(lambda odd: call(**{**good, argument: odd}), argument, odd, names=names)


@pytest.mark.filterwarnings("ignore::citadels_env.RulesWarning")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([which for which in ARGUMENTS if which[0] in ("Rules", "Batch", "SeatedBatch", "Game", "Tournament", "tune")]),
    st.one_of(
        st.integers(), st.floats(), st.text(max_size=20), st.binary(max_size=5), st.booleans(), st.none(), st.complex_numbers(),
        st.lists(st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.none(), st.lists(st.text(max_size=3))), max_size=4),
        st.dictionaries(st.text(max_size=3), st.floats(), max_size=3),
    ),
)  # fmt: skip
def test_anything_at_all_works_or_is_refused_by_name_and_value(which: tuple[str, str], odd: Any) -> None:
    name, argument = which
    if argument in ("num_games", "blocks") and isinstance(odd, int) and odd > 100:
        odd = 10**12
    call, good, names = CALLS[name]
    refused(lambda odd: call(**{**good, argument: odd}), argument, odd, names=names)


# --- what holds a game: nothing has changed after a refusal ------------------------------------------


def frozen(thing: Any) -> bytes:
    return pickle.dumps(thing)


def _started(env: Any) -> Any:
    env.reset(seed=1)
    return env


HOLDERS: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
    # what is made, and its methods with the name of their argument
    "Game": (
        lambda: Game(GERMAN, 1),
        {"step": "action", "play": "action", "describe": "action", "hand": "seat", "city": "seat", "museum": "seat", "roles": "seat",
         "revealed": "seat", "observation": "seat"},
    ),
    "Batch": (lambda: Batch(GERMAN, 3, 1), {"step": "answers", "observe": "seats", "deal": "seed"}),
    "SeatedBatch": (lambda: SeatedBatch(GERMAN, 3, 1), {"step": "answers", "observe": "seats", "deal": "seed", "deal_in": "places"}),
    "CitadelsEnv": (lambda: _started(CitadelsEnv(opponents="random")), {"step": "action"}),
    "CitadelsVectorEnv": (lambda: _started(CitadelsVectorEnv(3, opponents="random")), {"step": "action"}),
    "raw_env": (lambda: _started(citadels_v0.raw_env()), {"step": "action", "load_state": "state"}),
    "env": (lambda: _started(citadels_v0.env()), {"step": "action"}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "method"), [(name, method) for name, (_, methods) in HOLDERS.items() for method in methods])
def test_a_refused_call_changes_nothing(name: str, method: str) -> None:
    made, methods = HOLDERS[name]
    fresh = made()
    before = frozen(fresh)
    for odd in ODD:
        if method == "observation" and odd is None:
            continue
        thing = pickle.loads(before)
        error = refused(getattr(thing, method), methods[method], odd, names="seat|places|legal answer")
        if error is not None:
            assert frozen(thing) == frozen(pickle.loads(before)), odd


@pytest.mark.parametrize("name", ["CitadelsEnv", "CitadelsVectorEnv", "raw_env", "env"])
def test_every_environment_refuses_the_same_seeds_with_the_same_error(name: str) -> None:
    env = HOLDERS[name][0]()
    before = frozen(env)
    for odd in ODD:
        if odd is None or (name == "CitadelsVectorEnv" and isinstance(odd, list | tuple | np.ndarray)):
            continue
        thing = pickle.loads(before)
        with pytest.raises(InvalidArgumentError, match=r"a seed must be a whole number from 0 to \S+( - 1)?, not "):
            thing.reset(seed=odd)
        assert frozen(thing) == frozen(pickle.loads(before))


@pytest.mark.parametrize("odd", [True, 0.0, 1.0, np.bool_(True), 10**30, -1, math.nan, None, [0]], ids=repr)
def test_an_action_is_a_whole_number_everywhere(odd: Any) -> None:
    for name in ("Game", "CitadelsEnv", "raw_env", "env"):
        with pytest.raises(IllegalActionError, match="not a legal answer of"):
            HOLDERS[name][0]().step(odd)
    with pytest.raises(IllegalActionError, match="not a legal answer of player 0"):
        Game(GERMAN, 1).play(odd)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint16, np.array], ids=lambda kind: kind.__name__)
def test_whole_numbers_of_every_type_are_actions(kind: Any) -> None:
    for name in ("Game", "CitadelsEnv", "raw_env", "env"):
        thing, plain = HOLDERS[name][0](), HOLDERS[name][0]()
        game = thing if name == "Game" else thing.unwrapped.game
        action = int(game.legal_indices()[0])
        assert action < 128
        thing.step(kind(action))
        plain.step(action)
        assert str(thing if name == "Game" else thing.unwrapped.game) == str(plain if name == "Game" else plain.unwrapped.game)


# --- kinds of errors -----------------------------------------------------------


@pytest.mark.parametrize("odd", ODD, ids=shown)
def test_every_kind_of_input_has_its_error(odd: Any) -> None:
    with pytest.raises(NotationError):
        Game.replay(odd)
    if not isinstance(odd, str) or odd not in registry.names():
        with pytest.raises(AgentSpecError):
            make(odd)
    with pytest.raises(RulesError):
        Rules.from_json(odd)
    if not isinstance(odd, dict) or odd:
        with pytest.raises(PositionError):
            Game.from_position(GERMAN, odd)
    if odd is not None:
        with pytest.raises(InvalidArgumentError):
            citadels_v0.raw_env(odd)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"players": ' * 50_000, '{"players": 4, "players": 5}', '{"players": NaN}', "4", "null"])
def test_json_that_holds_no_rules_is_refused(text: str) -> None:
    with pytest.raises(RulesError, match=r"nested too deeply|stands there twice|NaN is no number|must be a JSON object"):
        Rules.from_json(text)
    for line in ("rules", "position"):
        with pytest.raises(NotationError, match="line 2"):
            Game.replay(f"citadels 1\n{line} {text}\nseed 1\n")
    env = _started(citadels_v0.raw_env())
    with pytest.raises(InvalidArgumentError, match="no state saved"):
        env.load_state(text.encode())


@pytest.mark.parametrize("key", [key for key in (*KEYS, *PLAYER_KEYS) if key != "tax_due"])
def test_positions_with_anything_in_them_work_or_are_refused(key: str) -> None:
    for odd in ODD:
        if key == "roles" and odd is None:
            continue
        others = {"roles": ["King"]} if key == "roles" else {}
        position = {"players": [{key: odd}, others, others, others]} if key in PLAYER_KEYS else {key: odd}
        refused(lambda _, position=position: Game.from_position(GERMAN, position), key, odd, names="player|roles|cards")


TEXTS = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "-0.5",
    "10000000000000000000",
    "1e400",
    "1.5",
    "True",
    "None",
    "[]",
    "\u00b2",
    "9" * 5000,
    "x,y=1",
    "0x10",
]
OPTIONS = [(name, option.name) for name, options in specs.OPTIONS.items() for option in options if name in ("expert", "ismcts", "network")]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_every_option_of_every_agent_works_or_is_refused_by_name_and_value(name: str, option: str) -> None:
    for text in TEXTS:
        refused(lambda text: make(f"{name}:{option}={text}"), option, text)
    for text in (f"{option}=", f"{option}=1,{option}=1", f"{option}", f"={option}", f"{option}=1,"):
        with pytest.raises(AgentSpecError, match=option):
            make(f"{name}:{text}")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40) | st.builds("ismcts:{}={}".format, st.sampled_from([o.name for o in specs.SEARCH]), st.text(max_size=20)))
@example("ismcts:iterations=50,exploration=nan")
def test_any_text_is_an_agent_or_a_wrong_spec(text: str) -> None:
    try:
        agent = make(text)
    except AgentSpecError:
        return
    assert callable(agent.act)
    for key in ("exploration", "widening"):
        assert 0 <= agent.row["search"][key][0] <= 1000


# --- training ------------------------------------------------------------------

RUN: dict[str, Any] = {"run": {"iterations": 1}}
ENTRIES = [(table, f.name) for table, kind in TABLES.items() for f in fields(kind) if f.name != "folder"] + [
    ("training", name) for name in DEFAULTS
]


@pytest.mark.filterwarnings("ignore::citadels_env.RulesWarning")
@pytest.mark.parametrize("key", GAMES_KEYS)
def test_games_of_a_training_work_or_are_refused_by_name_and_value(key: str) -> None:
    for odd in ODD:
        refused(lambda odd: Games.from_config({key: odd}), key, odd, names="games|player|role|district")


@pytest.mark.parametrize(("table", "entry"), ENTRIES)
def test_every_entry_of_a_training_file_works_or_is_refused_by_name_and_value(table: str, entry: str) -> None:
    if entry == "module":
        pytest.importorskip("ray")  # a text names a file with an RLModule
    for odd in ODD:
        config = copy.copy(RUN)
        config[table] = {**config.get(table, {}), entry: odd}
        refused(lambda _, config=config: Training.from_config(config), entry, odd, names="[run] needs|larger than")


# --- commands ------------------------------------------------------------------


def _commands(group: Any, words: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    found = []
    for name, command in group.commands.items():
        found += _commands(command, (*words, name)) if isinstance(command, click.Group) else [((*words, name), command)]
    return found


NUMBERS = [
    (words, option.opts[0])
    for words, command in _commands(cli.main)
    for option in command.params
    if isinstance(option, click.Option) and isinstance(option.type, click.types._NumberRangeBase | click.types._NumberParamTypeBase)
]


@pytest.mark.parametrize(("words", "option"), NUMBERS, ids=[" ".join((*words, option)) for words, option in NUMBERS])
@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "-1", "1e400", "many", ""])
def test_every_number_on_the_command_line_has_a_range(words: tuple[str, ...], option: str, text: str) -> None:
    result = CliRunner().invoke(cli.main, [*words, f"{option}={text}"])
    assert result.exit_code == 2, result.output
    assert f"Invalid value for '{option}'" in result.output


@pytest.mark.parametrize("text", ["2-99999999999", "1", "9", "5-3", "\u00b2", "4,", "-", ",", "2-", "0-4", "2-3-4"])
def test_numbers_of_players_on_the_command_line_are_2_to_8(text: str) -> None:
    result = CliRunner().invoke(cli.main, ["tournament", "random", "expert", f"--players={text}"])
    assert result.exit_code == 2
    assert "players" in result.output


# --- warnings ------------------------------------------------------------------

TOGETHER = ("Assassin", "Thief", "Magician", "Emperor", "Bishop", "Merchant", "Architect", "Warlord", "Queen")


def test_who_asks_for_emperor_and_queen_is_warned_once() -> None:
    with pytest.warns(RulesWarning, match="Emperor and Queen") as told:
        rules = GERMAN.with_(players=6, roles=TOGETHER)
    assert len(told) == 1
    assert told[0].filename == __file__
    for make_them in (
        lambda: Rules(players=6, roles=TOGETHER),
        lambda: Rules.from_json(rules.to_json()),
        lambda: rules.with_(roles=TOGETHER),
    ):
        with pytest.warns(RulesWarning, match="Emperor and Queen") as told:
            assert make_them() == rules
        assert told[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_the_librarys_own_constructors_warn_of_nothing() -> None:
    rules = GERMAN.quietly(players=6, roles=TOGETHER)
    assert rules.with_(city_size=7).roles == rules.with_(players=7).roles == rules.roles
    assert Rules.from_dict(json.loads(rules.to_json())) == rules
    assert Game.replay(Game(rules, 1).notation()).rules == rules
    study = Study(rules, (TOGETHER,), ("random",), 2)
    assert study.rules_of(0) == rules
    plan = Tournament(rules, ("random", "expert"))
    assert Tournament.from_parameters(plan.parameters).rules == rules
    env = _started(citadels_v0.raw_env(rules))
    env.load_state(env.save_state())
    _started(CitadelsEnv(rules, num_players=7))
    pickle.loads(pickle.dumps(rules))
    Games.from_config({"roles": "all", "players": 6})


def test_adding_a_district_that_the_base_deck_holds_already_is_said() -> None:
    with pytest.warns(RulesWarning, match=r"the Great Wall is in the base deck of these rules already; to add it changes nothing") as told:
        rules = AMERICAN.with_(add_districts=("Great Wall", "Museum"))
    assert told[0].filename == __file__
    assert rules.deck == AMERICAN.with_(add_districts=("Museum",)).deck
    with pytest.warns(RulesWarning, match="Great Wall"):
        GERMAN.with_(add_districts=("Great Wall",)).with_(great_wall_in_base=True)


@pytest.mark.filterwarnings("error")
def test_the_ready_made_choices_of_districts_keep_working_where_the_great_wall_is_in_the_base_deck() -> None:
    every = AMERICAN.with_(add_districts="all")
    assert len(every.add_districts) == 15
    assert every.deck["Great Wall"] == 1
    assert Rules.from_json(every.to_json()) == every
    for seed in range(60):
        rules = AMERICAN.with_(add_districts="recommended", districts_seed=seed)
        assert rules.deck["Great Wall"] == 1
        assert Rules.from_json(rules.to_json()) == rules.with_(players=4) == rules
    assert GERMAN.with_(add_districts=("Great Wall",)).deck["Great Wall"] == 1
    assert AMERICAN.with_(remove_districts=("Great Wall",), add_districts=("Great Wall",)).deck["Great Wall"] == 1


# --- policies ------------------------------------------------------------------


@pytest.mark.parametrize("odd", [math.nan, math.inf], ids=str)
@pytest.mark.parametrize("greedy", [True, False])
def test_a_policy_whose_logits_are_not_finite_is_named(odd: float, greedy: bool) -> None:
    def policy(seen: Any, masks: Any) -> Any:
        logits = np.zeros(masks.shape, np.float32)
        logits[0] = odd
        return logits, np.zeros(len(seen), np.float32)

    with pytest.raises(InvalidArgumentError, match="policy 'self' gives logits of legal answers that are not finite"):
        Collector(SeatedBatch(GERMAN, 3, 1), 4).collect([policy], greedy)
    with pytest.raises(InvalidArgumentError, match="policy 'self' gives logits of legal answers that are not finite"):
        play_to_end(SeatedBatch(GERMAN, 3, 1, auto_reset=False), [policy], greedy=greedy)
