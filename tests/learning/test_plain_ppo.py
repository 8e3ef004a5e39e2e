"""The plain loop: its loss against an obvious computation and against RLlib's, what it repeats, saves and learns."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner

from citadels_agents import Collector
from citadels_agents.networks import Network as Player
from citadels_env import GERMAN, InvalidArgumentError
from citadels_env.actions import N_ACTIONS
from citadels_experiments.learning import plain_ppo
from citadels_experiments.learning.evaluation import win_share
from citadels_experiments.learning.games import Games
from citadels_experiments.learning.network import Network
from citadels_experiments.learning.plain_ppo import Settings, batch_of, iterate, loss_of, policy_of, save, train

SMALL = {"num_games": 8, "steps": 16, "minibatch_size": 48, "hidden": (16,)}


def fragment(games=(("players", 4),), hidden=(16,)):
    """A fragment of what a network with strong opinions did, its batch, and the network after some change."""
    torch.manual_seed(0)
    batch = Games.from_config(dict(games)).batch(16, 1)
    network = Network(batch.observation_size, hidden)
    torch.nn.init.normal_(network.policy.weight)
    collector = Collector(batch, 32)
    collector.stagger(200)
    rows = collector.collect([policy_of(network)])[0][0]
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape))
    return rows, batch_of(rows), network


def obvious_loss(network, rows, settings):
    """PPO's loss by a masked categorical distribution over all actions."""
    logits, values = network(torch.from_numpy(rows["observations"]))
    distribution = torch.distributions.Categorical(logits=logits.masked_fill(torch.from_numpy(rows["masks"]) == 0, -1e9))
    advantages = torch.from_numpy((rows["advantages"] - rows["advantages"].mean()) / rows["advantages"].std(ddof=1))
    chances, before = distribution.log_prob(torch.from_numpy(rows["actions"])), torch.from_numpy(rows["log_probabilities"])
    ratio = chances.exp() / before.exp()
    assert ((ratio < 1 - settings.clip) | (ratio > 1 + settings.clip)).any()
    gain = torch.minimum(ratio * advantages, ratio.clip(1 - settings.clip, 1 + settings.clip) * advantages)
    errors = (torch.from_numpy(rows["targets"]) - values) ** 2
    return (-gain + settings.value_weight * errors - settings.entropy_weight * distribution.entropy()).mean()


def gradients(network, loss):
    network.zero_grad()
    loss.backward()
    return [parameter.grad.clone() for parameter in network.parameters()]


@pytest.mark.parametrize("games", [(("players", 4),), (("players", (2, 8)), ("rewards", "score"))])
def test_the_loss_and_its_gradients_are_those_of_masked_distributions(games):
    rows, batch, network = fragment(games)
    settings = Settings()
    loss, parts = loss_of(network, batch, settings)
    expected = obvious_loss(network, rows, settings)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
    for ours, theirs in zip(gradients(network, loss), gradients(network, expected), strict=True):
        assert (ours - theirs).abs().max() <= 1e-4 * theirs.abs().max()
    weighted = parts["policy_loss"] + settings.value_weight * parts["value_error"] - settings.entropy_weight * parts["entropy"]
    assert weighted.item() == pytest.approx(loss.item(), rel=1e-5)
    assert all(part.item() != 0 for part in parts.values())


def test_rllibs_learners_compute_the_same_loss_from_masks_and_from_lists_of_legal_answers():
    pytest.importorskip("ray")
    from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
    from ray.rllib.core.columns import Columns
    from ray.rllib.evaluation.postprocessing import Postprocessing

    from citadels_experiments.learning.fast import fast_ppo
    from citadels_experiments.learning.games import LEARNER, spaces_of

    rows, batch, network = fragment()
    seen = {"observation": batch["observations"]}
    columns = {
        Columns.ACTIONS: batch["actions"],
        Columns.ACTION_LOGP: batch["log_probabilities"],
        Columns.ACTION_DIST_INPUTS: torch.zeros(len(rows["actions"]), N_ACTIONS),  # read, but not used
        Postprocessing.ADVANTAGES: batch["advantages"],
        Postprocessing.VALUE_TARGETS: batch["targets"],
    }
    config, spaces = fast_ppo({"players": 4}, hidden=(16,)), {LEARNER: spaces_of(Games.from_config({"players": 4}))}
    expected = loss_of(network, batch, Settings())[0]
    whole = gradients(network, expected)
    for learner_class, extra in (
        (config.learner_class, {"legal": batch["legal"]}),
        (PPOTorchLearner, {"action_mask": torch.from_numpy(rows["masks"])}),
    ):
        learner = config.copy(copy_frozen=False).learners(learner_class=learner_class).build_learner(spaces=spaces)
        module = learner.module[LEARNER].unwrapped()
        module.load_state_dict(network.state_dict())
        given = {Columns.OBS: {**seen, **extra}, **columns}
        loss = learner.compute_loss_for_module(
            module_id=LEARNER, config=learner.config.get_config_for_module(LEARNER), batch=given, fwd_out=module.forward_train(given)
        )
        assert loss.item() == pytest.approx(expected.item(), rel=1e-4), learner_class
        for ours, theirs in zip(gradients(module, loss), whole, strict=True):
            assert (ours - theirs).abs().max() <= 1e-4 * theirs.abs().max()


