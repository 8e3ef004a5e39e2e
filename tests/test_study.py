"""The study of role sets: intervals, counting, comparing, going on after an interruption."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from citadels_agents import play_games
from citadels_env import FRENCH, GERMAN
from citadels_env.cards import ROLE_INDEX
from citadels_experiments import plots, report, stats, study

NINE = ("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord", "Artist")
GAME = np.dtype(
    [
        ("rounds", "i2"), ("decisions", "i4"), ("truncated", "u1"), ("bell_tower", "u1"), ("scores", "i2", 8), ("wins", "f4", 8),
        ("drafted", "i2", (8, 18)), ("first_crown", "i1"),
    ]
)  # fmt: skip


# --- intervals -----------------------------------------------------------------


def test_wilson_gives_the_textbook_numbers():
    low, high = stats.wilson([0.5, 0.0, 1.0], [20, 10, 10])
    assert low == pytest.approx([0.29930, 0.0, 0.72247], abs=1e-5)
    assert high == pytest.approx([0.70070, 0.27753, 1.0], abs=1e-5)


@pytest.mark.parametrize(("p", "n"), [(0.25, 40), (0.25, 400), (0.05, 100)])
def test_wilson_covers_shares_at_least_as_often_as_it_says(p, n):
    rng = np.random.default_rng(1)
    # one game in five is shared by two: 0, 1/2 or 1, with mean p
    tied = rng.random((4000, n)) < 0.2
    wins = np.where(tied, 0.5 * (rng.random((4000, n)) < 2 * p), rng.random((4000, n)) < p)
    low, high = stats.wilson(wins.mean(axis=1), n)
    assert np.mean((low <= p) & (p <= high)) > 0.935


def test_mean_is_the_t_interval():
    values = np.random.default_rng(2).normal(10, 3, 25)
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert stats.mean(values.sum(), (values**2).sum(), 25) == pytest.approx((values.mean(), expected.low, expected.high))


def test_ratio_covers_when_games_are_clusters():
    """In each game something happens 0 to 9 times, all of them good or all of them bad: a naive interval is far too narrow."""
    rng = np.random.default_rng(3)
    times = rng.integers(0, 10, (3000, 200))
    good = times * (rng.random((3000, 200)) < 0.3)
    moments = ((good**2).sum(1), (good * times).sum(1), (times**2).sum(1))
    value, low, high = stats.ratio(good.sum(1), times.sum(1), moments, 200)
    assert np.mean((low <= 0.3) & (high >= 0.3)) == pytest.approx(0.95, abs=0.015)
    naive_low, naive_high = stats.wilson(value, times.sum(1))
    assert np.mean((naive_low <= 0.3) & (naive_high >= 0.3)) < 0.75


def test_jackknife_of_a_mean_is_the_t_interval_of_the_blocks():
    blocks = np.random.default_rng(4).normal(0, 1, 20)
    expected = ttest_1samp(blocks, 0).confidence_interval(0.95)
    found = stats.jackknife(lambda total, n: total / n, blocks, np.ones(20))
    assert found == pytest.approx((blocks.mean(), expected.low, expected.high))


def test_jackknife_covers_a_ratio_of_blocks():
    rng = np.random.default_rng(5)
    bottom = rng.integers(50, 150, (2000, 20))
    top = rng.binomial(bottom, 0.4)
    found = [stats.jackknife(lambda a, b: a / b, *pair) for pair in zip(top, bottom, strict=True)]
    assert np.mean([low <= 0.4 <= high for _, low, high in found]) == pytest.approx(0.95, abs=0.015)


def test_one_block_has_no_interval():
    assert np.isnan(stats.jackknife(lambda a: a, np.array([3.0]))[1:]).all()


def test_fair_games_stay_below_the_chance_line_in_95_of_100_studies():
    rng = np.random.default_rng(6)
    rates = rng.multinomial(300, [0.2] * 5, 20_000) / 300
    assert np.mean(stats.deviation(rates) <= stats.chance_deviation(5, 300)) == pytest.approx(0.95, abs=0.007)
    assert np.mean(stats.fair_probability(rates, 300) < 0.05) == pytest.approx(0.05, abs=0.007)


def test_deviation_is_in_win_rate():
    assert stats.deviation([0.35, 0.15, 0.25, 0.25]) == pytest.approx(np.sqrt((0.1**2 + 0.1**2) / 4))


# --- the sets ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "size", "number"),
    [
        (2, None, 256),
        (3, None, 256),
        (4, None, 256),
        (5, None, 512),
        (6, None, 512),
        (7, None, 512),
        (8, None, 512),
        (4, 8, 256),
        (7, 8, 256),
    ],
)
def test_number_of_role_sets(players, size, number):
    sets = study.role_sets(players, size)
    assert len(set(sets)) == number
    ninth = {roles[8] for roles in sets if len(roles) == 9}
    assert ninth == (set() if size == 8 or players < 4 else {"Artist"} if players == 4 else {"Artist", "Queen"})


def test_every_role_set_is_allowed_by_the_rules():
    for players in range(2, 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for roles in study.role_sets(players)[::7]:
                assert GERMAN.with_(players=players, roles=roles).roles == roles


def test_roles_asked_for_restrict_their_rank_only():
    sets = study.role_sets(4, only=("Witch", "Emperor", "King"))
    assert len(sets) == 128
    assert {roles[0] for roles in sets} == {"Witch"}
    assert {roles[3] for roles in sets} == {"King", "Emperor"}


def test_emperor_and_queen_can_be_kept_apart():
    sets = study.role_sets(5, emperor_with_queen=False)
    assert len(sets) == 384
    assert not any({"Emperor", "Queen"} <= set(roles) for roles in sets)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 4, "only": ["Joker"]}, "no role 'Joker'"),
        ({"players": 4, "only": ["Queen"]}, "five or more players"),
        ({"players": 3, "only": ["Artist"]}, "rank 9"),
        ({"players": 3, "size": 9}, "S-2"),
        ({"players": 8, "size": 8}, "S-2"),
    ],
)
def test_impossible_sets_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        study.role_sets(**arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sets": ()}, "at least one"),
        ({"games": 1}, "games must be a whole number from 2 to 10,000,000, not 1"),
        ({"agents": ("random", "random")}, "each of the 4 seats"),
        ({"sets": (NINE[:7],)}, "S-1"),
    ],
)
def test_impossible_studies_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        study.Study(**({"rules": GERMAN, "sets": (NINE,)} | changes))


# --- counting ------------------------------------------------------------------


def made_games(n, players=4):
    """`n` games in which nothing happens; the caller fills in what the test is about."""
    games = np.zeros(n, GAME)
    games["wins"][:, 0] = 1
    games["rounds"] = 10
    return games


def record_of(index, games, roles):
    return {"set": index, "seed": 0, **study.count(games, roles, 4)}


def test_seats_are_counted_from_the_first_crown():
    games = made_games(4)
    games["first_crown"] = [0, 1, 2, 3]
    games["wins"] = 0
    games["wins"][:, 2] = 1  # player 2 wins all
    games["scores"][:, 2] = 30
    table = study.set_table([record_of(0, games, NINE)])
    assert table.loc[0, ["win_0", "win_1", "win_2", "win_3"]].tolist() == [0.25] * 4
    assert table.loc[0, ["score_0", "score_1", "score_2", "score_3"]].tolist() == [7.5] * 4
    games["first_crown"] = 1
    table = study.set_table([record_of(0, games, NINE)])
    assert table.loc[0, ["win_0", "win_1", "win_2", "win_3"]].tolist() == [0, 1, 0, 0]


def test_set_table_counts_what_happened():
    games = made_games(50)
    games["rounds"][:25] = 8
    games["bell_tower"][:5] = 1
    games["truncated"][:2] = 1
    games["wins"][:10] = [0.5, 0.5, 0, 0, 0, 0, 0, 0]
    games["scores"][:, :4] = [20, 10, 10, 0]
    row = study.set_table([record_of(7, games, NINE)]).loc[0]
    assert (row["set"], row["games"], row["rank_1"], row["rank_9"]) == (7, 50, "Assassin", "Artist")
    assert (row["rounds"], row["score"], row["winning_score"]) == (9, 10, 20)
    assert (row["bell_tower"], row["truncated"], row["tied"]) == (0.1, 0.04, 0.2)
    assert (row["win_0"], row["win_1"], row["win_2"]) == pytest.approx((0.9, 0.1, 0))
    assert row["rounds_low"] < 9 < row["rounds_high"]
    assert (row["win_0_low"], row["win_0_high"]) == pytest.approx(stats.wilson(0.9, 50))
    assert row["seat_deviation_observed"] == pytest.approx(stats.deviation([0.9, 0.1, 0, 0]))
    values = games["wins"][:, :4].astype(float)
    expected = stats.squared_deviation(values.mean(axis=0), np.cov(values.T) / 50)
    assert row["seat_deviation"] == pytest.approx(np.sqrt(expected))  # ties and all


def test_role_table_counts_drafts_per_round_and_wins_per_draft():
    games = made_games(100)
    king, thief = ROLE_INDEX["King"], ROLE_INDEX["Thief"]
    games["drafted"][:, 0, king] = 3  # the winner drafts the King in 3 of 10 rounds, a loser in 1
    games["drafted"][:, 1, king] = 1
    games["drafted"][:50, 1, thief] = 2
    table = study.role_table([record_of(0, games, NINE)]).set_index("role")
    assert table.loc["King", ["drafts", "drafted", "win"]].tolist() == pytest.approx([400, 0.4, 0.75])
    assert table.loc["Thief", ["drafts", "drafted", "win"]].tolist() == pytest.approx([100, 0.1, 0])
    assert table.loc["Thief", "drafted_low"] < 0.1 < table.loc["Thief", "drafted_high"]
    assert table.loc["Bishop", "drafts"] == 0
    assert np.isnan(table.loc["Bishop", "win"])
    everywhere = study.overall_roles([record_of(0, games, NINE)]).set_index("role")
    assert everywhere.loc["King", ["sets", "drafts", "drafted", "win"]].tolist() == pytest.approx([1, 400, 0.4, 0.75])
    assert "Witch" not in everywhere.index


def planted(roles, n=400):
    """Games in which the Witch costs two rounds and the Emperor gives half of the games, drawn at random, to seat 0."""
    rng = np.random.default_rng([study.RANK_OF[role] * 2 + (ROLE_INDEX[role] % 2) for role in roles])
    games = made_games(n)
    games["rounds"] = rng.integers(8, 12, n) + 2 * ("Witch" in roles)
    winner = rng.integers(0, 4, n)
    if "Emperor" in roles:
        winner[rng.permutation(n)[: n // 2]] = 0  # games in a fixed rhythm would fall into the same blocks
    games["wins"] = 0
    games["wins"][np.arange(n), winner] = 1
    return games


def test_pair_table_finds_what_was_planted():
    records = [record_of(i, planted(roles), roles) for i, roles in enumerate(study.role_sets(4))]
    table = study.pair_table(records).set_index(["second", "measure"])
    assert (table["sets"] == 128).all()
    found = table.loc[("Witch", "rounds")]
    assert found["difference"] == pytest.approx(2, abs=0.03)
    assert found["difference_low"] <= 2 <= found["difference_high"]
    assert found["with_second"] - found["with_first"] == pytest.approx(found["difference"])
    found = table.loc[("Emperor", "seat_deviation")]
    assert found["difference"] == pytest.approx(stats.deviation([0.625, 0.125, 0.125, 0.125]), abs=0.01)
    assert table.loc[("Emperor", "seat_deviation"), "q"] < 1e-6
    nothing = table.drop(index=[("Witch", "rounds"), ("Emperor", "seat_deviation")])
    nothing = nothing[nothing.index.get_level_values("measure") == "rounds"]
    assert (nothing["difference"].abs() < 0.03).all()


def test_pairs_are_compared_over_equal_sets_only():
    sets = [NINE, ("Witch", *NINE[1:]), (NINE[0], "Tax Collector", *NINE[2:8], "Artist")]
    records = [record_of(i, planted(roles), roles) for i, roles in enumerate(sets)]
    table = study.pair_table(records)
    assert set(zip(table["second"], table["sets"], strict=True)) == {("Witch", 1), ("Tax Collector", 1)}
    assert study.pair_table(records[:1]).empty


# --- playing and going on ------------------------------------------------------

SMALL = study.Study(
    GERMAN.with_(players=4, roles=NINE, add_districts=("Bell Tower",)),
    tuple(study.role_sets(4, only=("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant"))),
    agents=("random",),
    games=30,
    seed=5,
)


def test_a_set_is_what_play_games_plays():
    records = study.run(SMALL)
    games = play_games(SMALL.rules_of(3), agents="random", num_games=30, seed=SMALL.seed_of(3))
    assert sum(records[3]["rounds"]) == games["rounds"].sum()
    assert np.sum(records[3]["agent_wins"], axis=0) == pytest.approx(games["wins"][:, :4].sum(axis=0))
    assert np.sum(records[3]["wins"]) == pytest.approx(30)
    assert sum(records[3]["truncated"]) == games["truncated"].sum()


def without_times(records):
    return [{name: value for name, value in record.items() if name != "seconds"} for record in records]


def test_only_paired_studies_share_their_seeds():
    paired = replace(SMALL, paired=True)
    assert [paired.seed_of(index) for index in range(4)] == [5] * 4
    assert len({SMALL.seed_of(index) for index in range(4)}) == 4
    assert SMALL.seed_of(2) == replace(SMALL, sets=SMALL.sets[2:]).seed_of(0)
    assert SMALL.seed_of(2) != replace(SMALL, seed=6).seed_of(2)
    crowns = study.run(replace(paired, rules=FRENCH.with_(roles=NINE)))
    assert crowns[0]["rounds"] != crowns[1]["rounds"]


def test_pairing_makes_games_of_two_sets_alike():
    """What a paired study rests on: the same shuffle lets games of two sets end at similar rounds."""
    plan = replace(SMALL, games=3000, agents=("heuristic",), paired=True)
    first, second = (play_games(plan.rules_of(index), num_games=3000, seed=plan.seed_of(index))["rounds"] for index in (0, 1))
    assert np.corrcoef(first, second)[0, 1] > 0.06
    assert abs(np.corrcoef(first[:-1], second[1:])[0, 1]) < 0.06


def test_threads_and_the_other_sets_change_nothing(tmp_path):
    alone = replace(SMALL, sets=SMALL.sets[2:3])
    both = study.run(SMALL, threads=2)
    assert without_times(both) == without_times(study.run(SMALL, tmp_path / "kept", threads=1))
    assert study.run(alone)[0]["rounds"] == both[2]["rounds"]
    assert study.run(replace(SMALL, seed=6))[2]["decisions"] != both[2]["decisions"]


class Interrupted(Exception):  # noqa: N818
    pass


def stop_after(number):
    def progress(stream, total, there):
        for done, record in enumerate(stream):
            if done == number:
                raise Interrupted
            yield record

    return progress


def test_an_interrupted_study_goes_on_and_ends_the_same(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    study.write_tables(study.run(SMALL, whole), whole)
    with pytest.raises(Interrupted):
        study.run(SMALL, cut, progress=stop_after(2))
    parts = cut / "parts.jsonl"
    assert len(parts.read_text().splitlines()) == 2
    parts.write_bytes(parts.read_bytes() + b'{"set": 2, "rounds": [1')  # a line that was being written
    seen = []

    def watch(stream, total, there):
        for record in stream:
            seen.append((record["set"], total, there))
            yield record

    study.write_tables(study.run(SMALL, cut, threads=2, progress=watch), cut)
    assert seen == [(2, 4, 2), (3, 4, 2)]
    for name in ("sets.csv", "roles.csv", "roles_overall.csv", "pairs.csv"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes()
    assert [json.loads(line)["set"] for line in parts.read_text().splitlines()] == [0, 1, 2, 3]


def test_other_parameters_are_refused_by_name(tmp_path):
    study.run(SMALL, tmp_path)
    before = (tmp_path / "parts.jsonl").read_bytes()
    other = replace(SMALL, rules=SMALL.rules.with_(city_size=7), sets=SMALL.sets[1:], agents=("random",) * 4, games=31, seed=9)
    with pytest.raises(ValueError, match="other parameters") as error:
        study.run(other, tmp_path)
    for line in ("games: 30 there, 31 asked", "seed: 5 there, 9 asked", "city_size: 8 there, 7 asked", "sets: 4 there, 3 asked"):
        assert line in str(error.value)
    assert "agents" not in str(error.value)  # one agent for all and four equal ones are the same
    assert (tmp_path / "parts.jsonl").read_bytes() == before


def test_other_sources_are_refused(tmp_path, monkeypatch):
    study.run(SMALL, tmp_path)
    monkeypatch.setattr(study, "sources", lambda: "0" * 16)
    with pytest.raises(ValueError, match="sources"):
        study.run(replace(SMALL), tmp_path)


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(ValueError, match="no study"):
        study.run(SMALL, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_unknown_agent_leaves_no_folder(tmp_path):
    with pytest.raises(ValueError, match="nobody"):
        study.run(replace(SMALL, agents=("nobody",)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_tables_read_back(tmp_path):
    records = study.run(SMALL)
    paths = study.write_tables(records, tmp_path)
    assert sorted(path.name for path in paths) == ["pairs.csv", "roles.csv", "roles_overall.csv", "sets.csv"]
    sets = pd.read_csv(tmp_path / "sets.csv")
    assert len(sets) == 4
    assert sets[["win_0", "win_1", "win_2", "win_3"]].sum(axis=1).to_numpy() == pytest.approx(np.ones(4), abs=1e-4)
    roles = pd.read_csv(tmp_path / "roles.csv")
    assert len(roles) == 36
    per_round = roles.groupby("set")["drafted"].sum().to_numpy()
    assert per_round == pytest.approx([4.0] * 4, abs=1e-3)  # four players draft one role each


@pytest.mark.parametrize("sets", [SMALL.sets, SMALL.sets[:1]])
def test_the_plot_is_a_picture_that_depends_on_the_numbers_only(sets):
    records = study.run(replace(SMALL, sets=sets))
    pictures = [plots.png(plots.fairness_and_length(records, "title")) for _ in range(2)]
    assert pictures[0][:8] == b"\x89PNG\r\n\x1a\n"
    assert pictures[0] == pictures[1]


def test_the_report_shows_the_agents_where_they_differ():
    mixed = replace(SMALL, agents=("random", "heuristic", "random", "random"))
    text = report.study_text(mixed, study.run(mixed))
    assert "AGENTS" in text
    assert "AGENTS" not in report.study_text(SMALL, study.run(SMALL))
    for heading in ("ALL 4 SETS", "EXCHANGING ONE ROLE", "ROLES", "ROLE SETS", "Ass Thi Mag Kin Bis Mer Nav Dip Art"):
        assert heading in text


def test_the_report_leaves_out_the_middle():
    text = report.study_text(SMALL, study.run(SMALL), show=1)
    lines = text[text.index("ROLE SETS") :].splitlines()
    assert "the 1 fairest and the 1 least fair of 4" in lines[0]
    assert [line.strip()[:3] for line in lines[3:6]][1] == "..."
    assert lines[6].startswith("seat:")
