"""A training run: its file, its folder, going on after any interruption, and the commands."""

import csv
import json
import math
import os
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from click.testing import CliRunner

ray = pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from citadels_agents import make, play_games
from citadels_agents.networks import Network
from citadels_env import GERMAN
from citadels_experiments import cli, folders
from citadels_experiments.learning import training as trainings
from citadels_experiments.learning.curves import learning_curve
from citadels_experiments.learning.evaluation import win_share
from citadels_experiments.learning.games import LEARNER, Games
from citadels_experiments.learning.training import Trainer, Training, config_file, export_checkpoint

ROOT = Path(__file__).parents[2]
PATHS = os.pathsep.join(str(ROOT / name) for name in (".", "agents", "experiments"))

# games of about fifty answers, a fragment of 32 answers each
TINY = """
[games]
rules = [{ players = 3, max_rounds = 3 }]
opponents = { self = 1, past = 1, random = 1 }
stagger = 20
[network]
hidden = [16]
[training]
train_batch_size_per_learner = 256
minibatch_size = 64
num_epochs = 2
[league]
past = 2
every = 1
[evaluation]
opponents = ["random", "heuristic"]
games = 12
final_games = 15
every = 2
[run]
iterations = 4
num_games = 8
"""


def config(**tables):
    """The configuration of TINY with other entries."""
    data = tomllib.loads(TINY)
    for table, entries in tables.items():
        data[table] = {**data.get(table, {}), **entries}
    return data


def plan(**tables):
    return Training.from_config(config(**tables))


def table(folder, name):
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


def without(row, *names):
    return {name: value for name, value in row.items() if name not in names}


def weights_of(module):
    return {name: value.copy() for name, value in module.get_state().items()}


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def tensors(file):
    from safetensors.numpy import load_file

    return load_file(file)


def learner_of(trainer, module=LEARNER):
    return trainer.algorithm.learner_group._learner.module[module].unwrapped().get_state()


@pytest.fixture
def start(ray_running):
    """Makes trainers, and closes them at the end."""
    made = []

    def start(what, folder, **options):
        made.append(Trainer(what, folder, **options))
        return made[-1]

    yield start
    for trainer in made:
        Thread(target=trainer.close).start()  # which waits most of a second for a thread of Ray's


@pytest.fixture(scope="module")
def finished(ray_running, tmp_path_factory):
    """The folder of a finished run, what its report was told, and the learner's weights after every iteration."""
    folder, told, weights = tmp_path_factory.mktemp("runs") / "run", [], []
    trainer = Trainer(plan(), folder)
    assert not trainer.resumed

    def report(row, rows):
        told.append((row, rows))
        weights.append(weights_of(trainer.algorithm.get_module(LEARNER)))

    last = trainer.run(report)
    trainer.close()
    return folder, told, weights, last


@pytest.fixture
def copied(finished, tmp_path):
    """A copy of the finished run."""
    return Path(shutil.copytree(finished[0], tmp_path / "run"))


# --- the file of a run ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quick", "four_players", pytest.param("many_rules", marks=pytest.mark.slow)])
def test_the_runs_that_come_along_can_be_trained(name):
    Training.from_file(config_file(name))


