"""Write the pages that come from the tables: `python -m citadels_env.pages` in the root of the repository."""

from pathlib import Path

from . import actions, observation

ACTIONS_PAGE = f"""# Actions

{actions.N_ACTIONS} actions in the blocks of `citadels_env/actions.py`; this page is written by `python -m citadels_env.pages`.
An index means the same thing in every situation. Players are counted from the one who answers: the first index of a
block with players is the next seat to the left, or one's own where it may be named (`destroy`). In texts `player N` is the
absolute seat. A district on the table is named by type and owner; a type with one copy in the game needs no owner.

{{}}"""

OBSERVATION_PAGE = f"""# Observation

Version {observation.VERSION}; written by `python -m citadels_env.pages` from `citadels_env/observation.py`.
An observation is one row of uint8. Player rows are relative: row 0 is the observer, row k the seat k places to the left.
The full form below has {observation.size()} entries whatever the number of players; the compact form has only as many player rows as
there are players ({", ".join(f"{n}: {observation.size(n)}" for n in range(2, 9))}). `observation.view(array, name)` gives a block in its
shape, `observation.high(rows)` the largest value of every entry; larger values are cut off there.
`observation.describe(row)` puts one observation into words, `observation.names(rows)` gives every entry a name:

```python
from citadels_env import Game, observation

seen = Game(seed=7).observation()
words = observation.describe(seen)
print(words["question"], words["offered"]["first visit"], words["options"]["tie_break"], words["players"][0]["gold"], words["hand"])
names = observation.names()
print([names[k] for k in seen.nonzero()[0]][-3:])  # "players.player 3.cards in hand", ...
```

{observation.table()}
In a block of two axes the first one is the player row (of `known`: from row 1 on), or the visit of the draft.

{observation.orders()}"""


def main(folder: Path = Path("docs")) -> None:
    """Write docs/actions.md and docs/observation.md."""
    (folder / "actions.md").write_text(ACTIONS_PAGE.format(actions.table()))
    (folder / "observation.md").write_text(OBSERVATION_PAGE)


if __name__ == "__main__":
    main()
