"""A training run: what `citadels train` does.

A run belongs to a folder, like a study: the same configuration goes on where it stopped, one process at a time.  Every iteration
ends with a checkpoint that is there wholly or not at all, so an interruption loses the iteration under way and nothing else.
Tables, state and checkpoint carry checksums: what was changed is refused by name.
"""

import csv
import json
import math
import os
import shutil
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from citadels_agents import load_agents, make
from citadels_agents.networks import Network as Player
from citadels_agents.networks import save_network
from citadels_agents.seated import SELF
from citadels_env import InvalidArgumentError
from citadels_env.checks import MAX_GAMES, MAX_SIDE_BY_SIDE, shown, thread_number, whole_number

from .. import folders
from ..study import files
from . import settings
from .evaluation import win_share
from .games import KEYS, LEARNER, PAST, Games

# read when torch is loaded: threads that spin while they wait take the cores from each other and from Ray
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

WHAT = "training run"
MODEL_FILE = "network.safetensors"
STATE_FILE = "training.json"
RESULT_FILE = "result.json"
MOST = 10**9  # iterations
CONFIGS = Path(__file__).with_name("configs")
PROGRESS = (
    "iteration", "steps", "seconds", "steps_per_second", "games", "rounds", "entropy", "value_error", "explained_variance",
    "policy_loss", "divergence", "past",
)  # fmt: skip
EVALUATION = ("iteration", "steps", "seconds", "opponents", "games", "share", "low", "high", "fair")


@dataclass(frozen=True)
class Network:
    """The table `[network]`: widths of the layers and whether to multiply in bfloat16, or a module of one's own and its `model_config`.

    module: "file.py:Class"; see `module.PolicyModule`.
    folder: where a relative path of the module starts: the folder of the run's file (None: the current directory).
    """

    hidden: tuple[int, ...] = (256, 256)
    bfloat16: bool = False
    module: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = field(default=None, compare=False)

    def settings(self) -> dict[str, Any]:
        """Arguments of `fast_ppo`; ValueError for a module that there is not."""
        if self.module is None:
            return {"hidden": self.hidden, "bfloat16": self.bfloat16}
        from .module import module_class

        return {"module": module_class(self.module, self.folder)[0], "model_config": dict(self.config)}

    def parameters(self) -> dict[str, Any]:
        """What the results depend on: of a module not where its file is, but what it holds."""
        if self.module is None:
            return {"hidden": list(self.hidden), "bfloat16": self.bfloat16}
        from .module import module_class

        return {"module": list(module_class(self.module, self.folder)[1]), "config": dict(self.config)}


@dataclass(frozen=True)
class League:
    """The table `[league]`: how many frozen past versions there are at most, and after how many iterations the next is taken.

    They play where `opponents` in `[games]` says "past"; when all places are taken, a new one replaces the oldest.
    """

    past: int = 0
    every: int = 50


@dataclass(frozen=True)
class Evaluation:
    """The table `[evaluation]`: fixed opponents, each in all other seats; games against each; after how many iterations.

    The end of the run is evaluated with `final_games`.
    """

    opponents: tuple[str, ...] = ("random", "heuristic")
    games: int = 500
    every: int = 50
    final_games: int = 2000


@dataclass(frozen=True)
class Run:
    """The table `[run]`: when to stop (iterations or minutes of training, whichever comes first), games side by side, seed."""

    iterations: int | None = None
    minutes: float | None = None
    num_games: int = 128
    seed: int = 0


TABLES: dict[str, Any] = {"network": Network, "league": League, "evaluation": Evaluation, "run": Run}