def test_entries_that_are_left_out_have_defaults():
    made = Training.from_config({"run": {"minutes": 2.5}})
    assert made.network.hidden == (256, 256) and made.evaluation.opponents == ("random", "heuristic")
    assert made.run == trainings.Run(minutes=2.5)
    assert made.parameters()["run"] == {"num_games": 128, "seed": 0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": {}}, "there is no table 'game'; there are games, training, network, league, evaluation, run"),
        ({"run": {"iteration": 3}}, r"no entry of \[run\] 'iteration'; there are iterations, minutes, num_games, seed"),
        ({"training": {"learning_rate": 1}}, r"no entry of \[training\] 'learning_rate'; there are .*lr"),
        ({"network": {"layers": 2}}, r"no entry of \[network\] 'layers'"),
        ({"games": {"player": 2}}, r"no entry of \[games\] 'player'"),
        ({"run": {"iterations": None, "minutes": None}}, r"\[run\] needs iterations or minutes"),
        ({"run": {"iterations": 0}}, r"\[run\] iterations must be a whole number from 1 to 1,000,000,000, not 0"),
        ({"run": {"iterations": "ten"}}, r"\[run\] iterations must be a whole number from 1 to 1,000,000,000, not 'ten'"),
        ({"run": {"iterations": True}}, r"\[run\] iterations .*, not True"),
        ({"run": {"minutes": "ten"}}, r"\[run\] minutes is a number above 0, not 'ten'"),
        ({"run": {"minutes": 0}}, r"\[run\] minutes is a number above 0, not 0"),
        ({"run": {"minutes": math.nan}}, r"\[run\] minutes is a number above 0, not nan"),
        ({"run": {"num_games": 0}}, r"\[run\] num_games .*, not 0"),
        ({"run": {"num_games": 1000}}, r"\[run\] num_games, 1000, is larger than .*train_batch_size_per_learner, 256"),
        ({"run": {"seed": -1}}, r"\[run\] seed .*, not -1"),
        ({"run": {"iterations": 10**19}}, r"\[run\] iterations .*, not 10000000000000000000"),
        ({"run": {"minutes": math.inf}}, r"\[run\] minutes is a number above 0, not inf"),
        ({"run": {"seed": 2**32}}, r"\[run\] seed .*, not 4294967296"),
        ({"network": {"hidden": [10**9]}}, r"\[network\] hidden .*, not \[1000000000\]"),
        ({"league": {"past": 10**9}}, r"\[league\] past .*, not 1000000000"),
        ({"run": {"seed": 1.5}}, r"\[run\] seed .*, not 1.5"),
        ({"network": {"hidden": "x"}}, r"\[network\] hidden is a list of widths .*, not 'x'"),
        ({"network": {"hidden": 256}}, r"\[network\] hidden .*, not 256"),
        ({"network": {"hidden": []}}, r"\[network\] hidden .*, not \[\]"),
        ({"network": {"hidden": [256, "x"]}}, r"\[network\] hidden .*, not \[256, 'x'\]"),
        ({"network": {"hidden": [0]}}, r"\[network\] hidden .*, not \[0\]"),
        ({"network": {"hidden": [16.0]}}, r"\[network\] hidden .*, not \[16.0\]"),
        ({"network": {"bfloat16": "yes"}}, r"\[network\] bfloat16 is true or false, not 'yes'"),
        ({"training": {"lr": -0.1}}, r"\[training\] lr is a number of at least 0, not -0.1"),
        ({"training": {"lr": "fast"}}, r"\[training\] lr is a number of at least 0, not 'fast'"),
        ({"training": {"lr": math.inf}}, r"\[training\] lr .*, not inf"),
        ({"training": {"lr": [[0, 1e-3]]}}, r"\[training\] lr is a number, or a list of \[steps, value\], .*, not \[\[0, 0.001\]\]"),
        ({"training": {"lr": [[5, 1e-3], [9, 0]]}}, r"\[training\] lr .* the first with 0 steps"),
        ({"training": {"lr": [[0, 1e-3], [9, -1]]}}, r"\[training\] lr is a number, or a list"),
        ({"training": {"lr": [[0, 1e-3], 5]}}, r"\[training\] lr is a number, or a list"),
        ({"training": {"gamma": 1.5}}, r"\[training\] gamma is a number from 0 to 1, not 1.5"),
        ({"training": {"lambda_": "x"}}, r"\[training\] lambda_ is a number from 0 to 1, not 'x'"),
        ({"training": {"clip_param": [[0, 1], [1, 1]]}}, r"\[training\] clip_param is a number of at least 0"),
        ({"training": {"num_epochs": 0}}, r"\[training\] num_epochs must be a whole number from 1 to 1,000, not 0"),
        ({"training": {"minibatch_size": 2.5}}, r"\[training\] minibatch_size .*, not 2.5"),
        ({"training": {"minibatch_size": 1024}}, r"\[training\] minibatch_size, 1024, is larger than .*, 256"),
        ({"evaluation": {"opponents": "random"}}, r"\[evaluation\] opponents is a list of names of agents, not 'random'"),
        ({"evaluation": {"opponents": [3]}}, r"\[evaluation\] opponents is a list of names of agents, not \[3\]"),
        ({"evaluation": {"opponents": ["nobody"]}}, r"\[evaluation\] opponents: there is no agent 'nobody'; the agents are random"),
        ({"evaluation": {"opponents": ["self"]}}, r"\[evaluation\] opponents: there is no agent 'self'"),
        (
            {"evaluation": {"opponents": ["network:file=none.safetensors"]}},
            r"\[evaluation\] opponents: .*there is no file .*none.safetensors",
        ),
        ({"evaluation": {"games": 0}}, r"\[evaluation\] games .*, not 0"),
        ({"evaluation": {"every": "x"}}, r"\[evaluation\] every .*, not 'x'"),
        ({"league": {"every": 0}}, r"\[league\] every .*, not 0"),
        ({"league": {"past": -1}}, r"\[league\] past .*, not -1"),
        ({"league": {"past": 0}}, r"'past' needs a place for past versions; set \[league\] past to 1 or more"),
        ({"games": {"opponents": "past"}, "league": {"past": 0}}, "'past' needs a place"),
        ({"games": {"opponents": ["past", "random"]}}, "'past' may stand alone or in a table of shares, not in a list"),
        ({"games": {"opponents": {"self": 1, "nobody": 1}}}, r"\[games\] opponents: there is no agent 'nobody'"),
        ({"games": {"opponents": "nobody"}}, r"\[games\] opponents: there is no agent 'nobody'"),
        ({"games": {"opponents": ["random"]}}, "3 players need 2 opponents, not 1: random"),
        ({"games": {"rewards": "gold"}}, "rewards is one of win, score, rank, not 'gold'"),
    ],
)
def test_impossible_runs_are_refused_naming_entry_and_value(changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        plan(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["games", "training", "network", "run"])
def test_what_should_be_a_table_must_be_one(name):
    with pytest.raises(ValueError, match=rf"entry of \[{name}\]: 5 is no table"):
        Training.from_config({**config(), name: 5})


def test_a_file_that_is_no_toml_is_named(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text("[run\niterations = 3")
    with pytest.raises(ValueError, match=r"broken.toml is no TOML: .*line 1"):
        Training.from_file(file)
    file.write_text(TINY + "minutes = -1")
    with pytest.raises(ValueError, match=r"broken.toml: \[run\] minutes is a number above 0, not -1"):
        Training.from_file(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"broken.toml: .*decode"):
        Training.from_file(file)


def test_a_configuration_is_a_file_or_one_that_comes_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config_file("quick") == trainings.CONFIGS / "quick.toml"
    (tmp_path / "quick").write_text("")
    assert config_file("quick") == Path("quick")
    with pytest.raises(ValueError, match=r"there is no file slow; those that come along are four_players, many_rules, quick"):
        config_file("slow")


# --- a run ----------------------------------------------------------------------------------------------------------


def test_a_run_writes_down_every_iteration_and_evaluation_once(finished):
    folder, told, _, last = finished
    progress = table(folder, "progress.csv")
    assert list(progress[0]) == [*trainings.PROGRESS, "check"]
    assert [int(row["iteration"]) for row in progress] == [1, 2, 3, 4]
    assert [int(row["steps"]) for row in progress] == [256, 512, 768, 1024]
    assert [float(row["seconds"]) for row in progress] == sorted(float(row["seconds"]) for row in progress)
    assert [int(row["past"]) for row in progress] == [1, 2, 2, 2]
    assert sum(int(row["games"]) for row in progress) > 5
    for name in ("entropy", "value_error", "policy_loss", "explained_variance", "divergence", "steps_per_second"):
        assert all(math.isfinite(float(row[name])) for row in progress)
    assert [{name: str(value) for name, value in row.items()} for row, _ in told] == [without(row, "check") for row in progress]
    evaluations = table(folder, "evaluations.csv")
    assert [(row["iteration"], row["opponents"], row["games"]) for row in evaluations] == [
        (iteration, opponents, games)
        for iteration, games in (("0", "12"), ("2", "12"), ("4", "15"))  # the last one, with more games, in place of that of iteration 4
        for opponents in ("random", "heuristic")
    ]
    for row in evaluations:
        assert -1e-9 <= float(row["low"]) - 1e-9 <= float(row["share"]) <= float(row["high"]) + 1e-9 <= 1 + 1e-9
        assert float(row["fair"]) == pytest.approx(1 / 3)
    assert [row["share"] for row in last] == [float(row["share"]) for row in evaluations[-2:]]
    assert [len(rows) for _, rows in told] == [0, 2, 0, 2]
    result = json.loads((folder / "result.json").read_text())
    assert (result["iteration"], result["steps"], result["evaluation"]) == (4, 1024, last)


def test_a_run_leaves_one_checkpoint_and_no_unfinished_file(finished):
    names = sorted(path.name for path in finished[0].iterdir())
    assert names == [
        ".lock", "checkpoint-000004", "evaluations.csv", "manifest.json", "network.safetensors", "progress.csv", "result.json",
        "tensorboard", "training.json",
    ]  # fmt: skip


def test_the_network_plays_by_its_file_and_knows_how_it_was_trained(finished):
    folder, _, weights, last = finished
    agent = make(f"network:file={folder / 'network.safetensors'}")
    record = agent.training
    assert (record["iteration"], record["steps"], record["evaluation"]) == (4, 1024, last)
    assert record["config"] == plan().parameters()
    assert agent.rules == (GERMAN.with_(players=3, max_rounds=3),)
    assert same(tensors(folder / "network.safetensors"), weights[-1])
    games = play_games(agent.rules[0], [agent, "random", "random"], 4, rotate=True)
    assert len(games) == 4


def test_the_evaluation_is_of_the_network_that_was_written(finished):
    folder, _, _, last = finished
    network = Network.load(folder / "network.safetensors")
    made = plan()
    for row in last:
        again = win_share(network, Games.from_config(made.games), row["opponents"], 15, made.run.seed)
        assert again.as_dict() == {name: row[name] for name in again.as_dict()}


def test_evaluating_does_not_change_what_is_learned(start, finished, tmp_path):
    trainer = start(plan(evaluation={"every": 100, "opponents": []}), tmp_path / "run")
    assert trainer.run() == []
    assert same(weights_of(trainer.algorithm.get_module(LEARNER)), finished[2][-1])


def test_another_seed_learns_something_else(start, finished, tmp_path):
    trainer = start(plan(run={"seed": 1, "iterations": 1}), tmp_path / "run")
    trainer.run()
    assert not same(weights_of(trainer.algorithm.get_module(LEARNER)), finished[2][0])


def test_tensorboard_holds_every_iteration_once(finished):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(finished[0] / "tensorboard"))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert {f"training/{name}" for name in ("entropy", "value_error", "steps_per_second")} <= set(tags)
    entropies = events.Scalars("training/entropy")
    assert [event.step for event in entropies] == [1, 2, 3, 4]
    assert [event.value for event in entropies] == pytest.approx([row["entropy"] for row, _ in finished[1]], rel=1e-5)
    assert {event.step for event in events.Scalars("evaluation/random/share")} == {0, 2, 4}


def test_a_run_that_ends_by_time_ends(start, tmp_path):
    trainer = start(plan(run={"iterations": None, "minutes": 1e-4}), tmp_path / "run")
    trainer.run()
    assert trainer.over() and trainer.seconds >= 6e-3
    before = trainer.seconds - float(table(tmp_path / "run", "progress.csv")[-1]["seconds"])
    assert abs(before) < 0.01


# --- the league -----------------------------------------------------------------------------------------------------


def test_past_versions_are_frozen_copies_in_learner_and_runner_and_the_oldest_gives_way(start, finished, copied):
    weights = finished[2]
    trainer = start(plan(), copied)
    assert trainer.resumed and trainer.snapshots == 4 and trainer.algorithm.env_runner.past == 2
    # versions 1, 2, 3 and 4 were put into the places 0, 1, 0 and 1
    for module, iteration in (("past_0", 3), ("past_1", 4), (LEARNER, 4)):
        assert same(learner_of(trainer, module), weights[iteration - 1])
        assert same(trainer.algorithm.env_runner.module[module].get_state(), weights[iteration - 1])
    trainer.step()
    new = weights_of(trainer.algorithm.get_module(LEARNER))
    assert not same(new, weights[-1])
    for module, expected in (("past_0", new), ("past_1", weights[3]), (LEARNER, new)):
        assert same(learner_of(trainer, module), expected)
        assert same(trainer.algorithm.env_runner.module[module].get_state(), expected)
    seen = trainer.algorithm.env_runner.module["past_0"].body[0].weight
    assert seen.data_ptr() != trainer.algorithm.env_runner.module[LEARNER].body[0].weight.data_ptr()


def test_past_versions_take_part_from_their_first_snapshot_on(start, tmp_path):
    trainer = start(plan(games={"opponents": "past"}, league={"every": 2}), tmp_path / "run")
    seated = []
    for _ in range(4):
        trainer.algorithm.env_runner.make_env()  # new games, with whoever is there now
        trainer.step()
        codes = trainer.algorithm.env_runner.collector.batch.games["seating"][:, :3]
        seated.append(sorted(set((-1 - codes).ravel().tolist())))
    assert seated == [[0], [0], [0, 1], [0, 1]]  # alone until the end of the second iteration


@pytest.mark.slow
def test_remote_runners_hold_the_past_versions_and_a_resumed_run_starts_with_them(start, tmp_path):
    def states(trainer):
        return trainer.algorithm.env_runner_group.foreach_env_runner(
            lambda runner: (runner.module.get_state(), runner.past), local_env_runner=False
        )

    trainer = start(plan(run={"iterations": 3}), tmp_path / "run", runners=2)
    trainer.run()
    expected = {name: weights_of(trainer.algorithm.get_module(name)) for name in (LEARNER, "past_0", "past_1")}
    assert not same(expected["past_0"], expected["past_1"])
    trainer.close()
    again = start(plan(run={"iterations": 4}), tmp_path / "run", runners=2)
    assert again.resumed and again.iteration == 3
    for state, past in states(again):
        assert past == 2
        assert all(same(state[name], expected[name]) for name in expected)
    again.run()
    assert [int(row["iteration"]) for row in table(tmp_path / "run", "progress.csv")] == [1, 2, 3, 4]
    # and one runner more or less is no other run
    start(plan(run={"iterations": 5}), tmp_path / "run").run()
    assert len(table(tmp_path / "run", "progress.csv")) == 5


# --- going on -------------------------------------------------------------------------------------------------------


def test_a_finished_run_goes_on_to_more_iterations_as_if_never_stopped(start, copied, tmp_path):
    trainer = start(plan(run={"iterations": 6}), copied)
    trainer.run()
    other = start(plan(run={"iterations": 6}), tmp_path / "other")
    other.run()
    assert same(weights_of(trainer.algorithm.get_module(LEARNER)), weights_of(other.algorithm.get_module(LEARNER)))
    both = [table(folder, "progress.csv") for folder in (copied, tmp_path / "other")]
    for one, two in zip(*both, strict=True):
        assert without(one, "seconds", "steps_per_second", "check") == without(two, "seconds", "steps_per_second", "check")
    assert [row["iteration"] for row in table(copied, "evaluations.csv")] == [n for n in "0246" for _ in range(2)]


def test_a_run_in_bfloat16_goes_on_as_if_never_stopped_too(start, tmp_path):
    weights = []
    for name, stops in (("whole", [3]), ("parts", [1, 3])):
        for stop in stops:
            trainer = start(plan(network={"bfloat16": True}, run={"iterations": stop}), tmp_path / name)
            trainer.run()
        weights.append(weights_of(trainer.algorithm.get_module(LEARNER)))
    assert same(*weights)


def state_of(folder):
    """Every file with its time and content, but for what TensorBoard writes when it is opened."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "tensorboard" and path.name != ".lock")
    return [(path, path.stat().st_mtime_ns, path.read_bytes()) for path in paths]


def test_a_finished_run_started_again_does_nothing(start, finished, copied, monkeypatch):
    before = state_of(copied)
    trainer = start(plan(), copied)
    monkeypatch.setattr(trainer, "evaluate", lambda number: pytest.fail("evaluated"))
    assert trainer.run(lambda row, rows: pytest.fail("trained")) == finished[3]
    assert state_of(copied) == before


@pytest.mark.parametrize("missing", ["result.json", "network.safetensors"])
def test_a_run_that_is_over_but_not_evaluated_to_the_end_is_evaluated(start, finished, copied, missing):
    (copied / missing).unlink()
    trainer = start(plan(), copied)
    assert trainer.run(lambda row, rows: pytest.fail("trained")) == finished[3]
    for name in ("progress.csv", "evaluations.csv"):
        assert (copied / name).read_bytes() == (finished[0] / name).read_bytes()
    assert same(tensors(copied / "network.safetensors"), tensors(finished[0] / "network.safetensors"))


def test_a_run_has_one_writer(start, copied):
    holder, found = folders.writer(copied, "training run"), []

    def other():
        try:
            Trainer(plan(), copied)
        except ValueError as error:
            found.append(str(error))

    thread = Thread(target=other)
    thread.start()
    thread.join()
    holder.release()
    assert found == [f"{copied} is being written by another thread of this process; wait for it, or choose another folder"]


def lines_changed(name, change):
    def damage(folder):
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(change(lines)))

    return damage


def text_changed(name, old, new):
    def damage(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lines_changed("progress.csv", lambda lines: [*lines[:2], *lines[3:]]), r"progress\.csv, line 3: this is line 4 of what was"),
        (lines_changed("progress.csv", lambda lines: [*lines, lines[1]]), r"progress\.csv, line 6: this is line 2 of what was written"),
        (lines_changed("progress.csv", lambda lines: [lines[0], lines[2], lines[1], *lines[3:]]), r"progress\.csv, line 2: this is line 3"),
        (lines_changed("progress.csv", lambda lines: lines[:-1]), r"progress\.csv has 3 lines below its header, but had 4 at iteration 4"),
        (lines_changed("progress.csv", lambda lines: ["a,b\n", *lines[1:]]), r"progress\.csv, line 1: the header was changed"),
        (text_changed("evaluations.csv", "random", "expert"), r"evaluations\.csv, line 2: its checksum does not fit"),
        (lambda folder: (folder / "evaluations.csv").unlink(), r"evaluations\.csv has 0 lines below its header, but had 6"),
        (lambda folder: (folder / "training.json").unlink(), r"training\.json is gone, but .*checkpoint-000004 is there"),
        (text_changed("training.json", '"steps": 1024', '"steps": 9'), r"training\.json is damaged"),
        (text_changed("result.json", '"share": 0.', '"share": 1.'), r"result\.json is damaged"),
        (text_changed("manifest.json", '"past": 2', '"past": 3'), r"manifest\.json is damaged"),
        (lambda folder: (folder / "manifest.json").unlink(), "holds files but no training run"),
        (lambda folder: (folder / "checkpoint-000004" / "torch_rng.pt").write_bytes(b"no"), r"cannot be read: torch_rng\.pt was changed"),
    ],
)
def test_what_was_changed_in_a_run_is_refused_by_name(copied, damage, message):
    damage(copied)
    before = state_of(copied)
    with pytest.raises(ValueError, match=message) as caught:
        trainings.finished(plan(), copied)
    assert "\n" not in str(caught.value)
    assert state_of(copied) == before


def test_a_changed_run_is_refused_before_ray_is_started(copied, monkeypatch):
    text_changed("progress.csv", "0", "1")(copied)
    monkeypatch.setattr(trainings, "start_ray", lambda *arguments: pytest.fail("started"))
    with pytest.raises(ValueError, match=r"progress\.csv, line 2"):
        Trainer(plan(run={"iterations": 5}), copied)


def test_a_folder_deleted_in_mid_run_is_one_clear_line(start, tmp_path):
    trainer = start(plan(), tmp_path / "run")
    with pytest.raises(ValueError, match=r"progress\.csv could not be written: .*run was deleted or moved away"):
        trainer.run(lambda row, rows: shutil.rmtree(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), RuntimeError("PytorchStreamWriter failed writing file")])
def test_a_disk_that_is_full_at_a_checkpoint_keeps_the_one_before(start, copied, monkeypatch, error):
    trainer = start(plan(run={"iterations": 6}), copied)

    def full(*arguments):
        raise error

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(ValueError, match=r"checkpoint-000005 could not be written \(.*\); the run stays at iteration 4"):
        trainer.run()
    monkeypatch.undo()
    again = start(plan(run={"iterations": 6}), copied)
    assert again.iteration == 4
    again.run()
    assert [row["iteration"] for row in table(copied, "progress.csv")] == list("123456")


def test_a_folder_of_another_run_is_refused_with_the_differences(start, copied):
    before = state_of(copied)
    with pytest.raises(ValueError, match="holds a training run with other parameters") as caught:
        start(plan(network={"hidden": [8]}, run={"seed": 3}), copied)
    assert "'hidden': [16]" in str(caught.value) and "'hidden': [8]" in str(caught.value)
    assert "'seed': 0" in str(caught.value) and "'seed': 3" in str(caught.value)
    assert state_of(copied) == before
    start(plan(run={"minutes": 1.0}), copied)  # when to stop makes no other run


def test_a_folder_of_something_else_is_left_alone(start, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear")
    with pytest.raises(ValueError, match="holds files but no training run"):
        start(plan(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_run_that_cannot_be_built_claims_no_folder(start, tmp_path, monkeypatch):
    from ray.rllib.algorithms.ppo import PPOConfig

    monkeypatch.setattr(PPOConfig, "build_algo", lambda self: (_ for _ in ()).throw(ValueError("no")))
    with pytest.raises(ValueError, match="no"):
        start(plan(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"checkpoint": "checkpoint-000004", "iteration": "x"}'])
def test_a_damaged_state_file_is_named(start, copied, content):
    (copied / "training.json").write_text(content)
    with pytest.raises(ValueError, match=r"training.json is damaged"):
        start(plan(), copied)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: shutil.rmtree(folder),
        lambda folder: (folder / "torch_rng.pt").unlink(),
        lambda folder: (folder / "torch_rng.pt").write_bytes(b"no"),
        lambda folder: (folder / "env_runner" / "state.pkl").write_bytes(b"no"),
        lambda folder: (folder / "learner_group" / "learner" / "state.pkl").write_bytes(b""),
        lambda folder: (folder / "learner_group" / "learner" / "rl_module" / LEARNER / "module_state.pkl").write_bytes(b"\x80"),
    ],
)
def test_a_damaged_checkpoint_is_named(start, copied, damage):
    damage(copied / "checkpoint-000004")
    with pytest.raises(ValueError, match=r"the checkpoint .*checkpoint-000004 cannot be read"):
        start(plan(), copied)


def test_what_an_interruption_left_is_cleared_away(start, finished, copied):
    tables = trainings._tables(copied, plan().parameters())
    for file, line, cut in zip(
        tables, ("5,1280,0.5,1,1,3,1,1,1,1,1,2", "6,1536,0.5,random,12,0.5,0.4,0.6,0.3"), ("6,15", "6,1"), strict=True
    ):
        file.read()
        file.add([line])
        with file.path.open("a") as text:
            text.write(cut)
    partial = copied / "checkpoint-000005"
    shutil.copytree(copied / "checkpoint-000004" / "env_runner", partial / "env_runner")
    trainer = start(plan(run={"iterations": 5}), copied)
    assert trainer.iteration == 4
    for name in ("progress.csv", "evaluations.csv"):
        assert (copied / name).read_bytes() == (finished[0] / name).read_bytes()
    trainer.run()
    assert [row["iteration"] for row in table(copied, "progress.csv")] == list("12345")
    assert sorted(path.name for path in copied.glob("checkpoint-*")) == ["checkpoint-000005"]


def test_a_table_of_which_nothing_was_written_gets_its_heading(start, tmp_path):
    trainer = start(plan(run={"iterations": 1}), tmp_path / "run")
    (tmp_path / "run" / "progress.csv").touch()
    trainer.run()
    assert len(table(tmp_path / "run", "progress.csv")) == 1


def test_an_interruption_before_the_first_checkpoint_starts_anew(start, tmp_path):
    first = start(plan(), tmp_path / "run")
    first._keep_evaluation(first.evaluate(12))
    first._append(first.progress, trainings.PROGRESS, [first.step()])  # and no checkpoint
    trainer = start(plan(run={"iterations": 2}), tmp_path / "run")
    assert not trainer.resumed
    trainer.run()
    assert [row["iteration"] for row in table(tmp_path / "run", "progress.csv")] == ["1", "2"]
    assert [row["iteration"] for row in table(tmp_path / "run", "evaluations.csv")] == ["0", "0", "2", "2"]


@pytest.mark.parametrize("where", ["losses", "weights"])
def test_numbers_that_are_not_finite_stop_the_run_and_the_last_good_checkpoint_stays(start, copied, monkeypatch, where):
    trainer = start(plan(run={"iterations": 6}), copied)
    original = trainer.algorithm.train

    def train():
        result = original()
        if where == "losses":
            result["learners"]["learner"]["policy_loss"] = float("nan")
        else:
            with torch.no_grad():
                trainer.algorithm.env_runner.module[LEARNER].body[0].bias[3] = float("inf")
        return result

    trainer._keep(trainer.step(), [])
    monkeypatch.setattr(trainer.algorithm, "train", train)
    with pytest.raises(
        RuntimeError, match=rf"iteration 6: {'policy_loss' if where == 'losses' else 'a weight'} is not finite; .*iteration 5"
    ):
        trainer.run()
    assert json.loads((copied / "training.json").read_text())["iteration"] == 5 == trainer.iteration
    assert (copied / "checkpoint-000005").is_dir()
    again = start(plan(run={"iterations": 6}), copied)
    again.run()
    assert again.iteration == 6


def test_a_learning_rate_that_is_far_too_large_ends_in_that_error(start, tmp_path):
    trainer = start(plan(training={"lr": 1e20}), tmp_path / "run")
    with pytest.raises(RuntimeError, match="not finite; the run stays at iteration 0"):
        trainer.run()
    assert not (tmp_path / "run" / "training.json").exists()


# --- kill -9, in other processes ------------------------------------------------------------------------------------

SCRIPT = """
import os, signal, sys
from pathlib import Path
import torch
from citadels_experiments.learning import training as trainings

folder, point = Path(sys.argv[2]), sys.argv[3]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dying(function, when):
    def wrapped(*arguments, **named):
        if when(*arguments):
            die()
        return function(*arguments, **named)
    return wrapped

plan = trainings.Training.from_file(Path(sys.argv[1]))
trainer = trainings.Trainer(plan, folder)
print("starts at", trainer.iteration, flush=True)
if point == "in the checkpoint of 2":
    torch.save = dying(torch.save, lambda *_: trainer.iteration == 2)
if point == "before the state of 3":
    trainings.folders.write_sealed = dying(trainings.folders.write_sealed, lambda path, data: data.get("iteration") == 3)
if point == "before the rubbish of 4":
    trainings.shutil.rmtree = dying(trainings.shutil.rmtree, lambda path, **_: path.name == "checkpoint-000003" and trainer.iteration == 4)
if point == "in the first evaluation":
    trainer.evaluate = lambda number: die()
if point == "in the last evaluation":
    trainer.export = dying(trainer.export, lambda rows: bool(rows) and rows[0]["games"] == 15)
trainer.run(lambda row, rows: die() if point == f"after {row['iteration']}" else print(row["iteration"], flush=True))
trainer.close()
"""


class Runs:
    """Runs of TINY in processes of their own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "tiny.toml").write_text(TINY.replace("iterations = 4", "iterations = 5"))
        (folder / "script.py").write_text(SCRIPT)

    def start(self, name, point="", hash_seed="1"):
        environment = {**os.environ, "PYTHONPATH": PATHS, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(self.folder / "script.py"), str(self.folder / "tiny.toml"), str(self.folder / name), point]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, name, point="", code=0, **options):
        process = self.start(name, point, **options)
        out, err = process.communicate(timeout=300)
        assert process.returncode == code, err
        return out

    def agree(self, name):
        """Is that run, but for its speed, the same as the one that was never interrupted?"""
        one, other = self.folder / "whole", self.folder / name
        assert same(tensors(one / "network.safetensors"), tensors(other / "network.safetensors"))
        for file, ignored in (("progress.csv", ("seconds", "steps_per_second", "check")), ("evaluations.csv", ("seconds", "check"))):
            rows = [[without(row, *ignored) for row in table(folder, file)] for folder in (one, other)]
            assert rows[0] == rows[1]
        assert [path.name for path in other.glob("checkpoint-*")] == ["checkpoint-000005"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = Runs(tmp_path_factory.mktemp("killed"))
    made.run("whole")
    return made


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_in_another_process(runs):
    runs.run("again", hash_seed="2")
    runs.agree("again")


@pytest.mark.slow
def test_killed_at_the_worst_moments_a_run_loses_nothing_but_the_iteration_under_way(runs):
    for point, at in (
        ("in the first evaluation", 0),
        ("after 1", 0),
        ("in the checkpoint of 2", 1),
        ("before the state of 3", 1),
        ("before the rubbish of 4", 2),
        ("in the last evaluation", 4),
        ("", 5),
    ):
        out = runs.run("killed", point, code=-9 if point else 0, hash_seed="3")
        assert out.startswith(f"starts at {at}"), (point, out)
    runs.agree("killed")


@pytest.mark.slow
def test_killed_at_any_moment_a_run_ends_the_same(runs):
    for delay in (0.02, 0.11):
        process = runs.start("anyhow")
        assert process.stdout.readline().startswith("starts at")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(delay)
        process.kill()
        process.communicate()
    runs.run("anyhow")
    runs.agree("anyhow")


# --- what is written ------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_exported_with_the_weights_of_any_of_its_modules(finished, tmp_path):
    folder, _, weights, _ = finished
    for module, iteration in ((LEARNER, 4), ("past_0", 3)):
        file = export_checkpoint(folder / "checkpoint-000004", tmp_path / f"{module}.safetensors", module)
        assert same(tensors(file), weights[iteration - 1])
        assert Network.load(file).rules == (GERMAN.with_(players=3, max_rounds=3),)


def test_the_folder_of_a_run_is_exported_from_its_checkpoint(finished, tmp_path):
    folder, _, weights, _ = finished
    assert same(tensors(export_checkpoint(folder, tmp_path / "it.safetensors")), weights[3])


def test_a_relative_path_of_a_checkpoint_will_do(finished, tmp_path, monkeypatch):
    monkeypatch.chdir(finished[0])
    export_checkpoint(Path("checkpoint-000004"), tmp_path / "it.safetensors")
    assert (tmp_path / "it.safetensors").is_file()


def test_what_is_no_checkpoint_is_refused(finished, tmp_path):
    with pytest.raises(ValueError, match="is no checkpoint with a module 'learner'"):
        export_checkpoint(tmp_path, tmp_path / "it.safetensors")
    with pytest.raises(ValueError, match="is no checkpoint with a module 'past_7'"):
        export_checkpoint(finished[0] / "checkpoint-000004", tmp_path / "it.safetensors", "past_7")
    assert not list(tmp_path.iterdir())


def lines(axes):
    return [line.get_xydata() for line in axes.get_lines()]


def test_the_learning_curve_shows_every_row(finished, tmp_path):
    figure = learning_curve(finished[0], "a title")
    left, right = figure.axes[:2]
    assert figure.get_suptitle() == "a title"
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels[0].startswith("against random: ") and labels[1].startswith("against heuristic: ") and labels[2] == "fair share"
    assert lines(left)[0][:, 0].tolist() == [0, 512, 1024]
    assert lines(right)[0][:, 0].tolist() == [256, 512, 768, 1024]
    figure.savefig(tmp_path / "curve.png")


@pytest.mark.parametrize(("progress", "evaluations"), [(0, None), (0, 0), (1, None), (1, 0), (1, 1), (400, 0), (400, 30)])
def test_the_learning_curve_is_drawn_whatever_there_is(tmp_path, progress, evaluations):
    row = ",".join(["0.5"] * (len(trainings.PROGRESS) - 2))
    nothing = ",".join(["nan"] * (len(trainings.PROGRESS) - 2))
    rows = [f"{k + 1},{100 * k + 100},{nothing if k == 0 else row}" for k in range(progress)]
    (tmp_path / "progress.csv").write_text("\n".join([",".join(trainings.PROGRESS), *rows]) + "\n")
    if evaluations is not None:
        rows = [f"{k},{100 * k},1,{name},10,0.5,0.2,0.8,0.25" for k in range(evaluations) for name in "abcdefghijklmnopqrstuvwxyz"]
        (tmp_path / "evaluations.csv").write_text("\n".join([",".join(trainings.EVALUATION), *rows]) + "\n")
    figure = learning_curve(tmp_path, "it")
    assert (figure is None) == (progress == 0)
    if figure:
        figure.savefig(tmp_path / "curve.png")
        assert (tmp_path / "curve.png").stat().st_size > 1000


def test_without_a_run_there_is_no_learning_curve(tmp_path):
    assert learning_curve(tmp_path, "it") is None


# --- the commands ---------------------------------------------------------------------------------------------------


def invoke(*arguments, code=0):
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output


@pytest.mark.usefixtures("ray_running")
def test_the_train_command_trains_evaluates_and_goes_on(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    out = tmp_path / "out"
    text = invoke("train", "--config", tmp_path / "tiny.toml", "--out", out, "--iterations", 3)
    assert "tiny: 3 players, opponents 33 % self, 33 % past, 33 % random, seed 0" in text
    assert "0.00 M steps" in text and "wins against random 0." in text and "at the end: " in text
    assert {path.name for path in out.iterdir()} == {
        ".lock", "checkpoint-000003", "evaluations.csv", "learning_curve.png", "manifest.json", "network.safetensors", "progress.csv",
        "result.json", "tensorboard", "training.json",
    }  # fmt: skip
    again = invoke("train", "--config", tmp_path / "tiny.toml", "--out", out)
    assert "holds 3 iterations already; going on" in again
    assert len(table(out, "progress.csv")) == 4
    written = invoke("export", out / "checkpoint-000004", tmp_path / "it.safetensors")
    assert f"wrote {tmp_path / 'it.safetensors'}" in written
    assert same(tensors(tmp_path / "it.safetensors"), tensors(out / "network.safetensors"))
    before = state_of(out)
    once_more = invoke("train", "--config", tmp_path / "tiny.toml", "--out", out)
    assert "finished after 4 iterations; there is nothing to do\nat the end:    0.00 M steps" in once_more
    assert state_of(out) == before
    assert "with other parameters" in invoke("train", "--config", "quick", "--out", out, code=1)


@pytest.mark.usefixtures("ray_running")
def test_results_go_to_a_folder_named_by_the_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(TINY)
    invoke("train", "--config", "small.toml", "--iterations", 1)
    assert (tmp_path / "results" / "train-small" / "progress.csv").exists()


@pytest.mark.usefixtures("ray_running")
def test_the_train_command_stops_at_numbers_that_are_not_finite(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY.replace("num_epochs = 2", "num_epochs = 2\nlr = 1e20"))
    text = invoke("train", "--config", tmp_path / "tiny.toml", "--out", tmp_path / "out", code=1)
    assert "Error: iteration 1: " in text and "smaller lr" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "none.toml"], "there is no file none.toml; those that come along are"),
        (["--config", "FILE"], "[network] hidden is a list of widths of layers"),
        ([], "Missing option '--config'"),
        (["--config", "quick", "--runners", "-1"], "Invalid value for '--runners'"),
        (["--config", "quick", "--minutes", "0"], "Invalid value for '--minutes'"),
    ],
)
def test_the_train_command_names_what_is_wrong(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text(TINY.replace("hidden = [16]", "hidden = 'x'"))
    arguments = ["bad.toml" if argument == "FILE" else argument for argument in arguments]
    text = invoke("train", *arguments, code=2 if "option" in message or "Invalid" in message else 1)
    assert message in text
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_the_export_command_names_what_is_wrong(tmp_path):
    text = invoke("export", tmp_path, tmp_path / "it.safetensors", code=1)
    assert f"Error: {tmp_path} is no checkpoint with a module 'learner'" in text


def python(code):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": PATHS}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_and_configurations_that_cannot_be_read_load_neither_ray_nor_torch():
    code = """
        import sys
        from click.testing import CliRunner
        from citadels_experiments import cli
        for arguments in (["train", "--help"], ["export", "--help"], ["train", "--config", "none"]):
            print(CliRunner().invoke(cli.main, arguments).output)
        assert not {"ray", "torch", "tensorboardX"} & set(sys.modules)
    """
    text = python(code)
    assert "Train a network by PPO" in text and "network:file=FILE" in text and "there is no file none" in text


def test_without_the_extra_the_commands_say_what_to_install():
    code = """
        import sys
        from click.testing import CliRunner
        sys.modules["ray"] = None
        from citadels_experiments import cli
        for arguments in (["train", "--config", "quick"], ["export", ".", "it.safetensors"]):
            result = CliRunner().invoke(cli.main, arguments)
            assert result.exit_code == 1 and "Traceback" not in result.output
            print(result.output)
    """
    assert python(code).count("training needs the extra `rllib`: pip install '.[rllib]'") == 2
