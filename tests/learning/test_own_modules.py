"""Networks of one's own: an RLModule from a file, named in the file of a run."""

import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

ray = pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from ray.rllib.core.columns import Columns

from citadels_agents.networks import Network
from citadels_env import observation
from citadels_env.actions import N_ACTIONS
from citadels_env.errors import InvalidArgumentError
from citadels_experiments import cli
from citadels_experiments.learning.fast import fast_ppo
from citadels_experiments.learning.games import LEARNER, Games, spaces_of
from citadels_experiments.learning.module import MaskedModule, PolicyModule, check_exportable, check_module, module_class
from citadels_experiments.learning.multi_agent import stock_ppo
from citadels_experiments.learning.runner import BatchedEnvRunner
from citadels_experiments.learning.training import Trainer, Training, export_checkpoint

ROOT = Path(__file__).parents[2]
SHORT = {"rules": [{"players": 3, "max_rounds": 3}], "stagger": 20}  # games of about fifty answers

NETWORK = '''
"""A network with layer norm, dropout and a helper of its own."""

from dataclasses import dataclass

import torch
from torch import nn

from citadels_env.actions import N_ACTIONS
from citadels_experiments.learning.module import MaskedModule, PolicyModule
from citadels_experiments.learning.network import scaled


@dataclass
class Widths:
    body: int


class Own(PolicyModule):
    def setup(self):
        size, width = self.observation_space["observation"].shape[0], Widths(self.model_config.get("width", 8)).body
        dropout = nn.Dropout(self.model_config.get("dropout", 0.1))
        self.layers = nn.Sequential(nn.Linear(size, width), nn.LayerNorm(width), nn.Tanh(), dropout)
        self.heads = nn.Linear(width, N_ACTIONS + 1)

    def logits_and_values(self, observations):
        both = self.heads(self.layers(scaled(observations)))
        return both[:, :-1], both[:, -1]


class Wider(MaskedModule):
    """The standard layers, drawn in another way."""

    def setup(self):
        super().setup()
        nn.init.normal_(self.policy.weight, std=0.02)


class Leaky(MaskedModule):
    """The tensors of the standard network, another function."""

    def setup(self):
        super().setup()
        self.body[1] = nn.LeakyReLU(0.1)


class Recurrent(Own):
    def get_initial_state(self):
        return {"h": torch.zeros(8)}


class Narrow(Own):
    def logits_and_values(self, observations):
        logits, values = super().logits_and_values(observations)
        return logits[:, :-1], values


class Half(Own):
    def logits_and_values(self, observations):
        logits, values = super().logits_and_values(observations)
        return logits.half(), values


class Column(Own):
    def logits_and_values(self, observations):
        logits, values = super().logits_and_values(observations)
        return logits, values[:, None]


class Alone(Own):
    def logits_and_values(self, observations):
        return super().logits_and_values(observations)[0]


class Stranger:
    pass
'''

RUN = """
[games]
rules = [{ players = 3, max_rounds = 3 }]
opponents = { self = 1, past = 1, random = 1 }
stagger = 20
[network]
module = "network.py:Own"
config = { width = 12 }
[training]
train_batch_size_per_learner = 256
minibatch_size = 64
num_epochs = 2
[league]
past = 2
every = 1
[evaluation]
opponents = ["random"]
games = 12
final_games = 15
every = 2
[run]
iterations = 4
num_games = 8
"""