@dataclass(frozen=True)
class Training:
    """All of a run: the tables of its file.  `games` is for `Games.from_config`, `training` for `fast.fast_ppo`."""

    games: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    network: Network = Network()
    league: League = League()
    evaluation: Evaluation = Evaluation()
    run: Run = Run()

    @classmethod
    def from_file(cls, path: Path) -> "Training":
        """The run that a TOML file describes; ValueError, naming the entry, for one that cannot be."""
        try:
            return cls.from_config(tomllib.loads(path.read_text(encoding="utf-8")), path.parent)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is no TOML: {error}") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def from_config(cls, config: Mapping[str, Any], folder: Path | None = None) -> "Training":
        """The run of a mapping with the tables; ValueError for an unknown table or entry or an impossible value.

        folder: where the path of a module of `[network]` starts, if it is relative (None: the current directory).
        """
        _known("table", config, ("games", "training", *TABLES))
        _known("entry of [games]", config.get("games", {}), KEYS)
        _known("entry of [training]", config.get("training", {}), settings.DEFAULTS)
        made = {}
        for name, kind in TABLES.items():
            given = config.get(name, {})
            _known(f"entry of [{name}]", given, [f.name for f in fields(kind) if f.name != "folder"])
            made[name] = kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in given.items()})
        _check_network(config.get("network", {}))
        made["network"] = replace(made["network"], folder=folder)
        training = cls(dict(config.get("games", {})), dict(config.get("training", {})), **made)
        training._check(Games.from_config(training.games))
        return training

    def _check(self, games: Any) -> None:
        ppo = {**settings.DEFAULTS, **self.training}
        numbers: dict[str, tuple[Any, int, int]] = {
            "[league] past": (self.league.past, 0, 1000),  # each a network in memory
            "[league] every": (self.league.every, 1, MOST),
            "[evaluation] games": (self.evaluation.games, 1, MAX_GAMES),
            "[evaluation] every": (self.evaluation.every, 1, MOST),
            "[evaluation] final_games": (self.evaluation.final_games, 1, MAX_GAMES),
            "[run] num_games": (self.run.num_games, 1, MAX_SIDE_BY_SIDE),
            "[run] seed": (self.run.seed, 0, 2**32 - 1),  # what torch, NumPy and Ray all take
        }
        if self.run.iterations is not None:
            numbers["[run] iterations"] = (self.run.iterations, 1, MOST)
        for name, (value, least, most) in numbers.items():
            whole_number(name, value, least, most)
        settings.check(ppo, "[training]")
        batch = ppo["train_batch_size_per_learner"]
        for name, value in (("[training] minibatch_size", ppo["minibatch_size"]), ("[run] num_games", self.run.num_games)):
            if value > batch:
                raise InvalidArgumentError(f"{name}, {value}, is larger than [training] train_batch_size_per_learner, {batch}")
        if self.run.iterations is None and self.run.minutes is None:
            raise InvalidArgumentError("[run] needs iterations or minutes, after which to stop")
        if self.run.minutes is not None and not (settings.at_least_0(self.run.minutes) and self.run.minutes > 0):
            raise InvalidArgumentError(f"[run] minutes is a number above 0, not {shown(self.run.minutes)}")
        settings.check_hidden("[network] hidden", self.network.hidden)
        if not isinstance(self.network.bfloat16, bool):
            raise InvalidArgumentError(f"[network] bfloat16 is true or false, not {shown(self.network.bfloat16)}")
        try:
            self.network.settings()
        except ValueError as error:
            raise InvalidArgumentError(f"[network] module: {error}") from error
        opponents = self.evaluation.opponents
        if not isinstance(opponents, tuple) or not all(isinstance(name, str) for name in opponents):
            raise InvalidArgumentError(f"[evaluation] opponents is a list of names of agents, not {_listed(opponents)}")
        asks = [games.opponents] if isinstance(games.opponents, str) else list(games.opponents)
        for table, names in (("evaluation", opponents), ("games", asks)):
            for name in names:
                if table == "evaluation" or name not in (SELF, PAST):
                    try:
                        make(name)
                    except ValueError as error:
                        raise InvalidArgumentError(f"[{table}] opponents: {error}") from None
        if PAST in asks and not self.league.past:
            raise InvalidArgumentError("[games] opponents: 'past' needs a place for past versions; set [league] past to 1 or more")
        if PAST in asks and isinstance(games.opponents, tuple):
            raise InvalidArgumentError("[games] opponents: 'past' may stand alone or in a table of shares, not in a list")

    def games_text(self, games: Any) -> str:
        """What is played, in a line."""
        players = sorted({rules.players for rules in games.rules})
        opponents = games.opponents
        if isinstance(opponents, Mapping):
            total = sum(opponents.values())
            opponents = [f"{100 * share / total:.0f} % {name}" for name, share in opponents.items()]
        who = opponents if isinstance(opponents, str) else ", ".join(opponents)
        several = f"{len(games.rules)} sets of rules, " if len(games.rules) > 1 else ""
        return f"{several}{'-'.join(map(str, dict.fromkeys((players[0], players[-1]))))} players, opponents {who}, seed {self.run.seed}"

    def parameters(self) -> dict[str, Any]:
        """What the results depend on, as plain data: all but when to stop."""
        data = json.loads(json.dumps(asdict(self) | {"network": self.network.parameters()}))
        del data["run"]["iterations"], data["run"]["minutes"]
        opponents = self.games.get("opponents", ())
        asks = [opponents] if isinstance(opponents, str) else list(opponents)
        data |= files(name for name in (*asks, *self.evaluation.opponents) if name not in (SELF, PAST))
        scripts = self.games.get("agents_from", ())
        if scripts:
            data["modules"] = [list(load_agents(file)) for file in ([scripts] if isinstance(scripts, str) else scripts)]
        return data


