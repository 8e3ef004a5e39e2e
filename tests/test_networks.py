"""Trained networks as files, and the agent that plays them with NumPy alone."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save

from citadels_agents import AgentError, SeatedBatch, View, make, play_games, play_to_end
from citadels_agents.networks import Network, NetworkAgent, files, player, save_network
from citadels_agents.rollout import Collector
from citadels_env import FRENCH, GERMAN, AgentSpecError, Batch, Game, observation
from citadels_env.actions import N_ACTIONS
from citadels_env.batch import game_seeds
from citadels_experiments import tournament
from invariants import random_answers, random_rules
from test_house import modules_after

RULES = (GERMAN, FRENCH.with_(add_districts="all"))


def tensors_of(rows: int = 4, hidden: tuple[int, ...] = (16, 8), seed: int = 0) -> dict[str, Any]:
    """A network of random numbers."""
    rng = np.random.default_rng(seed)
    layers = [*(f"body.{2 * k}" for k in range(len(hidden))), "policy", "value"]
    outputs, tensors, inputs = [*hidden, N_ACTIONS, 1], {}, observation.size(rows)
    for layer, size in zip(layers, outputs, strict=True):
        tensors[f"{layer}.weight"] = rng.normal(0, inputs**-0.5, (size, inputs)).astype(np.float32)
        tensors[f"{layer}.bias"] = rng.normal(0, 0.1, size).astype(np.float32)
        inputs = size if layer.startswith("body") else inputs
    return tensors


def written(path: Path, rows: int = 4) -> Path:
    return save_network(path / f"{rows} rows", tensors_of(rows), rules=RULES, rows=rows)


def positions(rules: Any, games: int, answers: int, seed: int = 0) -> list[Game]:
    """Games in which some random answers were given, none of them over."""
    rng, found = np.random.default_rng(seed), []
    for k in range(games):
        game = Game(rules, seed + k)
        for _ in range(answers * k // games):
            if not game.over:
                game.play(int(rng.choice(game.legal_indices())))
        found += [] if game.over else [game]
    return found


# --- files ---------------------------------------------------------------------


def test_a_network_and_all_that_is_said_of_it_come_back_from_its_file(tmp_path):
    tensors, training = tensors_of(), {"command": "citadels train", "steps": 3, "win shares": {"random": [0.9, 0.88, 0.92]}}
    path = save_network(tmp_path / "deep" / "a.safetensors", tensors, rules=RULES, rules_shares=(1, 3), rows=4, training=training)
    network = Network.load(path)
    assert (network.rules, network.rules_shares, network.training) == (RULES, (1.0, 3.0), training)
    assert (network.rows, network.hidden, network.metadata["observation"]) == (4, (16, 8), observation.VERSION)
    seen = Batch(GERMAN, 5, compact=True).observations()
    assert all(np.array_equal(a, b) for a, b in zip(network(seen), Network(tensors, 4)(seen), strict=True))
    assert [file.name for file in path.parent.iterdir()] == ["a.safetensors"]
    with safe_open(path, framework="numpy") as file:  # any reader of the format finds the tensors
        assert set(file.keys()) == set(tensors)
        assert np.array_equal(file.get_tensor("policy.weight"), tensors["policy.weight"])


@pytest.mark.filterwarnings("ignore:the designer advises against")
def test_what_many_rules_agree_in_is_written_once(tmp_path):
    rules = [random_rules(seed) for seed in range(60)] + [GERMAN.with_(max_rounds=rounds) for rounds in range(1, 600)]
    assert Network.load(save_network(tmp_path / "a", tensors_of(8), rules=rules)).rules == tuple(rules)
    assert len(json.dumps(files._packed([GERMAN.with_(max_rounds=rounds) for rounds in range(1, 600)]))) < 30_000


def test_tensors_in_another_memory_order_are_written_as_they_read(tmp_path):
    tensors = {name: np.asfortranarray(tensor) for name, tensor in tensors_of().items()}
    seen = Batch(GERMAN, 5, compact=True).observations()
    path = save_network(tmp_path / "a", tensors, rules=RULES, rows=4)
    assert np.array_equal(Network.load(path).logits(seen), Network(tensors_of(), 4).logits(seen))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"body.2.weight": None}, "the tensors of a network with 1 hidden layers are body.0.weight, "),
        ({"surplus": np.zeros(1, np.float32)}, "policy.bias, value.weight, value.bias, not .*surplus"),
        ({"policy.bias": np.zeros(7, np.float32)}, r"policy.bias must be float32 of shape \(1353,\), not float32 of shape \(7,\)"),
        ({"body.2.weight": np.zeros((8, 17), np.float32)}, r"body.2.weight must be float32 of shape \(8, 16\)"),
        ({"value.bias": np.zeros(1)}, r"value.bias must be float32 of shape \(1,\), not float64"),
        ({"body.0.weight": np.zeros(3, np.float32)}, r"body.0.weight must be .* not float32 of shape \(3,\)"),
        ({"body.2.bias": np.full(8, np.nan, np.float32)}, "body.2.bias holds numbers that are not finite"),
        ({"value.bias": np.full(1, np.inf, np.float32)}, "value.bias holds numbers that are not finite"),
    ],
)
def test_wrong_tensors_are_refused_and_leave_the_file_that_is_there(tmp_path, change, message):
    path = written(tmp_path)
    before = path.read_bytes()
    tensors = {name: tensor for name, tensor in (tensors_of() | change).items() if tensor is not None}
    with pytest.raises(ValueError, match=message):
        save_network(path, tensors, rules=RULES, rows=4)
    with pytest.raises(ValueError, match=message):
        Network(tensors, 4)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_other_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(ValueError, match="2 to 8 player rows, not 9"):
        save_network(tmp_path / "a", tensors_of(), rules=RULES, rows=9)
    with pytest.raises(ValueError, match="rules_shares must be 2 shares"):
        save_network(tmp_path / "a", tensors_of(), rules=RULES, rows=4, rules_shares=(1.0,))
    with pytest.raises(TypeError, match="not JSON serializable"):
        save_network(tmp_path / "a", tensors_of(), rules=RULES, rows=4, training={"when": object()})
    assert list(tmp_path.iterdir()) == []


def refusal(path: Path) -> str:
    """What is said of a file that cannot be played."""
    with pytest.raises(ValueError, match=re.escape(path.name)) as caught:
        make(f"network:file={path}")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_that_are_no_networks_are_refused(tmp_path):
    path = tmp_path / "a"
    assert "there is no file" in refusal(path)
    path.mkdir()
    assert "there is no file" in refusal(path)
    for content in (b"", b"hello", b"\x00" * 100):
        (tmp_path / "b").write_bytes(content)
        assert "no safetensors file, or damaged" in refusal(tmp_path / "b")
    (tmp_path / "c").write_bytes(save(tensors_of()))
    assert "says nothing of Citadels" in refusal(tmp_path / "c")
    (tmp_path / "c").write_bytes(save(tensors_of(), {"format": '"citadels-network"', "format_version": "1"}))
    assert "its metadata lack library, observation, rows" in refusal(tmp_path / "c")
    (tmp_path / "c").write_bytes(save(tensors_of(), {"format": '"citadels-network"', "format_version": "2"}))
    assert "its format has version 2; this library reads version 1" in refusal(tmp_path / "c")


def test_a_file_of_another_observation_version_or_action_space_is_refused(tmp_path, monkeypatch):
    with monkeypatch.context() as other:
        other.setattr(observation, "VERSION", observation.VERSION + 1)
        path = written(tmp_path)
    now = observation.VERSION
    assert f"observations of version {now + 1}, but this library writes version {now}; play it with the library" in refusal(path)
    with monkeypatch.context() as other:
        other.setattr(files, "N_ACTIONS", 7)
        tensors = tensors_of() | {"policy.weight": np.zeros((7, 8), np.float32), "policy.bias": np.zeros(7, np.float32)}
        save_network(path, tensors, rules=RULES, rows=4)
    assert f"it knows 7 actions, but this library has {N_ACTIONS}" in refusal(path)


def test_a_file_with_numbers_that_are_not_finite_is_refused(tmp_path, monkeypatch):
    with monkeypatch.context() as careless:
        careless.setattr(np, "isfinite", lambda tensor: np.ones(1, bool))
        path = save_network(tmp_path / "a", tensors_of() | {"value.bias": np.full(1, np.nan, np.float32)}, rules=RULES, rows=4)
    assert "value.bias holds numbers that are not finite" in refusal(path)


@pytest.mark.parametrize("layer", ["body.0", "body.2", "policy", "value"])
def test_finite_but_absurd_weights_are_refused_by_name_wherever_they_come_from(tmp_path, monkeypatch, layer):
    """They would play nan: a sum beyond the largest float32 is infinite, and the next layer makes nan of it."""
    tensors = tensors_of() | {f"{layer}.weight": tensors_of()[f"{layer}.weight"] * np.float32(1e36)}
    assert all(np.isfinite(tensor).all() for tensor in tensors.values())
    with pytest.raises(ValueError, match=rf"{layer} has such large weights that it may reach \d"):
        Network(tensors, 4)
    with pytest.raises(ValueError, match=rf"{layer} has such large weights"):
        save_network(tmp_path / "a", tensors, rules=RULES, rows=4)
    with monkeypatch.context() as careless:
        careless.setattr(files, "LARGEST", np.inf)
        path = save_network(tmp_path / "a", tensors, rules=RULES, rows=4)
    assert f"{layer} has such large weights" in refusal(path)
    with pytest.raises(AgentSpecError, match=rf"network:file=.*cannot be played: {layer} has such large weights"):
        tournament.Tournament(GERMAN, (f"network:file={path}", "random"))


@pytest.mark.filterwarnings("error")
def test_the_largest_weights_that_are_taken_play_finite_numbers():
    tensors = {name: (np.sign(tensor) * np.float32(5e3)).astype(np.float32) for name, tensor in tensors_of().items()}
    game = Game(GERMAN, 3)
    logits, values = Network(tensors, 4)(np.full((1, observation.size(4)), 255, np.uint8))
    assert np.isfinite(logits).all() and np.isfinite(values).all()
    assert np.abs(logits).max() > 1e12
    chances = [chance for _, chance in NetworkAgent("large", Network(tensors, 4)).explain(game)]
    assert np.isfinite(chances).all()


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    return written(tmp_path_factory.mktemp("networks")).read_bytes()


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_says_the_same(content, tmp_path_factory, data):
    header = 8 + int.from_bytes(content[:8], "little")
    at = data.draw(st.integers(0, header) | st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        damaged = content[:at]
    else:
        damaged = content[:at] + bytes([content[at] ^ data.draw(st.integers(1, 255))]) + content[at + 1 :]
    path = tmp_path_factory.mktemp("damaged") / "a"
    path.write_bytes(damaged)
    refused, network = "", None
    try:
        network = Network.load(path)
    except ValueError as error:
        refused = str(error)
    assert "\n" not in refused
    if network:
        whole = path.with_name("whole")
        whole.write_bytes(content)
        assert network.metadata == Network.load(whole).metadata


# --- thinking ------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 9))
def test_the_compact_form_is_read_out_of_the_full_one(players):
    columns = player.compact_columns(players)
    for game in positions(GERMAN.with_(players=players), 20, 150):
        assert np.array_equal(game.observation()[columns], game.observation(compact=True))


def test_full_and_compact_observations_get_the_same_logits_and_values():
    network, games = Network(tensors_of(), 4), positions(GERMAN, 30, 100)
    full = network(np.stack([game.observation() for game in games]))
    compact = network(np.stack([game.observation(compact=True) for game in games]))
    assert full[0].shape == (len(games), N_ACTIONS) and full[1].shape == (len(games),)
    assert full[0].dtype == full[1].dtype == np.float32
    assert all(np.array_equal(a, b) for a, b in zip(full, compact, strict=True))


@pytest.mark.parametrize("hidden", [(16,), (16, 8), (4, 5, 6)])
def test_logits_and_values_are_those_of_the_formula_written_out(hidden):
    tensors = {name: tensor.astype(np.float64) for name, tensor in tensors_of(8, hidden).items()}
    network = Network(tensors_of(8, hidden), 8)
    for game in positions(RULES[1], 10, 100):
        x = np.log2(1.0 + game.observation())
        for k in range(len(hidden)):
            x = np.maximum(tensors[f"body.{2 * k}.weight"] @ x + tensors[f"body.{2 * k}.bias"], 0)
        logits, values = network(game.observation()[np.newaxis], game.mask()[np.newaxis])
        assert np.allclose(logits[0], tensors["policy.weight"] @ x + tensors["policy.bias"], atol=1e-5)
        assert np.allclose(values[0], tensors["value.weight"] @ x + tensors["value.bias"], atol=1e-5)
        legal = game.legal_indices()
        assert np.allclose(network.legal_logits(game.observation(), legal), logits[0, legal], atol=1e-5)


def test_observations_of_another_size_or_number_of_players_are_refused(tmp_path):
    network = Network(tensors_of(), 4)
    with pytest.raises(
        ValueError,
        match=rf"reads {observation.size(4)} entries, or those of the full form \({observation.size()}\), not {observation.size(3)}",
    ):
        network(np.zeros((2, observation.size(3)), np.uint8))
    with pytest.raises(ValueError, match=rf"a uint8 array \(n, size\), not float32 of shape \({observation.size(4)},\)"):
        network(np.zeros(observation.size(4), np.float32))
    mixed = np.stack([Game(GERMAN.with_(players=n)).observation() for n in (4, 6)])
    with pytest.raises(ValueError, match="games of 4 players only, not of 6"):
        network(mixed)
    with pytest.raises(AgentError, match="games of 4 players only, not of 3"):
        play_games(GERMAN.with_(players=3), [f"network:file={written(tmp_path)}", "random", "random"], 1)


# --- playing -------------------------------------------------------------------


def test_the_agent_takes_the_best_legal_answer_and_of_equals_the_first():
    tensors = tensors_of(8)
    random_agent = NetworkAgent("it", Network(tensors, 8))
    equal = {name: np.zeros_like(tensor) for name, tensor in tensors.items()}
    fair_agent = NetworkAgent("fair", Network(equal, 8))
    for seed in range(40):
        for game in positions(random_rules(seed), 2, 4 * seed, seed):
            view = View(game, seed)
            logits = random_agent.network.logits(game.observation()[np.newaxis])[0]
            assert random_agent.act(view) == np.where(game.mask(), logits, -np.inf).argmax()
            assert fair_agent.act(view) == game.legal_indices()[0]


def test_the_agent_explains_its_choice_with_the_probabilities_of_all_answers():
    agent = NetworkAgent("it", Network(tensors_of(), 4))
    for game in positions(GERMAN, 20, 100):
        explained = agent.explain(game)
        assert sorted(text for text, _ in explained) == sorted(game.legal())
        chances = [chance for _, chance in explained]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) == pytest.approx(1)
        assert game.describe(agent.act(View(game))) == explained[0][0]
    while not game.over:
        game.play(game.legal()[0])
    assert agent.explain(game) == []


def test_samples_follow_the_probabilities_and_the_seed_of_the_view():
    agent = NetworkAgent("it", Network(tensors_of(), 4), "sample")
    game = max(positions(GERMAN, 20, 100), key=lambda game: len(game.legal()))
    view, count = View(game), dict.fromkeys(game.legal(), 0)
    for seed in range(3000):
        view.seed = seed
        action = agent.act(view)
        assert action == agent.act(view)
        count[game.describe(action)] += 1
    assert len(count) >= 4
    for text, chance in agent.explain(game):
        assert count[text] == pytest.approx(3000 * chance, abs=5 * (3000 * chance * (1 - chance)) ** 0.5)


def test_a_choice_is_best_or_sample(tmp_path):
    path = written(tmp_path)
    with pytest.raises(ValueError, match="choice must be one of best, sample, not 'worst'"):
        make(f"network:file={path},choice=worst")
    with pytest.raises(ValueError, match="depth"):
        make(f"network:file={path},depth=3")
    agent = make(f"network:file={path},choice=sample")
    assert (agent.name, agent.rules, agent.training) == (f"network:file={path},choice=sample", RULES, {})


def test_a_file_that_is_written_anew_is_read_anew(tmp_path):
    path = written(tmp_path)
    before = make(f"network:file={path}")
    assert make(f"network:file={path}").network is before.network
    save_network(path, tensors_of(seed=1), rules=RULES, rows=4, training={"steps": 1})
    after = make(f"network:file={path}")
    assert after.training == {"steps": 1}
    assert after.fingerprint != before.fingerprint


def test_a_network_plays_line_ups_batches_and_tournaments(tmp_path):
    specs = [f"network:file={written(tmp_path, rows)}{choice}" for rows, choice in ((4, ""), (8, ",choice=sample"))]
    games = play_games(GERMAN, [*specs, "random", "heuristic"], 4, seed=5, rotate=True)
    assert np.array_equal(games, play_games(GERMAN, [*specs, "random", "heuristic"], 4, seed=5, rotate=True))
    assert (games["seat_decisions"] > 0).sum() == 16

    plan = tournament.Tournament(GERMAN, (*specs, "heuristic"), "mixed", 2)
    first = tournament.run(plan, tmp_path / "folder")
    assert not first["failed"].any()
    assert {*first["agent_0"]} == {*specs, "heuristic"}
    assert first.equals(tournament.run(plan, tmp_path / "folder"))


def test_as_agent_and_as_policy_of_a_batch_it_plays_the_same_games(tmp_path):
    """Against itself: asked game by game in its seats, or for all games together."""
    spec = f"network:file={written(tmp_path)}"
    network = make(spec).network

    def scores(opponents: Any, compact: bool) -> Any:
        batch = SeatedBatch(GERMAN, 6, 3, opponents=opponents, own_seat=0, auto_reset=False, compact=compact)
        return play_to_end(batch, [network], greedy=True)["scores"]

    alone = scores("self", True)
    assert len(np.unique(alone, axis=0)) > 1
    assert np.array_equal(alone, scores("self", False))
    assert np.array_equal(alone, scores([spec] * 3, True))


@pytest.mark.parametrize("choice", ["best", "sample"])
def test_an_opponent_network_of_a_batch_answers_all_games_at_once_as_it_does_one_by_one(tmp_path, monkeypatch, choice):
    specs = [f"network:file={written(tmp_path, rows)},choice={choice}" for rows in (4, 8)]
    rules = [GERMAN, FRENCH.with_(add_districts="all")]

    def play() -> tuple[Any, Any]:
        batch = SeatedBatch(rules, 8, 3, opponents=[*specs, "heuristic"], compact=True)
        for _ in range(30):
            batch.step(batch.masks().argmax(1))
        return batch.states.tobytes(), batch.games.tobytes()

    together = play()
    monkeypatch.setattr(NetworkAgent, "act_in", property())  # it has none: hasattr is false
    asked = []
    monkeypatch.setattr(NetworkAgent, "act", lambda self, view: asked.append(1) or one(self, view))

    def one(agent: NetworkAgent, view: View) -> int:
        found = agent.network.answers(
            view.observation[np.newaxis], view.mask[np.newaxis], game_seeds(view.seed, 1), agent.choice == "sample"
        )
        return int(found[0])

    assert play() == together
    assert len(asked) > 100


def test_a_collector_takes_a_network():
    rows, _ = Collector(SeatedBatch(GERMAN, 4, compact=True), 64).collect([Network(tensors_of(), 4)])
    assert np.isfinite(rows[0]["advantages"]).all() and len(rows[0]["actions"]) > 100


def test_a_network_plays_without_torch_and_ray(tmp_path):
    code = f"""
        from citadels_agents import View, make
        from citadels_env import GERMAN, Game
        game = Game(GERMAN)
        agent = make("network:file={written(tmp_path).as_posix()}")
        game.play(agent.act(View(game)))
        agent.explain(game)
    """
    loaded = modules_after("\n".join(line.strip() for line in code.splitlines()))
    assert "safetensors" in loaded
    assert not loaded & {"torch", "ray", "pandas", "citadels_experiments"}


def test_random_games_of_any_rules_are_played_through(tmp_path):
    """A network that reads full observations answers in every game."""
    network = Network(tensors_of(8), 8)
    games = Batch([random_rules(seed) for seed in range(20)], seed=1)
    for _ in range(30):
        masks = games.masks()
        logits, values = network(games.observations(), masks)
        assert np.isfinite(logits).all() and np.isfinite(values).all()
        games.step(random_answers(masks, np.random.default_rng(0)))
