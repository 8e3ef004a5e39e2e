"""Proximal policy optimisation in one file: the reference to read, to check others against, and to copy.

    python -m citadels_experiments.learning.plain_ppo --minutes 2 --save network.safetensors

PPO (Schulman et al. 2017) with generalised advantage estimates, in the manner of CleanRL: no classes but the settings.  One
network answers for all seats of "self".  What is particular to this game:

- A game asks one seat at a time, in irregular order.  `Collector` plays a hundred games side by side and works out advantages
  along each seat's own decisions; a decision whose successor has not come yet is returned with the next fragment, so
  fragments differ by a few rows.
- A few of 1353 actions are legal.  The loss looks at legal answers only, the same as masking the others' logits.
- Rewards come at the end of a game, hence gamma 1.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded; threads that spin take each other's cores

import click
import numpy as np
import torch

from citadels_agents import Collector
from citadels_agents.networks import save_network
from citadels_agents.rollout import MAX_STEPS, Policy, legal_lists
from citadels_env.checks import MAX_SIDE_BY_SIDE, items, real_number, seed_number, true_or_false, whole_number
from citadels_env.errors import InvalidArgumentError

from ..click_types import Finite
from .evaluation import win_share
from .games import Games
from .network import HIDDEN, Network, legal_distribution


@dataclass(frozen=True)
class Settings:
    """What is learned, and how; defaults as those of `fast.fast_ppo`.

    Raises InvalidArgumentError (a ValueError) for impossible numbers.
    """

    games: Mapping[str, Any] = field(default_factory=dict)  # what is played, as in Games.from_config
    num_games: int = 128  # games side by side
    steps: int = 128  # answers of each game per iteration
    epochs: int = 2
    minibatch_size: int = 4096
    learning_rate: float = 5e-4
    gamma: float = 1.0  # from one decision of a seat to its next
    lambda_: float = 0.95
    clip: float = 0.2
    entropy_weight: float = 0.01
    value_weight: float = 0.5
    gradient_clip: float = 0.5
    hidden: tuple[int, ...] = HIDDEN
    bfloat16: bool = False  # multiply matrices in that precision: faster, where the processor can
    seed: int = 0

    def __post_init__(self) -> None:
        for name, most in (("num_games", MAX_SIDE_BY_SIDE), ("steps", MAX_STEPS), ("epochs", 1000), ("minibatch_size", 100_000_000)):
            whole_number(name, getattr(self, name), 1, most)
        for name in ("learning_rate", "clip", "entropy_weight", "value_weight", "gradient_clip"):
            real_number(name, getattr(self, name), 0)
        for name in ("gamma", "lambda_"):
            real_number(name, getattr(self, name), 0, 1)
        for width in items("hidden", self.hidden, "widths of layers"):
            whole_number("hidden (a width)", width, 1, 65_536)
        true_or_false("bfloat16", self.bfloat16)
        seed_number(self.seed, "seed", 2**63 - 1)


def policy_of(network: Any, bfloat16: bool = False) -> Policy:
    """The network as `Collector` and `win_share` ask it."""

    def policy(seen: Any, masks: Any) -> tuple[Any, Any]:
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            logits, values = network(torch.from_numpy(seen))
        return logits.numpy(), values.numpy()

    return policy


def batch_of(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors of a fragment's decisions: lists of legal answers in place of masks, advantages standardised."""
    batch = {name: torch.from_numpy(rows[name]) for name in ("observations", "actions", "log_probabilities", "advantages", "targets")}
    batch["legal"] = torch.from_numpy(legal_lists(rows["masks"]))
    batch["advantages"] = (batch["advantages"] - batch["advantages"].mean()) / batch["advantages"].std().clamp(min=1e-4)
    return batch


def loss_of(network: Any, batch: Mapping[str, Any], settings: Settings) -> tuple[Any, dict[str, Any]]:
    """The loss of a minibatch, and what it is made of."""
    with torch.autocast("cpu", torch.bfloat16, enabled=settings.bfloat16):
        logits, values = network.on_legal(batch["observations"], batch["legal"])
    logs, probabilities, place = legal_distribution(logits, batch["legal"], batch["actions"])
    ratio = (logs.gather(1, place).squeeze(1) - batch["log_probabilities"]).exp()
    clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
    policy_loss = -torch.min(batch["advantages"] * ratio, batch["advantages"] * clipped).mean()
    value_loss = (values - batch["targets"]).square().mean()
    entropy = -(probabilities * logs).sum(-1).mean()
    loss = policy_loss + settings.value_weight * value_loss - settings.entropy_weight * entropy
    return loss, {"policy_loss": policy_loss.detach(), "value_error": value_loss.detach(), "entropy": entropy.detach()}