def config_file(name: str) -> Path:
    """The file of that path, or the one that comes along by that name; ValueError if there is neither."""
    path, shipped = Path(name), CONFIGS / f"{name}.toml"
    if path.is_file():
        return path
    if shipped.is_file():
        return shipped
    raise ValueError(f"there is no file {name}; those that come along are {', '.join(sorted(p.stem for p in CONFIGS.glob('*.toml')))}")


def export_checkpoint(checkpoint: Path, file: Path, module: str = "learner") -> Path:
    """Write a module of an RLlib checkpoint (of an algorithm made by `fast_ppo` or `stock_ppo`), or of a run's folder, as an agent's file.

    A checkpoint is code as well as numbers (Ray pickles it): read only those you trust.  Raises ValueError for a folder that is no
    such checkpoint, and for a module that its file could not play.
    """
    from ray import cloudpickle
    from ray.rllib.core.rl_module.rl_module import RLModule

    from .module import check_exportable

    checkpoint = checkpoint.resolve()
    if (checkpoint / STATE_FILE).is_file():
        checkpoint /= str(folders.read_sealed(checkpoint / STATE_FILE).get("checkpoint"))
    try:
        there = RLModule.from_checkpoint(checkpoint / "learner_group" / "learner" / "rl_module" / module)
        made_by = cloudpickle.loads((checkpoint / "env_runner" / "class_and_ctor_args.pkl").read_bytes())
        options = dict(made_by["ctor_args_and_kwargs"][1]["config"].env_config)
    except Exception as error:
        raise ValueError(f"{checkpoint} is no checkpoint with a module {module!r}: {error}") from error
    options.pop("seed", None)
    games = Games.from_config(options)
    check_exportable(there, games.rows)
    return save_network(file, there.get_state(), rules=games.rules, rules_shares=games.rules_shares, rows=games.rows)


