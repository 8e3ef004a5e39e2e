"""Tournaments: who sits where, counting, intervals that may be looked at, going on after an interruption, agents that fail."""

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path

import choix
import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import citadels_agents
from citadels_agents import RESULT
from citadels_agents.networks import save_network
from citadels_env import FRENCH, GERMAN, Game, observation
from citadels_env.actions import N_ACTIONS
from citadels_experiments import cli, ladder, stats, tournament, tournament_plots
from citadels_experiments.plots import png
from citadels_experiments.tournament import Tournament, Units

SMALL = Tournament(GERMAN, ("heuristic", "random"), blocks=4)
EVERY_FILE = ("games.csv", "shares.csv", "duels.csv", "differences.csv", "strengths.csv", "summary.json", "manifest.json")


def invoke(*arguments, code=0):
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


# --- intervals -----------------------------------------------------------------


def shares(rng, kind, shape):
    """Values between 0 and 1 like the win shares of replicates, and their mean."""
    if kind == "blocks of four":
        p = (0.35, 0.4, 0.18, 0.06, 0.01)
        return rng.choice(np.arange(5) / 4, shape, p=p), float(np.dot(p, np.arange(5) / 4))
    if kind == "rarely won":
        return (rng.random(shape) < 0.02).astype(float), 0.02
    return rng.beta(2, 6, shape), 0.25


@pytest.mark.parametrize("kind", ["blocks of four", "rarely won", "many fields"])
def test_the_anytime_interval_holds_for_all_times_at_once(kind):
    rng = np.random.default_rng(1)
    values, mean = shares(rng, kind, (1500, 600))
    enough = np.log(2 / 0.05)
    above = stats.log_capital(values, mean).max(axis=1) >= enough
    below = stats.log_capital(1 - values, 1 - mean).max(axis=1) >= enough
    assert np.mean(above | below) <= 0.05 + 0.015


def test_an_interval_of_fixed_length_does_not_stand_being_looked_at():
    values, mean = shares(np.random.default_rng(2), "blocks of four", (300, 600))
    missed = np.zeros(300, bool)
    for n in range(20, 600, 5):
        _, low, high = stats.clustered_share(4 * values[:, :n], np.full((300, n), 4))
        missed |= (mean < low) | (mean > high)
    assert missed.mean() > 0.2  # the anytime interval, looked at more often, stays below 0.065 above


def test_the_anytime_interval_is_what_the_capital_says():
    """It holds exactly the means against which nobody has won enough."""
    rng = np.random.default_rng(3)
    for n in (1, 7, 60, 400):
        values, _ = shares(rng, "blocks of four", n)
        value, low, high = stats.anytime(values)
        assert value == pytest.approx(values.mean())
        for mean in np.linspace(0.001, 0.999, 201):
            rich = stats.log_capital(values, mean)[-1] >= np.log(40) or stats.log_capital(1 - values, 1 - mean)[-1] >= np.log(40)
            if min(abs(mean - low), abs(mean - high)) > 1e-6:
                assert rich == (not low < mean < high)


def test_the_gambler_does_not_look_ahead():
    values = np.random.default_rng(4).random(50)
    other = values.copy()
    other[30:] = 1 - other[30:]
    assert stats.log_capital(values, 0.4)[:30] == pytest.approx(stats.log_capital(other, 0.4)[:30])
    stakes, changed = (np.diff(stats.log_capital(v, 0.4), prepend=0.0)[30] for v in (values, other))
    assert np.expm1(stakes) / (values[30] - 0.4) == pytest.approx(np.expm1(changed) / (other[30] - 0.4))


def test_the_anytime_interval_shrinks_with_the_variance():
    rng = np.random.default_rng(5)
    wide, narrow = rng.choice([0.0, 1.0], 1000, p=[0.75, 0.25]), rng.beta(20, 60, 1000)
    lengths = [high - low for _, low, high in map(stats.anytime, (wide, narrow))]
    assert lengths[1] < lengths[0] / 4
    assert lengths[0] < 2.5 * 2 * 1.96 * wide.std() / np.sqrt(1000)  # the interval that must not be looked at, times 2.5
    assert stats.anytime(1 - wide) == pytest.approx((1 - wide.mean(), 1 - stats.anytime(wide)[2], 1 - stats.anytime(wide)[1]))


@pytest.mark.parametrize(("p", "blocks"), [(0.25, 40), (0.02, 300), (0.98, 300)])
@pytest.mark.parametrize("together", [False, True], ids=["games independent", "blocks won or lost as a whole"])
def test_the_clustered_interval_covers(p, blocks, together):
    rng = np.random.default_rng(6)
    wins = 4 * (rng.random((2000, blocks)) < p) if together else rng.binomial(4, p, (2000, blocks))
    games = np.full((2000, blocks), 4)
    value, low, high = stats.clustered_share(wins, games)
    assert value == pytest.approx(wins.mean(axis=1) / 4)
    assert np.mean((low <= p) & (p <= high)) > 0.93
    if together:
        naive_low, naive_high = stats.wilson(value, 4 * blocks)
        assert np.mean((naive_low <= p) & (p <= naive_high)) < 0.8


def test_an_agent_that_always_wins_may_still_lose():
    value, low, high = stats.clustered_share([4, 4, 4, 4, 4], [4, 4, 4, 4, 4])
    assert value == high == 1
    assert 0.3 < low < 0.6
    assert np.isnan(stats.clustered_share([4], [4])[1])


def luce_orders(rng, strengths, n):
    """Finishing orders of `n` games of all agents, first to last."""
    return np.argsort(-(np.asarray(strengths) + rng.gumbel(size=(n, len(strengths)))), axis=1)


def pairs_of(orders, agents):
    ahead = np.zeros((len(orders), agents, agents))
    for i in range(agents):
        for j in range(i + 1, agents):
            ahead[np.arange(len(orders)), orders[:, i], orders[:, j]] = 1
    return ahead