def iterate(settings: Settings) -> Iterator[tuple[Any, dict[str, float]]]:
    """Learn without end: after each iteration the network, which learns on, and what there is to report.

    That is `iteration`, `steps` (answers so far), `steps_per_second` (of this iteration), `games` (that ended), and means of
    `policy_loss`, `value_error` and `entropy`.  On one machine with as many threads the same settings give the same weights.

    Raises ValueError for impossible games.
    """
    torch.manual_seed(settings.seed)
    deal, choose = np.random.SeedSequence(settings.seed).generate_state(2, np.uint64)
    games = Games.from_config(settings.games)
    batch = games.batch(settings.num_games, int(deal))
    collector = Collector(batch, settings.steps, gamma=settings.gamma, lambda_=settings.lambda_, seed=int(choose))
    collector.stagger(games.stagger)  # so that games do not all begin and end together
    network = Network(batch.observation_size, settings.hidden)
    optimizer = torch.optim.Adam(network.parameters(), settings.learning_rate)
    for iteration in count(1):
        started = time.perf_counter()
        fragments, ended = collector.collect([policy_of(network, settings.bfloat16)])
        rows, reports = batch_of(fragments[0]), []
        size = len(rows["actions"])
        for _ in range(settings.epochs):
            # each row once an epoch, in minibatches of one size but for a row
            for chosen in torch.randperm(size).tensor_split(max(1, round(size / settings.minibatch_size))):
                loss, parts = loss_of(network, {name: column[chosen] for name, column in rows.items()}, settings)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), settings.gradient_clip)
                optimizer.step()
                reports.append(parts)
        answers = settings.num_games * settings.steps
        report = {"iteration": iteration, "steps": iteration * answers, "steps_per_second": answers / (time.perf_counter() - started)}
        means = {name: sum(float(parts[name]) for parts in reports) / len(reports) for name in reports[0]}
        yield network, {**report, "games": len(ended), **means}


def train(
    settings: Settings,
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    progress: Callable[[Any, dict[str, float]], None] | None = None,
) -> tuple[Any, int]:
    """The network, and how many answers it has learned from, after `iterations` or `minutes`, whichever is over first.

    progress: called after each iteration with the network and what `iterate` says of it; its time counts.

    Raises ValueError if both are missing or one is not positive, and for impossible settings.
    """
    if iterations is None and minutes is None:
        raise InvalidArgumentError("a number of iterations or of minutes is needed, not None and None")
    if iterations is not None:
        whole_number("iterations", iterations, 1)
    if minutes is not None and not real_number("minutes", minutes, 0):
        raise InvalidArgumentError(f"minutes must be a finite number above 0, not {minutes}")
    started = time.perf_counter()
    for network, report in iterate(settings):
        if progress:
            progress(network, report)
        if report["iteration"] == iterations or (minutes and time.perf_counter() - started >= 60 * minutes):
            return network, int(report["steps"])
    raise AssertionError("iterate() does not end")


def save(path: str | Path, network: Any, settings: Settings, steps: int) -> Path:
    """Write the network to a file that plays without torch."""
    games = Games.from_config(settings.games)
    tensors = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    training = {"by": "plain_ppo", "steps": steps, "settings": asdict(settings)}
    return save_network(path, tensors, rules=games.rules, rules_shares=games.rules_shares, rows=games.rows, training=training)


@click.command(help="Learn by playing against oneself, with PPO.")
@click.option("--minutes", type=Finite(min=0, min_open=True), default=2.0, show_default=True)
@click.option("--players", type=click.IntRange(2, 8), default=4, show_default=True)
@click.option("--opponents", default="self", show_default=True, help="Who sits in the other seats: self, or an agent by name.")
@click.option("--bfloat16", is_flag=True, help="Multiply matrices in that precision.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--save", "path", type=click.Path(dir_okay=False, path_type=Path), help="Where to write the network.")
def main(minutes: float, players: int, opponents: str, bfloat16: bool, seed: int, path: Path | None) -> None:
    """The command."""
    settings = Settings({"players": players, "opponents": opponents}, bfloat16=bfloat16, seed=seed)

    def evaluate(network: Any) -> None:
        for name in ("random", "heuristic"):
            share = win_share(policy_of(network, bfloat16), Games.from_config(settings.games), name, 400)
            click.echo(f"wins {share.share:.3f} ({share.low:.3f} to {share.high:.3f}) against {name}, fair {share.fair:.3f}")

    def progress(network: Any, report: dict[str, float]) -> None:
        click.echo(
            f"{report['iteration']:5} {report['steps']:12,} steps {report['steps_per_second']:8,.0f} per second  "
            f"entropy {report['entropy']:.3f}  value error {report['value_error']:.4f}"
        )
        if report["iteration"] % 20 == 0:
            evaluate(network)

    try:
        network, steps = train(settings, minutes=minutes, progress=progress)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    evaluate(network)
    if path:
        click.echo(f"wrote {save(path, network, settings, steps)}")


if __name__ == "__main__":
    main()