def _check_network(given: Mapping[str, Any]) -> None:
    """Raise ValueError for entries of [network] that do not go together, or are no module."""
    if "module" in given:
        if not isinstance(given["module"], str):
            raise InvalidArgumentError(f"[network] module is a text, file.py:Class, not {shown(given['module'])}")
        for name in ("hidden", "bfloat16"):
            if name in given:
                raise InvalidArgumentError(
                    f"[network] {name} is of the standard network; a module gets its settings from the table [network.config]"
                )
    elif "config" in given:
        raise InvalidArgumentError(
            f"[network] config is the model_config of a module; {shown(given['config'])} needs one (the standard one has hidden, bfloat16)"
        )
    if not isinstance(given.get("config", {}), Mapping):
        raise InvalidArgumentError(f"[network] config is a table, not {shown(given['config'])}")
    try:
        json.dumps(given.get("config", {}), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(
            f"[network] config holds numbers, texts, true and false, lists and tables only, not {shown(given['config'])}: {error}"
        ) from None


def _listed(value: Any) -> str:
    return shown(list(value) if isinstance(value, tuple) else value)


def _known(what: str, given: Any, allowed: Any) -> None:
    if not isinstance(given, Mapping):
        raise InvalidArgumentError(f"{what}: {shown(given)} is no table")
    for key in given:
        if key not in allowed:
            raise InvalidArgumentError(f"there is no {what} {shown(key)}; there are {', '.join(allowed)}")


Report = Callable[[dict[str, Any], list[dict[str, Any]]], None]  # of an iteration: its row, and the rows of its evaluation


def start_ray(runners: int, address: str | None) -> None:
    """Connect to the Ray cluster at `address`, or start Ray on this machine alone."""
    if address is None:
        # nobody else can reach a Ray of this machine alone, and it needs no dashboard
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is not None:
        try:
            ray.init(address=address, **quiet)
        except ConnectionError as error:
            raise ValueError(f"there is no Ray cluster at {address}: {error}") from error
    else:
        ray.init(num_cpus=max(os.cpu_count() or 1, runners + 1), include_dashboard=False, object_store_memory=10**9, **quiet)


class Trainer:
    """Trains as `training` says, in `folder`.

    runners: remote runners (0: games are played in this process).  address: of a Ray cluster.  threads: of torch, in this process.

    With remote runners the games under way are not in the checkpoint: they begin anew when a run goes on.

    A network of one's own that cannot be written as an agent's file is trained and evaluated like any other; `not_exported`
    says why there is no network.safetensors (None: there is one).

    Raises `folders.FolderError` (a ValueError) for a folder that holds another run, is being written, cannot be written or was changed.
    Nobody else can write into the folder until `close`.
    """

    def __init__(
        self, training: Training, folder: Path, *, runners: int = 0, address: str | None = None, threads: int | None = None
    ) -> None:
        whole_number("runners", runners, 0, 10_000)
        if threads is not None:
            thread_number(threads)
        self.training, self.folder = training, folder
        self.writer = folders.writer(folder, WHAT)
        try:
            self._begin(runners, address, threads)
        except BaseException:
            self.writer.release()
            raise

    def _begin(self, runners: int, address: str | None, threads: int | None) -> None:
        training, folder = self.training, self.folder
        parameters = training.parameters()
        saved = _saved(folder, parameters)
        start_ray(runners, address)
        import torch
        from tensorboardX import SummaryWriter

        from .fast import fast_ppo
        from .module import check_exportable

        if threads:
            torch.set_num_threads(threads)
        self.games = Games.from_config(training.games)
        run, network = training.run, training.network
        config = fast_ppo(
            training.games,
            runners=runners,
            num_games=run.num_games,
            past=training.league.past,
            **network.settings(),
            **training.training,
        ).debugging(seed=run.seed)
        self.algorithm = config.build_algo()
        self.not_exported: str | None = None
        try:
            check_exportable(self.algorithm.env_runner.module[LEARNER], self.games.rows)
        except ValueError as error:
            self.not_exported = str(error)
        with suppress(OSError):  # a folder for logs in the home directory, which stays empty
            Path(self.algorithm.logdir).rmdir()
        folders.claim(folder, parameters, WHAT)
        self.iteration, self.steps, self.seconds, self.snapshots = saved.iteration, saved.steps, saved.seconds, saved.snapshots
        self.progress, self.evaluations = _tables(folder, parameters)
        self.resumed = saved.checkpoint is not None
        if saved.checkpoint is not None:
            self._restore(saved.checkpoint)
        self.saved = self.iteration  # the iteration of the checkpoint
        last = self.iteration if self.resumed else -1
        for table in (self.progress, self.evaluations):
            table.put([line for line in table.resume() if _iteration(line) <= last])  # what was not saved is done again
        self.board = SummaryWriter(str(folder / "tensorboard"), purge_step=self.iteration + 1)

    # --- running ----------------------------------------------------------------

    def over(self) -> bool:
        """Has the run reached its end?"""
        return _over(self.training.run, self.iteration, self.seconds)

    def run(self, report: Report | None = None) -> list[dict[str, Any]]:
        """Train to the end, and evaluate what came out; the rows of the last evaluation.

        `report` is told of every iteration.  A run that is over and evaluated already does nothing.
        """
        done = finished(self.training, self.folder)
        if done is not None:
            return list(done["evaluation"])
        if not self.iteration and not self.over():
            self._keep_evaluation(self.evaluate(self.training.evaluation.games))
        while not self.over():
            row = self.step()
            rows = []
            if self.iteration % self.training.evaluation.every == 0:
                rows = self.evaluate(self.training.evaluation.games)
            self._keep(row, rows)
            if report:
                report(row, rows)
        rows = self.evaluate(self.training.evaluation.final_games)
        # instead of the evaluation with fewer games of the same network
        self._keep_evaluation(rows, [line for line in self.evaluations.read() if _iteration(line) < self.iteration])
        self.export(rows)
        folders.write_sealed(
            self.folder / RESULT_FILE,
            {"iteration": self.iteration, "steps": self.steps, "seconds": self.seconds, "evaluation": rows, "machine": folders.machine()},
        )
        return rows

    def step(self) -> dict[str, Any]:
        """One iteration; its row of progress.csv.  RuntimeError if losses or weights are not finite any more."""
        result = self.algorithm.train()
        played, learnt = result["env_runners"], result["learners"]["learner"]
        seconds = float(result["time_this_iter_s"])
        steps = int(played["num_env_steps_sampled"])
        losses = {
            "entropy": _number(learnt["entropy"]),
            "value_error": _number(learnt["vf_loss"]),
            "explained_variance": _number(learnt["vf_explained_var"]),
            "policy_loss": _number(learnt["policy_loss"]),
            "divergence": _number(learnt["mean_kl_loss"]),
        }
        broken = [name for name in ("entropy", "value_error", "policy_loss") if not math.isfinite(losses[name])]
        # the last minibatch's losses are of the weights before it
        if not all(np.isfinite(value).all() for value in self._weights().values()):
            broken.append("a weight")
        if broken:
            raise RuntimeError(
                f"iteration {self.iteration + 1}: {', '.join(broken)} is not finite; the run stays at iteration {self.iteration}. "
                "Try a smaller lr in [training]"
            )
        self.iteration, self.steps, self.seconds = self.iteration + 1, self.steps + steps, self.seconds + seconds
        league = self.training.league
        if league.past and self.iteration % league.every == 0:
            self._snapshot()
        return {
            "iteration": self.iteration,
            "steps": self.steps,
            "seconds": round(self.seconds, 2),
            "steps_per_second": round(steps / seconds, 1),
            "games": int(played["num_episodes"]),
            "rounds": _number(played.get("rounds_mean")),
            **losses,
            "past": min(self.snapshots, league.past),
        }

    def _weights(self) -> dict[str, Any]:
        """The learner's weights, as they are: views of them."""
        weights: dict[str, Any] = self.algorithm.env_runner.module[LEARNER].get_state()
        return weights

    def evaluate(self, number: int) -> list[dict[str, Any]]:
        """Win shares against the fixed opponents, one row each; played as the network's file will be, by NumPy in float32.

        A module that has no such file is asked itself.
        """
        from .runner import policy_of

        module = self.algorithm.env_runner.module[LEARNER]
        policy = policy_of(module) if self.not_exported else Player(self._weights(), self.games.rows)
        where = {"iteration": self.iteration, "steps": self.steps, "seconds": round(self.seconds, 2)}
        return [
            where | win_share(policy, self.games, opponents, number, self.training.run.seed).as_dict()
            for opponents in self.training.evaluation.opponents
        ]

    def _snapshot(self) -> None:
        """Freeze the learner as the next past version, and show it to all runners."""
        module = f"{PAST}_{self.snapshots % self.training.league.past}"
        # copies: RLlib hands out views of the living weights
        weights = {name: value.copy() for name, value in self._weights().items()}
        self.snapshots += 1
        past = min(self.snapshots, self.training.league.past)
        self.algorithm.set_state({"learner_group": {"learner": {"rl_module": {module: weights}}}})

        def show(runner: Any) -> None:
            # by hand: RLlib does not send weights that were not trained
            runner.module[module].set_state(weights)
            runner.set_past(past)

        self.algorithm.env_runner_group.foreach_env_runner(show)

    def export(self, rows: list[dict[str, Any]]) -> Path | None:
        """Write the network as an agent that plays by its file, with the record of its training; None if it has no such file."""
        if self.not_exported:
            return None
        record = {
            "config": self.training.parameters(),
            "iteration": self.iteration,
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "evaluation": rows,
        }
        with folders.writing(self.folder / MODEL_FILE):
            return save_network(
                self.folder / MODEL_FILE,
                self._weights(),
                rules=self.games.rules,
                rules_shares=self.games.rules_shares,
                rows=self.games.rows,
                training=record,
            )

    def close(self) -> None:
        """Stop the algorithm and its runners, and let others write into the folder."""
        with suppress(OSError):  # a full disk was reported where it mattered
            self.board.close()
        self.writer.release()
        self.algorithm.stop()

    # --- keeping ----------------------------------------------------------------

    def _keep(self, row: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        self._append(self.progress, PROGRESS, [row])
        for name in PROGRESS[3:]:
            if math.isfinite(row[name]):
                self.board.add_scalar(f"training/{name}", row[name], self.iteration)
        if rows:
            self._keep_evaluation(rows)
            self.export(rows)
        self._checkpoint()

    def _keep_evaluation(self, rows: list[dict[str, Any]], after: list[str] | None = None) -> None:
        """Write down an evaluation; with `after`, in place of all but these lines of the table."""
        if after is None:
            self._append(self.evaluations, EVALUATION, rows)
        else:
            self.evaluations.put(after + [_line(row, EVALUATION) for row in rows])
        for entry in rows:
            for name in ("share", "low", "high"):
                self.board.add_scalar(f"evaluation/{entry['opponents']}/{name}", entry[name], self.iteration)

    def _checkpoint(self) -> None:
        """Save all of the run; what was saved before goes only when this is there."""
        import torch

        name = f"checkpoint-{self.iteration:06}"
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        try:
            self.algorithm.save_to_path(str(target.resolve()))
            torch.save(torch.get_rng_state(), target / "torch_rng.pt")
            sums = _checksums(target)
        except (OSError, RuntimeError) as error:
            raise folders.FolderError(f"{target} could not be written ({error}); the run stays at iteration {self.saved}") from error
        state = {"checkpoint": name, "iteration": self.iteration, "steps": self.steps, "seconds": self.seconds, "snapshots": self.snapshots}
        folders.write_sealed(self.folder / STATE_FILE, state | {"evaluations": self.evaluations.count, "files": sums})
        self.saved = self.iteration
        for old in self.folder.glob("checkpoint-*"):
            if old.name != name:
                shutil.rmtree(old, ignore_errors=True)

    def _restore(self, there: Path) -> None:
        """Take over a checkpoint."""
        import torch

        try:
            self.algorithm.restore_from_path(str(there.resolve()))
            torch.set_rng_state(torch.load(there / "torch_rng.pt"))
        except Exception as error:
            raise folders.FolderError(f"the checkpoint {there} cannot be read ({type(error).__name__}: {error})") from error
        past = min(self.snapshots, self.training.league.past)
        weights = self.algorithm.env_runner.module.get_state()
        self.algorithm.env_runner_group.foreach_env_runner(lambda runner: (runner.module.set_state(weights), runner.set_past(past)))

    def _append(self, table: folders.Lines, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
        if rows:
            table.add([_line(row, columns) for row in rows])


def finished(training: Training, folder: Path) -> dict[str, Any] | None:
    """The content of ``result.json`` if `folder` holds this run, over and evaluated; None if there is something left to do.

    Raises `folders.FolderError` (a ValueError) for a folder that holds another run or was changed.
    """
    saved = _saved(folder, training.parameters())
    if saved.checkpoint is None or not all((folder / name).exists() for name in (RESULT_FILE, MODEL_FILE)):
        return None
    result = folders.read_sealed(folder / RESULT_FILE)
    over = _over(training.run, saved.iteration, saved.seconds)
    return result if over and result.get("iteration") == saved.iteration else None


class Saved(NamedTuple):
    """How far the run in a folder came; `checkpoint` is None if none was saved."""

    checkpoint: Path | None = None
    iteration: int = 0
    steps: int = 0
    seconds: float = 0.0
    snapshots: int = 0


def _saved(folder: Path, parameters: dict[str, Any]) -> Saved:
    """What `folder` holds of the run with these parameters; FolderError if it holds anything else or was changed."""
    if not folders.holds(folder, parameters, WHAT):
        return Saved()
    tables, path = _tables(folder, parameters), folder / STATE_FILE
    rows = [len(table.read()) for table in tables]
    if not path.exists():
        # an interruption before the first state leaves nothing of later iterations
        later = [old for old in sorted(folder.glob("checkpoint-*")) if old.name > "checkpoint-000001"]
        if later or rows[0] > 1:
            raise folders.FolderError(f"{path} is gone, but {later[0] if later else tables[0].path} is there: restore the file")
        return Saved()
    state = folders.read_sealed(path)
    try:
        there, sums, evaluated = folder / state["checkpoint"], dict(state["files"]), int(state["evaluations"])
        saved = Saved(there, int(state["iteration"]), int(state["steps"]), float(state["seconds"]), int(state["snapshots"]))
    except (ValueError, TypeError, KeyError) as error:
        raise folders.FolderError(f"{path} is damaged ({type(error).__name__}: {error})") from error
    for table, lines, number in zip(tables, rows, (saved.iteration, evaluated), strict=True):
        if lines < number:
            had = f"has {lines} lines below its header, but had {number} at iteration {saved.iteration}"
            raise folders.FolderError(f"{table.path} {had}: restore the file")
    found = _checksums(there)
    changed = sorted(name for name in found.keys() | sums.keys() if found.get(name) != sums.get(name))
    if changed:
        why = "was changed" if changed[0] in found and changed[0] in sums else "is missing" if changed[0] in sums else "was added"
        raise folders.FolderError(f"the checkpoint {there} cannot be read: {changed[0]} {why}")
    return saved


def _over(run: Run, iteration: int, seconds: float) -> bool:
    done = run.iterations is not None and iteration >= run.iterations
    return done or (run.minutes is not None and seconds >= 60 * run.minutes)


def _tables(folder: Path, parameters: dict[str, Any]) -> tuple[folders.Lines, folders.Lines]:
    """The tables of iterations and of evaluations."""
    key = folders.key_of(parameters, WHAT)

    def table(name: str, columns: tuple[str, ...]) -> folders.Lines:
        return folders.Lines(folder / name, key, ",".join(columns), durable=True, remedy="restore the file")

    return table("progress.csv", PROGRESS), table("evaluations.csv", EVALUATION)


def _line(row: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    text = StringIO()
    csv.DictWriter(text, columns, lineterminator="").writerow(row)
    return text.getvalue()


def _iteration(line: str) -> int:
    return int(line.split(",", 1)[0])


def _checksums(folder: Path) -> dict[str, str]:
    """A checksum of every file below `folder`."""
    return {
        path.relative_to(folder).as_posix(): blake2b(path.read_bytes(), digest_size=8).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _number(value: Any) -> float:
    return float("nan") if value is None else round(float(value), 6)