def test_strengths_agree_with_choix_on_whole_orders():
    orders = luce_orders(np.random.default_rng(7), [1.0, 0.3, 0.0, -1.3], 3000)
    expected = choix.ilsr_rankings(4, orders.tolist())
    assert stats.strengths(pairs_of(orders, 4).sum(axis=0)) == pytest.approx(expected, abs=0.05)
    assert stats.strengths(pairs_of(orders, 4).sum(axis=0)) == pytest.approx([1.0, 0.3, 0.0, -1.3], abs=0.1)


def test_intervals_of_strengths_cover():
    rng, truth = np.random.default_rng(8), np.array([0.8, 0.0, -0.8])
    inside = []
    for _ in range(60):
        low, high = stats._bootstrap_strengths(pairs_of(luce_orders(rng, truth, 120), 3), slice(None), 0.95, repeats=50)
        inside.append((low <= truth) & (truth <= high))
    assert np.mean(inside) == pytest.approx(0.94, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [10, 50])
@pytest.mark.parametrize("spread", [0.0, 0.5], ids=["games independent", "games of a replicate alike"])
def test_intervals_of_strengths_cover_with_few_replicates(replicates, spread):
    """Where the bootstrap's do not."""
    rng, truth = np.random.default_rng(8), np.array([1.5, 0.5, 0.2, 0.0, -0.7, -1.5])

    def drawn(n):
        luck = spread * rng.normal(size=(n, 6)).repeat(8, axis=0)
        orders = np.argsort(-(truth + luck + rng.gumbel(size=(8 * n, 6))), axis=1)
        return pairs_of(orders, 6).reshape(n, 8, 6, 6).sum(axis=1)

    inner = np.arange(1, 5)
    aim, _ = stats._centred(drawn(20_000).sum(axis=0), inner)
    held, bootstrap = [], []
    for _ in range(200):
        clusters = drawn(replicates)
        value, low, high = stats.strength_intervals(clusters)
        held.append((low <= aim) & (aim <= high))
        low, high = stats._bootstrap_strengths(clusters, inner, 0.95, repeats=80)
        bootstrap.append((low <= aim) & (aim <= high))
        assert np.sort(value)[1:5].mean() == pytest.approx(0)
    assert 0.935 < np.mean(held) < 0.975
    assert np.mean(bootstrap) < np.mean(held)
    if replicates == 10:
        assert np.mean(bootstrap) < 0.91


def test_the_strength_of_one_who_never_loses_is_finite_and_vague():
    ahead = np.zeros((50, 2, 2))
    ahead[:, 0, 1] = 4
    for clusters in (ahead, np.tile(ahead, (4, 1, 1))):  # jackknife and bootstrap
        value, low, high = stats.strength_intervals(clusters)
        assert value[0] == pytest.approx(-value[1])
        assert value[0] > 2
        assert high[0] - low[0] > 1
    assert np.isnan(stats.strength_intervals(ahead[:1])[1]).all()


def test_an_agent_that_never_wins_does_not_blur_the_others():
    """The same games with and without it: intervals of the others stay about as wide."""
    orders = luce_orders(np.random.default_rng(9), [1.0, 0.5, 0.0, -0.5, -12.0], 300)
    for games, width in ((300, 0.5), (90, 1.0)):
        value, low, high = stats.strength_intervals(pairs_of(orders[:games], 5))
        assert value[4] < -4
        assert high[4] - low[4] > 2
        assert max(high[:4] - low[:4]) < width
        assert value[1:4].mean() == pytest.approx(0)


# --- who plays whom ------------------------------------------------------------


@pytest.mark.parametrize("agents", range(2, 10))
@pytest.mark.parametrize("players", range(2, 9))
def test_mixed_line_ups_are_balanced(agents, players):
    lineups = tournament.mixed_lineups(agents, players, np.random.default_rng(agents))
    counts = np.array([np.bincount(lineup, minlength=agents) for lineup in lineups])
    assert (counts.sum(axis=1) == players).all()
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert len(set(counts.sum(axis=0))) == 1
    assert len(lineups) == np.lcm(agents, players) // players


def test_mixed_line_ups_bring_all_agents_together():
    met = np.zeros((6, 6))
    for seed in range(300):
        for lineup in tournament.mixed_lineups(6, 4, np.random.default_rng(seed)):
            met[np.ix_(lineup, lineup)] += 1
    others = met[~np.eye(6, dtype=bool)]
    assert others.min() > 0.85 * others.mean()


def test_everybody_of_a_line_up_sits_everywhere():
    seats = {(agent, seat) for game in range(5) for seat, agent in enumerate(tournament.rotated("abcde", game))}
    assert len(seats) == 25
    assert tournament.rotated("abcde", 0) == tuple("abcde")
    assert tournament.rotated("abcde", 1) == tuple("eabcd")


def test_every_two_agents_meet_both_ways_in_duels():
    t = Tournament(GERMAN, ("random", "heuristic", "builder"), "duel")
    lineups = {block.lineup for block in t.replicate(0)}
    assert lineups == {(c, f, f, f) for c in range(3) for f in range(3) if c != f}


def test_fields_restrict_duels():
    t = Tournament(GERMAN, ("random", "builder"), fields=("expert",))
    assert [block.lineup for block in t.replicate(3) if block.design == "duel"] == [(0, 2, 2, 2), (1, 2, 2, 2)]
    assert t.names == ("random", "builder", "expert")