@pytest.fixture
def files(tmp_path):
    """A folder with the file of a network and that of a run."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "network.py").write_text(NETWORK)
    (folder / "run.toml").write_text(RUN)
    return folder


@pytest.fixture
def start(ray_running):
    made = []

    def start(what, folder, **options):
        made.append(Trainer(what, folder, **options))
        return made[-1]

    yield start
    for trainer in made:
        trainer.close()


def plan(files, module="Own", **network):
    """The run with another class and other settings."""
    data = tomllib.loads(RUN)
    data["network"] = {"module": f"network.py:{module}", "config": network}
    return Training.from_config(data, files)


def build_of(kind, rows=3, **config):
    seen, actions = spaces_of(Games.from_config({"players": rows}))
    return kind(observation_space=seen, action_space=actions, model_config=config)


def weights_of(module):
    return {name: value.copy() for name, value in module.get_state().items()}


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


# --- the file of a run -------------------------------------------------------------------------------------------------


def test_the_path_of_a_module_is_relative_to_the_file_of_the_run(files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    training = Training.from_file(files / "run.toml")
    settings = training.network.settings()
    assert settings["module"].__name__ == "Own" and settings["model_config"] == {"width": 12}


def test_a_run_knows_its_module_by_name_class_and_content_and_not_by_its_place(files, tmp_path):
    before = Training.from_file(files / "run.toml").parameters()
    assert before["network"]["module"][:2] == ["network.py", "Own"] and before["network"]["config"] == {"width": 12}
    assert str(tmp_path) not in str(before)
    moved = files.rename(tmp_path / "elsewhere")
    assert Training.from_file(moved / "run.toml").parameters() == before
    (moved / "network.py").write_text(NETWORK + "\n# changed\n")
    assert Training.from_file(moved / "run.toml").parameters() != before


def test_runs_of_the_standard_network_are_described_as_before(files):
    data = tomllib.loads(RUN) | {"network": {"hidden": [16]}}
    assert Training.from_config(data).parameters()["network"] == {"hidden": [16], "bfloat16": False}


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({"module": "network.py"}, r"\[network\] module: a module is given as file.py:Class, not 'network.py'"),
        ({"module": ":Own"}, "a module is given as file.py:Class, not ':Own'"),
        ({"module": "missing.py:Own"}, "there is no Python file missing.py"),
        ({"module": "network.py:Missing"}, "network.py has no class Missing; its classes are Widths, Own, Wider, Leaky"),
        ({"module": "network.py:Stranger"}, "Stranger is no TorchRLModule with a method logits_and_values; derive it from .*PolicyModule"),
        ({"module": "broken.py:Own"}, r"broken.py cannot be run \(ZeroDivisionError: division by zero\)"),
        ({"module": "typo.py:Own"}, r"typo.py cannot be run \(SyntaxError"),
        ({"module": 3}, r"\[network\] module is a text, file.py:Class, not 3"),
        ({"module": "network.py:Own", "hidden": [16]}, r"\[network\] hidden is of the standard network"),
        ({"module": "network.py:Own", "bfloat16": True}, r"\[network\] bfloat16 is of the standard network"),
        ({"config": {"width": 3}}, r"\[network\] config is the model_config of a module"),
        ({"module": "network.py:Own", "config": 3}, r"\[network\] config is a table, not 3"),
        ({"module": "network.py:Own", "config": {"when": {1, 2}}}, r"\[network\] config holds numbers, texts"),
        ({"module": "network.py:Own", "folder": "."}, r"there is no entry of \[network\] 'folder'"),
    ],
)
def test_modules_that_cannot_be_are_refused_naming_entry_and_value(files, network, message):
    (files / "broken.py").write_text("1 / 0\n")
    (files / "typo.py").write_text("class Own(\n")
    with pytest.raises(ValueError, match=message):
        Training.from_config(tomllib.loads(RUN) | {"network": network}, files)


def test_a_file_is_run_once_and_again_when_it_has_changed(files):
    first, _ = module_class("network.py:Own", files)
    assert module_class("network.py:Own", files)[0] is first
    (files / "network.py").write_text(NETWORK.replace("nn.Tanh()", "nn.ReLU()"))
    assert module_class("network.py:Own", files)[0] is not first


# --- what a module has to offer ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Recurrent", r"Recurrent is recurrent \(get_initial_state\(\) is not empty\), but the fast path keeps no states"),
        ("Narrow", rf"Narrow.logits_and_values must return logits float32 of shape \(1, {N_ACTIONS}\) for 1 observations"),
        ("Half", r"Half.logits_and_values must return logits float32 of shape .*, not float16"),
        (
            "Column",
            r"Column.logits_and_values must return values float32 of shape \(1,\) for 1 observations, not .* \(1, 1\)",
        ),
        ("Alone", r"Alone.logits_and_values must return logits and values, two tensors, not Tensor"),
    ],
)
def test_modules_that_cannot_play_are_refused_when_the_runner_is_built(files, name, message):
    found, _ = module_class(f"network.py:{name}", files)
    with pytest.raises(InvalidArgumentError, match=message):
        BatchedEnvRunner(config=fast_ppo(SHORT, module=found, num_games=2), worker_index=0)


def test_a_recurrent_module_is_refused_before_a_run_begins(start, files, tmp_path):
    with pytest.raises(ValueError, match="Recurrent is recurrent"):
        start(plan(files, "Recurrent"), tmp_path / "run")


def test_a_module_without_the_method_is_refused_on_the_fast_path():
    with pytest.raises(InvalidArgumentError, match="needs a method logits_and_values"):
        check_module(torch.nn.Linear(1, 1), 3)
    with pytest.raises(NotImplementedError, match="PolicyModule needs a method logits_and_values"):
        check_module(build_of(PolicyModule), 3)


def test_learner_and_runner_see_the_same_logits_and_values(files):
    module = build_of(module_class("network.py:Own", files)[0], dropout=0.0)
    seen = torch.from_numpy(np.random.default_rng(1).integers(0, 3, (5, observation.size(3)), np.uint8))
    logits, values = module.logits_and_values(seen)
    legal = torch.tensor([[3, 7, -1], [0, 1, 2], [9, -1, -1], [N_ACTIONS - 1, 4, -1], [5, 6, -1]], dtype=torch.int16)
    batch = {Columns.OBS: {"observation": seen, "legal": legal}}
    given = module.forward_train(batch)
    for row in range(5):
        for k, answer in enumerate(legal[row].tolist()):
            expected = logits[row, answer] if answer >= 0 else -1e9
            assert float(given[Columns.ACTION_DIST_INPUTS][row, k]) == pytest.approx(float(expected))
    assert torch.equal(module.compute_values(batch, embeddings=given[Columns.EMBEDDINGS]), values)
    assert torch.equal(module.compute_values(batch), values)
    masks = torch.zeros((5, N_ACTIONS), dtype=torch.int8)
    masks[:, 3] = 1
    stock = module.forward_inference({Columns.OBS: {"observation": seen, "action_mask": masks}})[Columns.ACTION_DIST_INPUTS]
    assert torch.equal(stock[:, 3], logits[:, 3]) and bool((stock[:, 4] == -1e9).all())


def test_the_runner_asks_without_dropout(files):
    runner = BatchedEnvRunner(config=fast_ppo(SHORT, module=module_class("network.py:Own", files)[0], num_games=2), worker_index=0)
    assert not runner.module[LEARNER].training


# --- training --------------------------------------------------------------------------------------------------------------


def test_a_run_trains_its_module_evaluates_it_and_goes_on_as_if_never_stopped(start, files, tmp_path):
    whole = start(plan(files, width=12), tmp_path / "whole")
    before = weights_of(whole.algorithm.env_runner.module[LEARNER])
    rows = whole.run()
    assert [row["games"] for row in rows] == [15]
    after = weights_of(whole.algorithm.env_runner.module[LEARNER])
    assert after["heads.weight"].shape == (N_ACTIONS + 1, 12) and not same(before, after)
    assert "heads.weight" in whole.not_exported and not (tmp_path / "whole" / "network.safetensors").exists()
    # past versions are frozen copies, of which the newest is what was learned
    assert whole.snapshots == 4 and same(weights_of(whole.algorithm.env_runner.module["past_1"]), after)
    assert not same(weights_of(whole.algorithm.env_runner.module["past_0"]), after)

    half = plan(files, width=12)
    start(replace(half, run=replace(half.run, iterations=2)), tmp_path / "parts").run()
    resumed = start(half, tmp_path / "parts")
    assert resumed.resumed and resumed.iteration == 2
    resumed.run()
    assert same(weights_of(resumed.algorithm.env_runner.module[LEARNER]), after)

    with pytest.raises(ValueError, match="holds a training run with other parameters"):
        start(plan(files, width=13), tmp_path / "parts")
    (files / "network.py").write_text(NETWORK + "\n# changed\n")
    with pytest.raises(ValueError, match="holds a training run with other parameters"):
        start(plan(files, width=12), tmp_path / "parts")

    with pytest.raises(ValueError, match=r"Own cannot be written as an agent's file: .*by an agent of your own"):
        export_checkpoint(tmp_path / "whole", tmp_path / "own.safetensors")
    assert not (tmp_path / "own.safetensors").exists()


def test_a_module_with_the_standard_layers_is_written_and_plays_by_its_file(start, files, tmp_path):
    trainer = start(plan(files, "Wider", hidden=[16], bfloat16=True), tmp_path / "run")
    trainer.run()
    assert trainer.not_exported is None
    written = Network.load(tmp_path / "run" / "network.safetensors")
    assert written.hidden == (16,) and written.training["config"]["network"]["module"][:2] == ["network.py", "Wider"]
    exported = Network.load(export_checkpoint(tmp_path / "run", tmp_path / "again.safetensors"))
    seen = np.random.default_rng(0).integers(0, 4, (20, observation.size(3)), np.uint8)
    assert np.array_equal(written(seen)[0], exported(seen)[0])


@pytest.mark.parametrize(
    ("name", "reason"),
    [("Leaky", "it computes something else of its tensors"), ("Own", "the tensors of a network with")],
)
def test_a_module_that_its_file_would_not_play_like_is_not_written(files, name, reason):
    module = build_of(module_class(f"network.py:{name}", files)[0])
    before = dict(vars(module))
    with pytest.raises(InvalidArgumentError, match=rf"{name} cannot be written as an agent's file: {reason}.*Derive {name} from"):
        check_exportable(module, 3)
    assert vars(module) == before


@pytest.mark.parametrize("bfloat16", [False, True])
def test_a_module_that_is_standard_but_for_its_name_is_written(files, bfloat16):
    module = build_of(module_class("network.py:Wider", files)[0], bfloat16=bfloat16)
    check_exportable(module, 3)
    assert module.bfloat16 is bfloat16 and module.training
    check_exportable(build_of(MaskedModule), 3)


def test_the_command_trains_a_module_and_says_that_there_will_be_no_file_of_it(ray_running, files, tmp_path):
    arguments = ["train", "--config", files / "run.toml", "--out", tmp_path / "run", "--iterations", 1]
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    assert "there will be no network.safetensors: Own cannot be written as an agent's file" in result.output
    result = CliRunner().invoke(cli.main, ["export", str(tmp_path / "run"), str(tmp_path / "own.safetensors")])
    assert result.exit_code == 1 and "Own cannot be written as an agent's file" in result.output


@pytest.mark.slow
def test_remote_runners_get_the_class_without_the_file(start, files, tmp_path):
    trainer = start(plan(files, width=12), tmp_path / "run", runners=2)
    trainer.step()
    names = trainer.algorithm.env_runner_group.foreach_env_runner(
        lambda runner: type(runner.module["learner"]).__name__, local_env_runner=False
    )
    assert names == ["Own", "Own"]


@pytest.mark.slow
def test_a_checkpoint_is_read_where_the_file_is_not(start, files, tmp_path):
    trainer = start(plan(files, width=12), tmp_path / "run")
    trainer.run()
    (checkpoint,) = (tmp_path / "run").glob("checkpoint-*")
    (files / "network.py").unlink()
    code = (
        "import sys; from ray.rllib.core.rl_module.rl_module import RLModule\n"
        f"module = RLModule.from_checkpoint({str(checkpoint / 'learner_group' / 'learner' / 'rl_module' / LEARNER)!r})\n"
        "print(type(module).__name__, module.heads.weight.shape[1])\n"
    )
    paths = os.pathsep.join(str(ROOT / name) for name in (".", "agents", "experiments"))
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["Own", "12"], done.stderr


@pytest.mark.slow
def test_the_same_module_is_trained_by_rllibs_own_runner(ray_running, files):
    found, _ = module_class("network.py:Own", files)
    config = stock_ppo(SHORT, module=found, model_config={"width": 12}, train_batch_size_per_learner=200, minibatch_size=100, num_epochs=1)
    algorithm = config.env_runners(num_env_runners=0).build_algo()
    try:
        result = algorithm.train()
        assert np.isfinite(result["learners"][LEARNER]["policy_loss"])
    finally:
        algorithm.stop()