def test_minibatches_are_of_one_size_and_hold_every_row_once_an_epoch(monkeypatch):
    seen = []

    def noted(network, batch, settings):
        seen.append(batch["log_probabilities"].numpy())
        return loss_of(network, batch, settings)

    monkeypatch.setattr(plain_ppo, "loss_of", noted)
    train(Settings(**{**SMALL, "epochs": 3, "minibatch_size": 30}), iterations=1)
    assert len(seen) == 3 * 3
    assert max(map(len, seen)) - min(map(len, seen)) <= 1
    epochs = [np.sort(np.concatenate(seen[k : k + 3])) for k in (0, 3, 6)]
    assert 0 < len(epochs[0]) <= 128  # the last decision of each seat waits for its next
    assert np.array_equal(epochs[0], epochs[1]) and np.array_equal(epochs[0], epochs[2])
    assert not np.array_equal(seen[0], seen[3])


def weights_after(iterations, **changes):
    network, _ = train(Settings(**{**SMALL, **changes}), iterations=iterations)
    return torch.cat([parameter.detach().ravel() for parameter in network.parameters()])


def test_the_same_seed_gives_the_same_weights_and_another_one_others():
    first = weights_after(3, seed=5)
    torch.rand(3)
    assert torch.equal(first, weights_after(3, seed=5))
    assert not torch.equal(first, weights_after(3, seed=6))
    assert torch.isfinite(first).all()


@pytest.mark.parametrize("games", [{"opponents": "random"}, {"opponents": {"self": 1, "heuristic": 1}}, {"players": [2, 5, 8]}])
def test_other_opponents_and_player_counts_are_learned_from_too(games):
    reports = []
    _, steps = train(Settings(games, **SMALL), iterations=3, progress=lambda network, report: reports.append(report))
    assert steps == 3 * 8 * 16
    assert [report["iteration"] for report in reports] == [1, 2, 3]
    assert [report["steps"] for report in reports] == [128, 256, 384]
    for report in reports:
        assert np.isfinite(list(report.values())).all()
        assert report["entropy"] > 0 and report["value_error"] > 0 and report["steps_per_second"] > 0


def test_bfloat16_changes_the_loss_by_its_rounding_only():
    _, batch, network = fragment()
    for name, exact in loss_of(network, batch, Settings())[1].items():
        rough = loss_of(network, batch, Settings(bfloat16=True))[1][name]
        assert rough.dtype == torch.float32
        assert 0 < abs(rough.item() - exact.item()) < 0.02
    assert torch.isfinite(weights_after(2, bfloat16=True)).all()


def test_training_ends_with_the_minutes():
    _, steps = train(Settings(**SMALL), minutes=1e-9)
    assert steps == 128


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "a number of iterations or of minutes is needed"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1, not 0"),
        ({"minutes": -1.0}, "minutes must be a finite number of at least 0, not -1"),
        ({"minutes": float("nan")}, "minutes must be a finite number of at least 0, not nan"),
        ({"iterations": 3, "minutes": 0.0}, "minutes must be a finite number above 0, not 0"),
    ],
)
def test_training_without_a_positive_end_is_refused(limits, message):
    with pytest.raises(ValueError, match=message):
        train(Settings(**SMALL), **limits)


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_games", 0), ("steps", 1.5), ("epochs", 10**6), ("learning_rate", float("nan")), ("gamma", 1.1), ("lambda_", True),
     ("gradient_clip", -1), ("hidden", (0,)), ("hidden", 256), ("bfloat16", "yes"), ("seed", -1)],
)  # fmt: skip
def test_impossible_settings_are_refused_by_name_and_value(name, value):
    with pytest.raises(InvalidArgumentError, match=f"{name}.*, not "):
        Settings(**{name: value})


def test_impossible_games_are_refused():
    with pytest.raises(ValueError, match="nobody_known"):
        train(Settings({"opponents": "nobody_known"}, **SMALL), iterations=1)


def test_a_saved_network_plays_the_same_without_torch(tmp_path):
    settings = Settings({"players": 3, "rewards": "rank"}, **SMALL)
    network, report = next(iterate(settings))
    player = Player.load(save(tmp_path / "network.safetensors", network, settings, report["steps"]))
    assert player.rules == (GERMAN.with_(players=3),)
    assert player.rows == 3
    assert player.training["steps"] == 128
    assert player.training["settings"]["games"] == {"players": 3, "rewards": "rank"}
    seen = Games.from_config({"players": 3}).batch(20, 2).observations()
    logits, values = policy_of(network)(seen, None)
    assert np.allclose(player(seen)[0], logits, atol=1e-5)
    assert np.allclose(player(seen)[1], values, atol=1e-5)


@pytest.mark.slow
def test_the_command_learns_reports_and_writes_the_network(tmp_path):
    path = tmp_path / "network.safetensors"
    result = CliRunner().invoke(plain_ppo.main, ["--minutes", "0.0001", "--players", "3", "--save", str(path)])
    assert result.exit_code == 0, result.output
    assert "16,384 steps" in result.output
    assert "against random, fair 0.333" in result.output and "against heuristic" in result.output
    assert Player.load(path).rows == 3


def test_the_command_names_unknown_opponents():
    result = CliRunner().invoke(plain_ppo.main, ["--opponents", "nobody_known"])
    assert result.exit_code == 2
    assert "nobody_known" in result.output


@pytest.mark.slow
def test_it_learns_to_beat_random_players_from_scratch():
    network, _ = train(Settings(), iterations=20)
    share = win_share(policy_of(network), Games.from_config({}), "random", 400)
    assert share.fair == 0.25
    assert share.share >= 0.75  # measured: 0.91 to 0.93 after 15 to 47 iterations