def test_duels_of_a_replicate_share_their_seed_and_nothing_else_does():
    t = Tournament(GERMAN, ("random", "heuristic", "builder"))
    seeds = []
    for number in range(50):
        blocks = t.replicate(number)
        assert len({block.seed for block in blocks if block.design == "duel"}) == 1
        seeds += list({block.seed for block in blocks})
    assert len(set(seeds)) == len(seeds) == 50 * 4  # the duels, and three mixed blocks
    assert replace(t, seed=1).replicate(0) != t.replicate(0)
    assert replace(t, blocks=7, precision=0.1).replicate(5) == t.replicate(5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ("random",)}, "two agents"),
        ({"agents": ("random", "random")}, "named twice"),
        ({"agents": ("random", "nobody")}, "nobody"),
        ({"design": "swiss"}, "swiss"),
        ({"blocks": 1}, "blocks must be a whole number from 2 to 10,000,000, not 1"),
        ({"precision": 0.7}, "precision must be a finite number from 0 to 0.5, not 0.7"),
        ({"precision": 0.0}, "between 0 and 0.5, not 0.0"),
        ({"precision": float("nan")}, "precision must be a finite number from 0 to 0.5, not nan"),
    ],
)
def test_impossible_tournaments_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **changes)


def test_parameters_come_back_from_the_manifest():
    t = Tournament(FRENCH.with_(players=5, add_districts=("Museum",)), ("random", "heuristic"), "duel", 7, 3, 0.1, ("builder",))
    assert Tournament.from_parameters(json.loads(json.dumps(t.parameters))) == t
    assert Tournament.from_parameters(replace(t, anytime=True).parameters).anytime
    older = {name: value for name, value in t.parameters.items() if name != "anytime"}
    assert Tournament.from_parameters(older).anytime  # a precision meant confidence sequences
    assert not Tournament.from_parameters(older | {"precision": None}).anytime


# --- counting ------------------------------------------------------------------


class Luce:
    """An agent that exists by its strength only."""

    in_kernel = True

    def __init__(self, name):
        self.name = name


STRENGTHS = {"strong": 1.0, "middle": 0.0, "weak": -1.0}


def play_luce(rules, lineups, seeds, threads=1):
    """Games whose finishing order is drawn from the strengths: a function of line-up and seed."""
    n, players = len(lineups), rules.players
    lineups = [[getattr(agent, "name", agent) for agent in lineup] for lineup in lineups]
    keys = np.array([zlib.crc32("-".join(lineup).encode()) for lineup in lineups], np.uint64)
    bits = np.array(seeds, np.uint64)[:, None] ^ keys[:, None] << np.uint64(20)
    with np.errstate(over="ignore"):
        for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
            bits = (bits + np.arange(players, dtype=np.uint64) ^ bits >> np.uint64(29)) * np.uint64(factor)
    uniform = (bits >> np.uint64(11)).astype(float) / 2**53 + 1e-12
    order = np.argsort(-(np.array([[STRENGTHS[name] for name in lineup] for lineup in lineups]) - np.log(-np.log(uniform))), axis=1)
    results = np.zeros(n, RESULT)
    results["scores"][np.arange(n)[:, None], order] = 30 - np.arange(players)
    results["wins"][np.arange(n), order[:, 0]] = 1
    results["rounds"], results["decisions"], results["seat_decisions"][:, :players] = 9, 40 * players, 40
    return results


@pytest.fixture
def luce(monkeypatch):
    monkeypatch.setattr(tournament, "make", Luce)
    monkeypatch.setattr(tournament, "play_lineups", play_luce)
    return Tournament(GERMAN, tuple(STRENGTHS), blocks=60)


def test_shares_are_those_of_the_model(luce):
    units = Units.of(luce, tournament.run(luce))
    e = np.exp(list(STRENGTHS.values()))
    assert len(tournament.duel_table(units)) == 6
    for _, row in tournament.duel_table(units).iterrows():
        c, f = (e[list(STRENGTHS).index(row[name])] for name in ("challenger", "field"))
        assert row["share"] == pytest.approx(c / (c + 3 * f), abs=0.1)
        assert row["games"] == 240
    strengths = tournament.strength_table(units)
    assert list(strengths["agent"]) == ["strong", "middle", "weak"]
    assert strengths["finishing"].to_numpy() == pytest.approx([1, 0, -1], abs=0.15)
    assert strengths["winning"].to_numpy() == pytest.approx([1, 0, -1], abs=0.25)
    table = tournament.share_table(units).set_index(["design", "agent"])
    assert table.loc[("mixed", "strong"), "fair"] == pytest.approx(1 / 3)  # four seats for three agents: 16 of 48
    assert table.loc[("duel", "strong"), "fair"] == 0.25
    assert (table["decisions"] == 40).all()
    mixed = table.loc["mixed"]
    assert (mixed["share"]).sum() == pytest.approx(1)
    assert mixed.loc["strong", "times_fair"] == pytest.approx(3 * mixed.loc["strong", "share"])


def test_what_is_counted_is_what_the_games_say(luce):
    """The same numbers the long way round, game by game."""
    games = tournament.run(replace(luce, blocks=3))
    units = Units.of(luce, games)
    wins, seats = np.zeros((2, 2, 3))
    for _, row in games.iterrows():
        line = [row[f"agent_{seat}"] for seat in range(4)]
        challenger = min(line, key=line.count)
        for seat in range(4):
            if row["design"] == "mixed" or line[seat] == challenger:
                at = tournament.DESIGNS.index(row["design"]), list(STRENGTHS).index(line[seat])
                wins[at] += row[f"win_{seat}"]
                seats[at] += 1
    assert units.wins.sum(axis=2) == pytest.approx(wins)
    assert units.seats.sum(axis=2) == pytest.approx(seats)
    assert units.before.sum() == pytest.approx(units.before.transpose(0, 2, 1).sum())
    duels = games[games["design"] == "duel"]
    assert units.duel_games.sum() == len(duels) == 3 * 6 * 4
    pairs = sum(row[f"agent_{a}"] != row[f"agent_{b}"] for _, row in games.iterrows() for a in range(4) for b in range(a))
    assert units.before.sum() == pairs


