# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Which of these role sets is fairer, and which is shorter?
#
# Six role sets for four players, from the base game to a table full of The Dark City's roles.  Each plays the same number of
# games with the heuristic agent in all seats.  Open this file as a notebook with `jupytext --to ipynb`, or run it as a script.

# %%
import os

from IPython.display import Image, display

from citadels_env import GERMAN
from citadels_experiments import plots, study

GAMES = int(os.environ.get("CITADELS_NOTEBOOK_GAMES", "4000"))

# %% [markdown]
# ## The rules and the sets
#
# `GERMAN` is an edition; `with_` changes options and refuses what the rules forbid.  The roles of the sets below differ in one or
# several ranks from the base game's; the ninth is always the Artist.

# %%
rules = GERMAN.with_(players=4, roles=(), add_districts="recommended", districts_seed=1)
print("new districts:", ", ".join(rules.add_districts))

base = ("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant", "Architect", "Warlord", "Artist")


def exchange(*new: str) -> tuple[str, ...]:
    """The base set with `new` roles at their ranks."""
    by_rank = {study.RANK_OF[role]: role for role in (*base, *new)}
    return tuple(by_rank[rank] for rank in sorted(by_rank))


sets = {
    "base roles": base,
    "Emperor": exchange("Emperor"),
    "Witch": exchange("Witch"),
    "Navigator": exchange("Navigator"),
    "Witch and Emperor": exchange("Witch", "Emperor"),
    "all new": exchange("Witch", "Tax Collector", "Wizard", "Emperor", "Abbot", "Alchemist", "Navigator", "Diplomat"),
}

# %% [markdown]
# ## The games

# %%
plan = study.Study(rules, tuple(sets.values()), agents=("heuristic",), games=GAMES, seed=1)
records = study.run(plan, threads=2)
MARGIN = 0.02
table = study.set_table(records, MARGIN)
table.insert(0, "name", list(sets))

# %% [markdown]
# `rounds` is the length.  `win_0` to `win_3` are the shares of games that each seat wins, seat 0 being the one that starts with the
# crown; a tie counts as a share.  `seat_deviation` is how far these are from equal (root mean square, here in percentage points,
# without what chance adds), with its interval.  `q_unequal` is the false discovery rate of calling the seats of a set unequal, and
# `fair` says whether all seats are shown to lie within `MARGIN` of one in four.

# %%
deviation = ["seat_deviation", "seat_deviation_low", "seat_deviation_high"]
columns = ["name", "rounds", "rounds_low", "rounds_high", *(f"win_{seat}" for seat in range(4)), *deviation, "q_unequal", "fair"]
shown = table[columns].copy()
shown[[name for name in columns if name.startswith(("win", "seat"))]] *= 100
print(shown.round(3).to_string(index=False))

# %% [markdown]
# ## The figure

# %%
figure = plots.fairness_and_length(records, f"Six role sets, {GAMES} games each", MARGIN)
display(Image(plots.png(figure)))

# %% [markdown]
# ## The answer
#
# Two sets are told apart only if their difference is larger than chance explains, so the answer names every set whose interval
# overlaps the shortest one's.  A set that is not told apart from a fair one may just have played too few games: fair are only
# those that are shown to be, unfair those whose seats are told apart, and of the others more games would tell.

# %%
shortest = table.loc[table["rounds"].idxmin()]
as_short = table[table["rounds_low"] <= shortest["rounds_high"]]["name"]
print(f"shortest: {shortest['name']} with {shortest['rounds']:.2f} rounds; not told apart from it: {', '.join(as_short)}")

fairest = table.loc[table["rank"].idxmin()]
value, low, high = (100 * fairest[name] for name in deviation)
print(f"fairest: {fairest['name']} with a seat deviation of {value:.2f} points [{low:.2f}, {high:.2f}]")
print(f"  (by chance its rank may be {fairest['rank_low']} to {fairest['rank_high']})")
unequal, fair = table["q_unequal"] <= 0.05, table["fair"] == 1
for text, rows in ((f"fair within {100 * MARGIN:g} points", fair), ("unequal seats", unequal), ("neither shown", ~unequal & ~fair)):
    print(f"{text}: {', '.join(table[rows]['name']) or 'none'}")

# %% [markdown]
# Which roles do those who win draft?  A high number does not say that the role makes its holder win: players who are ahead may
# draft it more often.

# %%
roles = study.role_table(records).merge(table[["set", "name"]], on="set")
wins = roles.pivot_table(index="role", columns="name", values="win", sort=False)
print((100 * wins[list(sets)]).round(1).to_string(na_rep="-"))
