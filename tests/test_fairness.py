"""How fair role sets are: deviations and their intervals, smoothing over sets, ranks, and fairness that is shown."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from citadels_env import GERMAN
from citadels_experiments import fairness, report, stats, study

BLOCKS = 20


def sums_of_games(rng, shares, games, studies, ties=0.05):
    """Wins (studies, seats) and their sums of products, of games with `ties` won by two; and the win shares that are true then."""
    seats, tied = len(shares), round(ties * games)
    first, second = np.triu_indices(seats, 1)
    both = shares[first] * shares[second]
    both /= both.sum()
    alone = rng.multinomial(games - tied, shares, studies)
    pairs = rng.multinomial(tied, both, studies)
    half = np.zeros((len(first), seats))
    half[np.arange(len(first)), first] = half[np.arange(len(first)), second] = 0.5
    products = np.einsum("mp,pi,pj->mij", pairs, half, half)
    products[:, np.arange(seats), np.arange(seats)] += alone
    return alone + pairs @ half, products, ((games - tied) * shares + tied * both @ half) / games


def biased(seats, points):
    """Shares with a root mean square deviation of `points`, all of it due to the first seat."""
    off = np.full(seats, -1 / (seats - 1))
    off[0] = 1
    return 1 / seats + points / 100 * off / np.sqrt((off**2).mean())


def record(rng, index, roles, shares, games, common=None):
    """A set whose seats win with probabilities `shares`, counted; `common` winners of some games are those of other sets, too."""
    sizes = np.bincount(np.arange(games) * BLOCKS // games).tolist()
    if common is None:
        wins = rng.multinomial(sizes, shares).astype(float)
    else:
        wins = np.zeros((BLOCKS, len(shares)))
        winners = np.where(common >= 0, common, rng.choice(len(shares), games, p=shares))
        np.add.at(wins, (np.arange(games) * BLOCKS // games, winners), 1)
    squares = {"wins": np.diag(wins.sum(axis=0))}
    return {"set": index, "seed": index if common is None else 0, "roles": roles, "games": sizes, "wins": wins, "squares": squares}


def sets_with_effects(rng, players=4, beyond_pairs=0.0):
    """All role sets, and win shares made of effects of roles and pairs of roles and, if wanted, of something for each set."""
    sets = study.role_sets(players)
    columns = fairness.design(sets)
    ranks = round((np.sqrt(8 * columns.shape[1] - 7) - 1) / 2)
    size = np.array([0.0, *[0.006] * ranks, *[0.002] * (columns.shape[1] - 1 - ranks)])
    effects = rng.normal(size=(columns.shape[1], players)) * size[:, None]
    off = columns @ (effects - effects.mean(axis=1, keepdims=True))
    own = rng.normal(size=off.shape) * beyond_pairs
    return sets, 1 / players + off + own - own.mean(axis=1, keepdims=True)


def records_of(rng, sets, shares, games):
    return [record(rng, k, roles, row, games) for k, (roles, row) in enumerate(zip(sets, shares, strict=True))]


# --- one set -------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 4, 8])
@pytest.mark.parametrize("ties", [0.0, 0.2])
def test_a_fair_set_excludes_0_in_at_most_6_of_100_studies(seats, ties):
    rng = np.random.default_rng(1)
    wins, products, _ = sums_of_games(rng, np.full(seats, 1 / seats), 500, 1000, ties)
    (value, low, high), p = stats.seat_deviation(wins / 500, stats.covariance(wins, products, 500) / 500)
    assert np.mean(low > 0) <= 0.06
    assert ((low > 0) == (p < 0.05)).all()
    assert (high > 0.003).all()  # no interval says that a set is perfectly fair
    assert ((low <= value) & (value <= high)).all()


@pytest.mark.parametrize("seats", [2, 4, 8])
@pytest.mark.parametrize("points", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("games", [200, 5000])
def test_the_interval_of_a_deviation_covers(seats, points, games):
    wins, products, shares = sums_of_games(np.random.default_rng(2), biased(seats, points), games, 2000)
    (_, low, high), _ = stats.seat_deviation(wins / games, stats.covariance(wins, products, games) / games)
    truth = stats.deviation(shares)
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.95, abs=0.025)


def test_the_squared_deviation_is_unbiased_where_the_observed_one_is_not():
    wins, products, shares = sums_of_games(np.random.default_rng(3), biased(4, 1.0), 500, 20_000)
    truth = stats.deviation(shares) ** 2
    found = stats.squared_deviation(wins / 500, stats.covariance(wins, products, 500) / 500)
    assert found.mean() == pytest.approx(truth, abs=4 * found.std() / np.sqrt(20_000))
    assert (stats.deviation(wins / 500) ** 2).mean() > 4 * truth


def test_the_interval_of_a_noncentrality_is_exact_and_never_empty():
    rng = np.random.default_rng(4)
    for freedom in (1, 3, 7):
        for true in (0.0, 1.0, 3.0, 60.0):
            low, high = stats.noncentrality(np.sqrt(rng.noncentral_chisquare(freedom, true**2, 4000)), freedom)
            assert np.mean((low <= true) & (true <= high)) == pytest.approx(0.95, abs=0.012)
        assert stats.noncentrality(0.0, freedom)[1] > 1


def test_a_set_always_won_by_one_seat_has_no_interval():
    (value, low, high), p = stats.seat_deviation([1.0, 0.0, 0.0, 0.0], np.zeros((4, 4)))
    assert value == pytest.approx(np.sqrt(0.1875))
    assert np.isnan([low, high, p]).all()


def test_covariances_are_those_of_numpy():
    values = np.random.default_rng(5).random((50, 4))
    assert stats.covariance(values.sum(axis=0), values.T @ values, 50) == pytest.approx(np.cov(values.T))


# --- several sets --------------------------------------------------------------

NINE = ("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord", "Artist")
OFF = np.array([1, -1, 1, -1]) / 100


def test_opposite_biases_of_two_sets_do_not_cancel():
    rng = np.random.default_rng(6)
    records = [record(rng, k, NINE, 0.25 + sign * 2 * OFF, 40_000) for k, sign in enumerate((1, -1))]
    value, low, high = study.seat_deviation(records)
    assert 100 * value == pytest.approx(2.0, abs=0.25)
    assert 0.01 < low < 0.02 < high < 0.03
    pooled = np.sum([r["wins"] for r in records], axis=(0, 1)) / 80_000
    assert stats.deviation(pooled) < 0.005


def exchanged(rng, before, after, games=20_000):
    """Records of 16 sets with the Assassin and 16 with the Witch, which deviate by so many points in turn up and down."""
    sets = [s for s in study.role_sets(4) if {"King", "Bishop", "Merchant"} <= set(s)]
    points = [(after if "Witch" in roles else before) * (-1) ** k for k, roles in enumerate(sets)]
    records = [record(rng, k, roles, 0.25 + p * OFF, games) for k, (roles, p) in enumerate(zip(sets, points, strict=True))]
    for r in records:
        r |= dict.fromkeys(("rounds", "score", "best", "bell_tower"), r["games"])
    return records


def test_the_effect_of_an_exchange_is_that_within_sets():
    """With the first role sets deviate by 3 points up and down, which pooling hides; with the second one all by 1 point."""
    table = study.pair_table(exchanged(np.random.default_rng(7), 3, 1)).set_index(["second", "measure"])
    row = table.loc[("Witch", "seat_deviation")]
    assert 100 * row["with_first"] == pytest.approx(3, abs=0.2)
    assert 100 * row["with_second"] == pytest.approx(1, abs=0.2)
    assert 100 * row["difference"] == pytest.approx(-2, abs=0.2)
    assert row["difference_low"] < -0.02 + 0.001
    assert row["difference_high"] < -0.015
    assert row["p"] < 1e-6
    assert table["q"].to_numpy() == pytest.approx(false_discovery_control(table["p"].to_numpy()))
    assert (table["q"] >= table["p"]).all()
    assert (table.drop(index=[("Witch", "seat_deviation")])["q"] > 0.05).all()


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0, 1), (1, 1), (2, 3)])
def test_intervals_over_several_sets_cover(before, after):
    """And where nothing is exchanged, the interval excludes 0 in no more than 5 of 100 studies."""
    rng = np.random.default_rng(8)
    held, changed = [], []
    for _ in range(200):
        first, second = ([record(rng, k, NINE, 0.25 + points * OFF, 500) for k in range(8)] for points in (before, after))
        _, low, high = study.seat_deviation(first)
        held.append(low <= before / 100 <= high)
        (_, low, high), p = study._seat_change(first, second)
        changed.append(low <= (after - before) / 100 <= high)
        assert (p < 0.05) == (low > 0 or high < 0)
    assert np.mean(held) > 0.93
    assert np.mean(changed) > 0.93


# --- smoothing -----------------------------------------------------------------


def errors(table, shares, games):
    truth = stats.deviation(shares)
    held = (table["smooth_deviation_low"] <= truth) & (truth <= table["smooth_deviation_high"])
    return held.mean(), np.sqrt(((table["smooth_deviation"] - truth) ** 2).mean())


def test_smoothing_is_worth_four_times_the_games():
    rng = np.random.default_rng(9)
    sets, shares = sets_with_effects(rng)
    few = records_of(rng, sets, shares, 500)
    found = fairness.seats(few)
    assert found.smoothed
    assert found.effects == 37
    assert found.freedom == 219 * 3
    assert found.p_misfit > 0.01
    covered, error = errors(fairness.fairness_table(found), shares, 500)
    assert 0.9 < covered <= 1
    _, of_few = errors(fairness.fairness_table(fairness.seats(few, smooth=False)), shares, 500)
    _, of_many = errors(fairness.fairness_table(fairness.seats(records_of(rng, sets, shares, 2000), smooth=False)), shares, 2000)
    assert error < 0.55 * of_few
    assert error < 1.1 * of_many


@pytest.mark.slow
def test_intervals_of_smoothed_deviations_cover_with_and_without_effects_of_three_roles():
    rng = np.random.default_rng(10)
    for beyond in (0.0, 0.004):
        for games in (500, 5000):
            sets, shares = sets_with_effects(rng, beyond_pairs=beyond)
            tables = [fairness.fairness_table(fairness.seats(records_of(rng, sets, shares, games))) for _ in range(10)]
            assert 0.93 < np.mean([errors(table, shares, games)[0] for table in tables]) < 0.98


def test_the_lack_of_fit_test_is_right_about_effects_of_pairs():
    rng = np.random.default_rng(11)
    sets, shares = sets_with_effects(rng)
    p = [fairness.seats(records_of(rng, sets, shares, 200)).p_misfit for _ in range(40)]
    assert np.mean(np.array(p) < 0.1) < 0.25
    assert np.mean(p) == pytest.approx(0.5, abs=0.15)


def test_what_pairs_of_roles_do_not_explain_is_kept():
    rng = np.random.default_rng(12)
    sets, shares = sets_with_effects(rng, beyond_pairs=0.015)
    found = fairness.seats(records_of(rng, sets, shares, 5000))
    assert found.p_misfit < 1e-6
    assert found.kept > 0.7
    covered, error = errors(fairness.fairness_table(found), shares, 5000)
    assert covered > 0.9
    assert error < 0.005
    text = report._smoothing_text(found)
    assert "do not explain everything" in text
    assert f"chi-squared {found.misfit:.0f} on 657 degrees of freedom" in text


def test_smoothed_shares_of_a_set_add_up_to_1_and_unsmoothed_ones_are_those_observed():
    rng = np.random.default_rng(13)
    sets, shares = sets_with_effects(rng)
    records = records_of(rng, sets, shares, 100)
    assert fairness.seats(records).shares.sum(axis=1) == pytest.approx(np.ones(256))
    raw = fairness.seats(records, smooth=False)
    assert raw.shares == pytest.approx(np.array([np.sum(r["wins"], axis=0) / 100 for r in records]))
    assert raw.factors == pytest.approx(np.full(256, 1 / 100))


def test_few_sets_are_not_smoothed_and_the_report_says_so():
    rng = np.random.default_rng(14)
    sets = study.role_sets(4, only=("Assassin", "Thief", "Magician", "King", "Bishop"))
    found = fairness.seats(records_of(rng, sets, np.full((8, 4), 0.25), 400))
    assert not found.smoothed
    assert "too few sets to smooth" in report._smoothing_text(found)
    assert (fairness.fairness_table(found)["rank"].sort_values() == np.arange(1, 9)).all()


def test_designs_with_missing_sets_are_smoothed_by_what_can_be_told():
    """Without sets that hold both Emperor and Queen one of the pairs has no effect of its own."""
    rng = np.random.default_rng(15)
    sets = study.role_sets(5, emperor_with_queen=False)
    found = fairness.seats(records_of(rng, sets, np.full((384, 5), 0.2), 200))
    assert fairness.design(sets).shape == (384, 1 + 9 + 36)
    assert found.effects == 45
    assert found.smoothed
    assert found.fit @ found.fit == pytest.approx(found.fit, abs=1e-9)
    every = fairness.design(study.role_sets(5))
    assert np.linalg.matrix_rank(every) == 46


def test_sets_that_share_their_shuffles_are_known_less_well():
    """In a paired study luck is common to all sets, and the fit does not average it out."""
    rng = np.random.default_rng(16)
    sets = [s for s in study.role_sets(4) if {"King", "Bishop"} <= set(s)]
    excluded, inflations = [], []
    for _ in range(15):
        common = np.where(rng.random(400) < 0.5, rng.integers(0, 4, 400), -1)
        found = fairness.seats([record(rng, k, roles, np.full(4, 0.25), 400, common) for k, roles in enumerate(sets)])
        inflations.append(found.inflation)
        excluded.append((stats.seat_deviation(found.shares, found.errors)[0][1] > 0).mean())
    assert np.median(inflations) > 1.3
    assert np.mean(excluded) < 0.15
    independent = fairness.seats(records_of(rng, sets, np.full((64, 4), 0.25), 400))
    assert independent.inflation == 1


# --- what is said of the sets --------------------------------------------------


@pytest.fixture
def few_draws(monkeypatch):
    """For tests that do not look at ranks."""
    monkeypatch.setattr(fairness, "DRAWS", 2)


def test_a_set_at_the_margin_is_hardly_ever_shown_to_be_fair(few_draws):
    rng = np.random.default_rng(17)
    on_the_edge = np.array([0.27, 0.25, 0.24, 0.24])
    sets = study.role_sets(4, only=("Assassin", "Thief", "Magician", "King", "Bishop"))  # eight: not smoothed
    shown = [fairness.fairness_table(fairness.seats(records_of(rng, sets, [on_the_edge] * 8, 5000)))["fair"].any() for _ in range(100)]
    assert np.mean(shown) <= 0.1
    fair = fairness.fairness_table(fairness.seats(records_of(rng, sets, np.full((8, 4), 0.25), 20_000)))
    assert fair["fair"].all()
    assert fair["margin"].eq(0.02).all()
    assert not fairness.fairness_table(fairness.seats(records_of(rng, sets, np.full((8, 4), 0.25), 20_000)), margin=0.004)["fair"].any()


def test_not_being_told_apart_from_fair_is_not_being_shown_fair():
    rng = np.random.default_rng(18)
    sets = study.role_sets(4, only=("Assassin", "Thief", "Magician", "King", "Bishop"))
    table = fairness.fairness_table(fairness.seats(records_of(rng, sets, np.full((8, 4), 0.25), 100)))
    assert (table["q_unequal"] > 0.05).all()
    assert not table["fair"].any()


def test_false_discoveries_among_fair_sets_are_rare(few_draws):
    rng = np.random.default_rng(19)
    sets = study.role_sets(4, only=("Assassin", "Thief", "Magician", "King", "Bishop"))
    tables = [fairness.fairness_table(fairness.seats(records_of(rng, sets, np.full((8, 4), 0.25), 500))) for _ in range(150)]
    assert np.mean([(table["q_unequal"] <= 0.05).any() for table in tables]) <= 0.1
    assert np.mean([(table["p_unequal"] <= 0.05).any() for table in tables]) > 0.2  # what looking at eight sets does without it


def test_intervals_of_ranks_hold_the_true_ranks():
    rng = np.random.default_rng(20)
    sets, shares = sets_with_effects(rng)
    truth = np.argsort(np.argsort(stats.deviation(shares))) + 1
    held = []
    for games in (500, 5000):
        rank, low, high = fairness.ranks(fairness.seats(records_of(rng, sets, shares, games)))
        assert ((low <= rank) & (rank <= high)).all()
        assert sorted(rank) == list(range(1, 257))
        held.append(np.mean((low <= truth) & (truth <= high)))
        widths = np.mean(high - low)
    assert min(held) > 0.88
    assert widths < 100


def test_ranks_are_the_same_every_time():
    rng = np.random.default_rng(21)
    sets, shares = sets_with_effects(rng)
    found = fairness.seats(records_of(rng, sets, shares, 500))
    assert all((one == two).all() for one, two in zip(fairness.ranks(found), fairness.ranks(found), strict=True))


def test_the_number_of_games_follows_from_the_width_asked_for():
    for share in (1 / 2, 1 / 4, 1 / 8):
        games = stats.games_for(0.01, share)
        low, high = stats.wilson(share, games)
        assert (high - low) / 2 == pytest.approx(0.01, rel=0.01)
    assert stats.games_for(0.01, 0.25) == 7203


# --- the tables ----------------------------------------------------------------


def test_reports_and_tables_show_what_is_known_of_fairness(tmp_path):
    plan = study.Study(GERMAN.with_(roles=NINE), tuple(study.role_sets(4, only=NINE[:7])), ("random",), 60, seed=1)
    records = study.run(plan)
    text = report.study_text(plan, records, margin=0.05)
    for piece in ("rank", "deviation", "fair ±5", "false discovery rate", "each set's own games", "does not make it fair"):
        assert piece in text
    study.write_tables(records, tmp_path, 0.05)
    header = (tmp_path / "sets.csv").read_text().splitlines()[0].split(",")
    for name in ("seat_deviation", "seat_deviation_observed", "smooth_deviation", "q_fair", "q_unequal", "q_fair_within", "fair", "rank"):
        assert name in header
    for name in ("seat_deviation", "smooth_deviation", "rank"):
        assert {f"{name}_low", f"{name}_high"} <= set(header)
    assert {"p", "q"} <= set((tmp_path / "pairs.csv").read_text().splitlines()[0].split(","))