def test_ties_count_half_for_each(luce):
    games = tournament.run(replace(luce, design="duel", blocks=2))
    for seat in range(4):
        games[f"score_{seat}"], games[f"win_{seat}"] = 20, 0.25
    units = Units.of(luce, games)
    assert tournament.duel_table(units)["share"].to_numpy() == pytest.approx(0.25)
    assert (units.before == units.before.transpose(0, 2, 1)).all()
    for seat in range(4):  # of equal scores, that of the strong challenger wins by a tie-break
        line = games[[f"agent_{other}" for other in range(4)]]
        alone = (line == "strong").sum(axis=1) == 1
        games.loc[alone, f"win_{seat}"] = (line.loc[alone, f"agent_{seat}"] == "strong").astype(float)
    broken = Units.of(luce, games)
    assert broken.duel_wins[:, :, 0].tolist() == [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
    assert units.before[0].tolist() == [[0, 12, 12], [12, 0, 12], [12, 12, 0]]
    assert broken.before[0].tolist() == [[0, 18, 18], [6, 0, 12], [6, 12, 0]]
    assert units.won[0].tolist() == [[0, 6, 6], [6, 0, 6], [6, 6, 0]]
    assert broken.won[0].tolist() == [[0, 15, 15], [3, 0, 6], [3, 6, 0]]


def test_differences_are_paired(luce):
    t = replace(luce, agents=("strong", "weak"), fields=("middle",))
    units = Units.of(t, tournament.run(t))
    table = tournament.difference_table(units)
    assert len(table) == 1
    row = table.iloc[0]
    duels = tournament.duel_table(units).set_index("challenger")
    assert (row["first"], row["second"], row["fields"]) == ("strong", "weak", 1)
    assert row["difference"] == pytest.approx(duels.loc["strong", "share"] - duels.loc["weak", "share"])
    assert row["difference_low"] > 0.2


def test_the_misfit_of_strengths_is_by_chance_where_the_model_holds(luce):
    found = tournament.misfit(Units.of(luce, tournament.run(luce)))
    assert 0.3 < found["root_mean_square"] / found["by_chance"] < 2
    assert found["by_chance"] == pytest.approx(0.026, abs=0.006)  # 240 games a duel


def test_the_misfit_names_the_duel_that_the_strengths_get_wrong(luce, tmp_path, monkeypatch):
    """Weak agents that beat the strong one when they are alone among its copies."""

    def play(rules, lineups, seeds, threads=1):
        results = play_luce(rules, lineups, seeds)
        for k, lineup in enumerate(lineups):
            names = [agent.name for agent in lineup]
            if sorted(names) == ["strong"] * 3 + ["weak"] and k % 4 < 3:
                results["wins"][k] = [name == "weak" for name in names] + [0] * 4
        return results

    monkeypatch.setattr(tournament, "play_lineups", play)
    units = Units.of(luce, tournament.run(luce))
    found = tournament.misfit(units)
    assert (found["largest"]["challenger"], found["largest"]["field"]) == ("weak", "strong")
    assert found["root_mean_square"] > 4 * found["by_chance"]
    duels = tournament.duel_table(units)
    off = duels["share"] - duels["by_strength"]
    assert found["root_mean_square"] == pytest.approx(np.sqrt((off**2).mean()))
    strengths = tournament.strength_table(units).set_index("agent")["winning"]
    worth = np.exp(strengths)
    for _, row in duels.iterrows():
        c, f = worth[row["challenger"]], worth[row["field"]]
        assert row["by_strength"] == pytest.approx(c / (c + 3 * f))
    results_of(luce, tmp_path)
    kept = json.loads((tmp_path / "summary.json").read_text())["misfit"]
    assert kept["root_mean_square"] == pytest.approx(found["root_mean_square"])
    assert kept["largest"]["share"] == pytest.approx(found["largest"]["share"])
    share = 100 * found["largest"]["share"]
    page = "\n".join(ladder._render(ladder.load(tmp_path), ladder._markdown, "{}"))
    for text in (ladder.results_text(ladder.load(tmp_path)), page):
        assert re.search(rf"Misfit.* points off .*weak against strong, {share:.1f} % instead of", text)


def test_there_is_no_misfit_where_the_strengths_can_fit_every_duel(luce, tmp_path):
    t = replace(luce, agents=("strong",), fields=("middle",), design="duel")
    assert tournament.misfit(Units.of(t, tournament.run(t))) is None
    results_of(t, tmp_path)
    assert "Misfit" not in ladder.results_text(ladder.load(tmp_path))
    mixed = replace(luce, design="mixed")
    assert tournament.misfit(Units.of(mixed, tournament.run(mixed))) is None


# --- playing -------------------------------------------------------------------


def results_of(t, folder, **options):
    tournament.write_results(t, tournament.run(t, folder, **options), folder)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_threads_change_no_byte(tmp_path):
    one, two = (results_of(SMALL, tmp_path / str(threads), threads=threads) for threads in (1, 2))
    assert one == two
    assert set(EVERY_FILE) <= set(one)
    pictures = [png(tournament_plots.standings(ladder.load(tmp_path / str(threads)))) for threads in (1, 2)]
    assert pictures[0] == pictures[1]
    other = results_of(replace(SMALL, seed=1), tmp_path / "other")
    assert other["games.csv"] != one["games.csv"]


def test_a_block_is_one_deal(tmp_path):
    games = tournament.run(SMALL)
    assert len(games) == 4 * 3 * 4
    for (design, _, _), block in games.groupby(["design", "replicate", "block"]):
        assert block["seed"].nunique() == block["first_crown"].nunique() == 1
        assert sorted(block["game"]) == [0, 1, 2, 3]
        if design == "duel":
            assert [sum(block[f"agent_{seat}"] == "heuristic") for seat in range(4)] in ([1] * 4, [3] * 4)
    first = games.iloc[0]
    again = citadels_agents.play_lineups(SMALL.rules, [[first[f"agent_{seat}"] for seat in range(4)]], [first["seed"]])[0]
    assert again["scores"][:4].tolist() == [first[f"score_{seat}"] for seat in range(4)]


def test_it_stops_when_the_precision_is_reached(luce, tmp_path, monkeypatch):
    wanted = replace(luce, blocks=2000, precision=0.08, design="duel")
    games = tournament.run(wanted, tmp_path / "a")
    replicates = len(games) // (4 * wanted.blocks_per_replicate)
    assert 20 <= replicates < 200
    assert replicates == tournament.next_check(replicates - 1)
    units = Units.of(wanted, games)
    table = tournament.share_table(units)
    assert (table["share_high"] - table["share_low"] <= 0.16).all()
    strong = stats.clustered_share(units.wins[0, 0, :replicates], units.games[0, 0, :replicates])
    assert table.loc[0, ["share", "share_low", "share_high"]].tolist() == pytest.approx([float(x) for x in strong])
    before = replicates - 1
    while before > 0 and tournament.next_check(before - 1) != before:
        before -= 1
    assert not units.precise(before)
    monkeypatch.setattr(tournament, "CHUNK_SECONDS", 1e-9)  # block by block: the clock changes nothing
    tournament.run(wanted, tmp_path / "b")
    assert (tmp_path / "a" / "games.csv").read_bytes() == (tmp_path / "b" / "games.csv").read_bytes()
    tournament.write_results(wanted, games, tmp_path / "a")
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["stopped"] == "the precision was reached"
    assert summary["interval"] == "95 %, for stopping at their width"


@pytest.mark.parametrize("kind", ["games independent", "blocks of four", "blocks won or lost as a whole", "many fields"])
@pytest.mark.parametrize("precision", [0.06, 0.04])
def test_intervals_that_are_stopped_by_their_width_cover(kind, precision):
    rng, tournaments, most = np.random.default_rng(11), 3000, 800
    if kind == "games independent":
        wins, mean = rng.binomial(4, 0.25, (tournaments, most)), 0.25
    elif kind == "blocks won or lost as a whole":
        wins, mean = 4 * (rng.random((tournaments, most)) < 0.3), 0.3
    elif kind == "many fields":
        wins, mean = rng.binomial(4, rng.beta(0.5, 1.5, (tournaments, most))), 0.25
    else:
        values, mean = shares(rng, kind, (tournaments, most))
        wins = 4 * values
    held, running = np.zeros(tournaments, bool), np.arange(tournaments)
    n = tournament.next_check(0)
    while len(running) and n <= most:
        _, low, high = stats.clustered_share(wins[running, :n], np.full((len(running), n), 4))
        done = high - low <= 2 * precision
        held[running[done]] = ((low <= mean) & (mean <= high))[done]
        running = running[~done]
        n = tournament.next_check(n)
    assert not len(running)
    assert 0.93 <= held.mean() <= 0.96


def test_with_anytime_it_stops_by_confidence_sequences(luce, tmp_path):
    wanted = replace(luce, blocks=2000, precision=0.06, design="duel")
    replicates = {}
    for anytime in (False, True):
        t = replace(wanted, anytime=anytime)
        games = tournament.run(t)
        replicates[anytime] = n = len(games) // (4 * t.blocks_per_replicate)
        units = Units.of(t, games)
        values = units.wins[0, 0, :n] / units.games[0, 0, :n]
        if anytime:
            found = tournament.share_table(units).loc[0, ["share", "share_low", "share_high"]].tolist()
            assert found == pytest.approx(stats.anytime(values))
            tournament.write_results(t, games, tmp_path)
            assert json.loads((tmp_path / "summary.json").read_text())["interval"] == "95 %, at any time (confidence sequences)"
    assert 2 < replicates[True] / replicates[False] < 6
    short = replace(luce, blocks=30, anytime=True)  # without a precision they allow to look at what is there
    row = tournament.share_table(Units.of(short, tournament.run(short))).iloc[0]
    plain = tournament.share_table(Units.of(luce, tournament.run(replace(luce, blocks=30)))).iloc[0]
    assert row["share"] == plain["share"]
    assert row["share_high"] - row["share_low"] > 1.4 * (plain["share_high"] - plain["share_low"])


def test_a_stopped_tournament_covers_the_truth(luce):
    """Over many tournaments that each stop when they look precise, the intervals hold the true share."""
    true = np.exp(1) / (np.exp(1) + 3)
    held = []
    for seed in range(20):
        t = replace(luce, agents=("strong",), fields=("middle",), design="duel", blocks=200, precision=0.13, seed=seed)
        row = tournament.share_table(Units.of(t, tournament.run(t))).iloc[0]
        held.append(row["share_low"] <= true <= row["share_high"])
    assert np.mean(held) >= 0.9


def test_checks_are_a_fixed_list():
    checks = [n for n in range(1, 300) if tournament.next_check(n - 1) == n]
    assert checks[:20] == list(range(20, 40))
    assert all(tournament.next_check(a) == b for a, b in itertools.pairwise(checks))
    assert len(checks) < 90


@pytest.mark.parametrize("cut", [0.0, 0.02, 0.4, 0.999])
def test_an_interrupted_tournament_goes_on_as_if_nothing_had_happened(luce, tmp_path, monkeypatch, cut):
    t = replace(luce, blocks=4)
    whole = results_of(t, tmp_path / "whole")
    tournament.run(t, tmp_path / "cut")
    text = (tmp_path / "cut" / "games.csv").read_bytes()
    (tmp_path / "cut" / "games.csv").write_bytes(text[: int(cut * len(text))])
    played = []

    def counting(rules, lineups, seeds, threads=1):
        played.extend(seeds)
        return play_luce(rules, lineups, seeds)

    monkeypatch.setattr(tournament, "play_lineups", counting)
    assert results_of(t, tmp_path / "cut") == whole
    lines = text[: int(cut * len(text))].count(b"\n")
    assert len(played) == 4 * 9 * 4 - max(0, lines - 1) // 4 * 4  # nothing but the broken block is played again
    played.clear()
    assert results_of(t, tmp_path / "cut") == whole
    assert played == []


def test_a_folder_of_another_tournament_is_refused(luce, tmp_path):
    tournament.run(replace(luce, blocks=2), tmp_path / "a")
    with pytest.raises(ValueError, match=r"seed: 0 there, 5 asked for") as caught:
        tournament.run(replace(luce, blocks=2, seed=5), tmp_path / "a")
    assert "blocks" not in str(caught.value)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "letter.txt").write_text("dear")
    with pytest.raises(ValueError, match="no tournament"):
        tournament.run(luce, tmp_path / "b")
    games = tmp_path / "a" / "games.csv"
    games.write_text(games.read_text().replace("strong", "middle"))
    with pytest.raises(ValueError, match=r"games\.csv, line 2: its checksum does not fit"):
        tournament.run(replace(luce, blocks=2), tmp_path / "a")


@pytest.mark.slow
def test_killed_in_the_middle_and_going_on(tmp_path):
    code = (
        "import sys\n"
        "from citadels_env import GERMAN\n"
        "from citadels_experiments import tournament\n"
        "from pathlib import Path\n"
        "tournament.CHUNK_SECONDS = 0.05\n"
        "t = tournament.Tournament(GERMAN, ('heuristic', 'random'), blocks=3000)\n"
        "tournament.run(t, Path(sys.argv[1]))\n"
    )
    t = Tournament(GERMAN, ("heuristic", "random"), blocks=3000)
    games = tmp_path / "killed" / "games.csv"
    root = Path(__file__).parent.parent
    paths = os.pathsep.join(str(root / folder) for folder in (".", "agents", "experiments"))
    process = subprocess.Popen([sys.executable, "-c", code, str(games.parent)], env={**os.environ, "PYTHONPATH": paths})
    deadline = time.monotonic() + 300
    while not (games.exists() and games.stat().st_size > 20_000):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = games.read_bytes()
    assert kept.count(b"\n") < 3000 * 3 * 4
    tournament.run(t, games.parent, threads=2)
    tournament.run(t, tmp_path / "whole")
    assert games.read_bytes() == (tmp_path / "whole" / "games.csv").read_bytes()
    assert games.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])


# --- agents that fail ----------------------------------------------------------


class Careless:
    """Plays the first legal answer, but after some answers one that is illegal, or raises."""

    def __init__(self, name, answer):
        self.name, self.answer, self.answers = name, answer, 0

    def act(self, view):
        self.answers += 1
        if self.answers == 25:
            return self.answer()
        return int(view.legal_indices()[0])


def raising():
    raise ZeroDivisionError("no idea")


FAILING = {"careless": lambda: "fly to the moon", "raising": raising}


@pytest.fixture
def careless(monkeypatch):
    """A tournament of two agents of which one fails in its longer games."""

    def make(name):
        return Careless(name, FAILING[name]) if name in FAILING else citadels_agents.make(name)

    def play(rules, lineups, seeds, threads=1):
        made = [[make(name) if name in FAILING else name for name in lineup] for lineup in lineups]
        return citadels_agents.play_lineups(rules, made, seeds, threads=threads)

    monkeypatch.setattr(tournament, "make", make)
    monkeypatch.setattr(tournament, "play_lineups", play)
    return Tournament(GERMAN, ("careless", "heuristic", "random"), blocks=2, design="duel")


@pytest.mark.parametrize(("agent", "reason"), [("careless", "fly to the moon"), ("raising", "ZeroDivisionError: no idea")])
def test_failures_are_reported_and_left_out(careless, tmp_path, agent, reason):
    t = replace(careless, agents=(agent, *careless.agents[1:]))
    games = tournament.run(t, tmp_path)
    failures = tournament.failures(tmp_path)
    assert 0 < len(failures) == games["failed"].sum() < len(games)
    failed = games[games["failed"] == 1]
    assert not failed[[f"win_{seat}" for seat in range(4)]].to_numpy().any()
    for failure, (_, row) in zip(failures, failed.iterrows(), strict=True):
        assert reason in failure["reason"]
        assert failure["agent"] == agent == row[f"agent_{failure['seat']}"]
        assert all(failure[name] == row[name] for name in ("replicate", "block", "game", "seed"))
        text = (tmp_path / failure["file"]).read_text()
        game = Game.replay(text)
        assert game.actor == failure["seat"]
        assert text.startswith(Game(t.rules, failure["seed"]).notation())
    units = Units.of(t, games)
    blocks = games.groupby(["replicate", "block"])["failed"].max()
    assert units.failed_blocks == blocks.sum() > 0
    table = tournament.share_table(units).set_index("agent")
    assert (table["blocks"] + table["failed_blocks"] == 2 * 2).all()
    others = games[~(games[[f"agent_{seat}" for seat in range(4)]] == agent).any(axis=1)]
    assert len(others) == 2 * 2 * 4
    assert not others["failed"].any()
    tournament.write_results(t, games, tmp_path)
    text = ladder.results_text(ladder.load(tmp_path))
    assert f"{len(failures)} games failed; {blocks.sum()} blocks are left out" in text
    assert failures[0]["file"] in text


def test_the_tournament_stops_when_asked_and_loses_nothing(careless, tmp_path):
    careless = replace(careless, agents=("heuristic", "random", "careless"))
    with pytest.raises(
        tournament.AgentFailedError, match=r"careless failed at seat \d in replicate 0, block \d.*fly to the moon"
    ) as caught:
        tournament.run(careless, tmp_path / "a", threads=16, on_error="stop")  # four blocks at once
    path = Path(str(caught.value).rsplit(" ", 1)[1])
    assert Game.replay(path.read_text()).actor is not None
    kept = (tmp_path / "a" / "games.csv").read_bytes()
    assert kept.count(b"\n") == 1 + 4  # the block of those who do not fail
    with pytest.raises(tournament.AgentFailedError):
        tournament.run(careless, tmp_path / "a", on_error="stop")
    went_on = results_of(careless, tmp_path / "a", on_error="continue")
    assert went_on == results_of(careless, tmp_path / "b", on_error="continue")
    assert went_on["games.csv"].startswith(kept)


def test_failures_survive_an_interruption_once(careless, tmp_path):
    whole = results_of(careless, tmp_path / "a")
    tournament.run(careless, tmp_path / "b")
    games = tmp_path / "b" / "games.csv"
    games.write_bytes(games.read_bytes()[: games.stat().st_size // 2])
    assert results_of(careless, tmp_path / "b") == whole


def test_an_agent_that_always_fails_has_no_numbers(careless, tmp_path, monkeypatch):
    monkeypatch.setattr(Careless, "act", lambda self, view: -1)
    results_of(careless, tmp_path)
    table = ladder.load(tmp_path).tables["shares"].set_index("agent")
    assert table.loc["careless", "blocks"] == 0
    assert np.isnan(table.loc["careless", "share"])
    assert "careless" not in list(ladder.load(tmp_path).tables["strengths"]["agent"])
    assert "careless" in ladder.results_text(ladder.load(tmp_path))
    monkeypatch.setattr(tournament, "TIMED_SECONDS", 0.01)
    assert set(tournament.measure(careless)) == {"heuristic", "random"}


# --- the command and the page --------------------------------------------------

COMMAND = ("tournament", "heuristic", "random", "--quiet", "--blocks", 3)


def test_the_command_writes_what_it_says(tmp_path, monkeypatch):
    monkeypatch.setattr(tournament, "TIMED_SECONDS", 0.01)
    text = invoke(*COMMAND, "--players", "2,3", "--out", tmp_path)
    assert "2 PLAYERS\n18 games: 3 replicates of 3 blocks of 2 games" in text
    assert "3 PLAYERS" in text
    for players in (2, 3):
        folder = tmp_path / f"players-{players}"
        assert {path.name for path in folder.iterdir()} >= {*EVERY_FILE, "speed.json", "tournament.png"}
        speed = json.loads((folder / "speed.json").read_text())["agents"]
        assert speed["heuristic"]["ms_per_decision"] > 0
    assert (tmp_path / "ladder.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"

    def tables(text):
        return [line for line in text[text.index("2 PLAYERS") :].splitlines() if not re.search(r"games/s|^\d+ s$", line)]

    again = invoke(*COMMAND, "--players", "2,3", "--out", tmp_path)
    assert tables(again) == [line.replace("speed.json, ", "") for line in tables(text)]
    assert "holds 3 blocks of each duel already, more than the 2 asked for" in invoke(
        *COMMAND[:-1], 2, "--players", 2, "--out", tmp_path, code=1
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random"], "two agents or more"),
        (["random", "nobody"], "no agent 'nobody'"),
        (["random", "heuristic", "--players", "1-3"], "2 to 8 players"),
        (["random", "heuristic", "--players", "some"], "no number of players"),
        (["random", "heuristic", "--precision", "0"], "0<x<0.5"),
        (["random", "heuristic", "--districts", "Casino"], "Casino"),
    ],
)
def test_mistakes_are_named(arguments, message):
    text = invoke("tournament", *arguments, code=2)
    assert message in text
    assert "Usage:" in text


def test_numbers_of_players_may_be_ranges():
    convert = cli._Players().convert
    assert convert("2-4", None, None) == (2, 3, 4)
    assert convert("8, 2-3,2", None, None) == (8, 2, 3)


def test_agents_come_from_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tournament, "TIMED_SECONDS", 0.01)
    file = tmp_path / "mine.py"
    file.write_text(
        "from citadels_agents import register\n"
        "class First:\n"
        "    name = 'first'\n"
        "    def act(self, view):\n"
        "        return view.legal()[0]\n"
        "register('first-answer', First)\n"
    )
    arguments = ("first-answer", "random", "--players", 2, "--blocks", 2, "--design", "duel", "--agents-from", file)
    text = invoke("tournament", *arguments, "--out", tmp_path / "out")
    assert "first-answer" in text
    manifest = json.loads((tmp_path / "out" / "players-2" / "manifest.json").read_text())
    assert manifest["parameters"]["modules"][0][0] == "mine.py"


def test_the_page_shows_the_tables_and_the_command_that_made_them(luce, tmp_path):
    for players in (3, 4):
        folder = tmp_path / f"players-{players}"
        results_of(replace(luce, rules=GERMAN.with_(players=players, add_districts="all"), blocks=2, precision=0.05), folder)
    page = tmp_path / "page.md"
    page.write_text(f"# Ladder\n\nbefore\n\n{ladder.START}\nold\n{ladder.END}\n\nafter\n")
    text = invoke("ladder", tmp_path)
    (tmp_path / "ladder.png").write_bytes(b"picture")
    invoke("ladder", tmp_path, "--into", page, "--pictures", tmp_path / "pictures")
    assert (tmp_path / "pictures" / "ladder.png").read_bytes() == b"picture"
    written = page.read_text()
    assert "old" not in written
    assert written.startswith("# Ladder\n\nbefore\n")
    assert written.endswith("\nafter\n")
    assert text.split("###", 1)[1] in written
    for piece in ("### 3 players", "### 4 players", "| strong |", "](pictures/ladder.png)", "Head to head", "at most 2 replicates"):
        assert piece in written
    line = re.search(r"^citadels tournament .*$", text, re.MULTILINE).group()
    context = cli.tournament.make_context("tournament", shlex.split(line)[2:])
    assert context.params["agents"] == tuple(STRENGTHS)
    assert context.params["counts"] == (3, 4)
    assert (context.params["edition"], context.params["districts"]) == ("german", "all")
    assert (context.params["blocks"], context.params["precision"], context.params["design"]) == (2, 0.05, "both")
    assert not context.params["anytime"]
    page.write_text("# no place\n")
    assert "no place for results" in invoke("ladder", tmp_path, "--into", page, code=1)


def test_a_page_has_sections(luce, tmp_path):
    for name in ("search", "personas"):
        results_of(replace(luce, blocks=2), tmp_path / name / "players-4")
    text = ladder.ladder_page(tmp_path)
    assert re.findall(r"^#+ .*", text, re.MULTILINE) == ["### Personas", "#### 4 players", "### Search", "#### 4 players"]
    assert "--out ladder/search\n" in text
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no finished tournament"):
        ladder.ladder_page(tmp_path / "empty")


def test_the_page_of_the_repository():
    """It has a place for results, its commands parse, and it explains every column."""
    text = (Path(__file__).parent.parent / "docs" / "ladder.md").read_text(encoding="utf-8")
    assert ladder.START in text
    assert ladder.END in text.split(ladder.START, 1)[1]
    commands = [line.split("#")[0] for line in re.findall(r"^citadels [^\n]*", text, re.MULTILINE)]
    assert len(commands) >= 3
    for line in commands:
        name, *arguments = shlex.split(line.replace("AGENT AGENT ...", "random heuristic"))[1:]
        parameters = {"folder": ".", "into": __file__} if name == "ladder" else {}
        arguments = [parameters.get({"ladder": "folder", "docs/ladder.md": "into"}.get(a, ""), a) for a in arguments]
        assert cli.main.commands[name].make_context(name, arguments).params
    assert "A block balances the seats." in text
    assert "luck" not in text.split("## Results")[0]
    for column in ("misfit", "wins as challenger", "wins in mixed games", "strength by places", "decisions a game", "ms a decision"):
        assert f"| {column} |" in text


def test_budgets_are_drawn_where_there_are_several(luce, tmp_path, monkeypatch):
    for strength, iterations in enumerate((100, 1000)):
        monkeypatch.setitem(STRENGTHS, f"search:iterations={iterations},persona=x", float(strength))
    t = replace(luce, agents=tuple(name for name in STRENGTHS if "=" in name), fields=("middle",), design="duel", blocks=20)
    results_of(t, tmp_path)
    axes = tournament_plots.budgets(ladder.load(tmp_path)).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["100", "1,000"]
    assert "search:persona=x against a field of middle" in axes.get_legend_handles_labels()[1]
    results_of(replace(t, agents=("strong", "weak")), tmp_path / "others")
    assert tournament_plots.budgets(ladder.load(tmp_path / "others")) is None


def test_games_are_also_written_as_parquet_where_pyarrow_is_installed(luce, tmp_path):
    pytest.importorskip("pyarrow")
    t = replace(luce, blocks=2)
    one, two = (results_of(t, tmp_path / name) for name in ("a", "b"))
    assert one["games.parquet"] == two["games.parquet"]
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a" / "games.parquet"), tournament.read_games(tmp_path / "a", 4))


def test_the_better_one_comes_first_in_comparisons(luce, tmp_path):
    results_of(replace(luce, agents=("weak", "strong"), fields=("middle",), design="duel"), tmp_path)
    _, rows = ladder.gains(ladder.load(tmp_path))
    assert [row[:2] for row in rows] == [("strong", "weak")]
    value, low, high = map(float, re.findall(r"[-+][\d.]+", rows[0][2]))
    assert 0 < low < value < high


def test_labels_break_at_options():
    assert tournament_plots.label("expert") == "expert"
    assert tournament_plots.label("ismcts:iterations=1000,persona=expert") == "ismcts:\niterations=1000,\npersona=expert"


def test_the_command_names_the_rules(luce):
    def asked(rules):
        results = ladder.Results(replace(luce, rules=rules, fields=("weak",)), {}, {}, {}, [], {})
        return cli.tournament.make_context("tournament", shlex.split(ladder.command([results]))[2:]).params

    rules = FRENCH.with_(players=6, add_districts=("Museum", "Map Room"))
    named = asked(rules)
    assert (named["edition"], named["counts"], named["fields"]) == ("french", (6,), ("weak",))
    assert cli._rules(named["edition"], None, 6, named["districts"]) == rules
    assert asked(GERMAN)["districts"] is None
    again = ladder.command([ladder.Results(replace(luce, precision=0.1, anytime=True), {}, {}, {}, [], {})])
    assert again.endswith("--precision 0.1 --anytime --out ladder")
    with pytest.raises(click.BadParameter, match=r"rules\.json"):  # rules of one's own are in a file
        asked(GERMAN.with_(city_size=6))


def test_another_network_under_the_same_name_is_another_tournament(tmp_path):
    file, rng = tmp_path / "player.safetensors", np.random.default_rng(0)
    shapes = {"body.0": (8, observation.size(4)), "policy": (N_ACTIONS, 8), "value": (1, 8)}

    def train():
        tensors = {f"{name}.weight": rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
        tensors |= {f"{name}.bias": np.zeros(shape[0], np.float32) for name, shape in shapes.items()}
        save_network(file, tensors, rules=[GERMAN], rows=4)
        return Tournament(GERMAN, (f"network:file={file}", "random"), blocks=2)

    games = tournament.run(train(), tmp_path / "t", 1)
    with pytest.raises(ValueError, match="files: .*" + re.escape(file.name)):
        tournament.run(train(), tmp_path / "t", 1)
    assert len(games) == len(tournament.read_games(tmp_path / "t", 4))
