"""The entry point that grows one search tree from Python."""

from pathlib import Path
from typing import Any

from citadels_env._jit import entry_for

from .arena import weights_of
from .search import grow, new_tree


@entry_for(Path(__file__).parent)
def grow_tree(states, nodes, fresh, iterations, seed, agent, coefficients, sims):
    """Add iterations to the tree for the question open in the single game of `states`; `agent` is an AGENT array of one."""
    if fresh:
        new_tree(nodes)
    grow(states[0], nodes, iterations, seed, agent[0].search, weights_of(states[0], agent[0]), coefficients, sims)


def tree_table(nodes: Any) -> dict[int, tuple[int, Any]]:
    """Visits and summed values of the root's answers."""
    table, child = {}, int(nodes["first"][0])
    while child:
        table[int(nodes["action"][child])] = (int(nodes["visits"][child]), nodes["values"][child].copy())
        child = int(nodes["following"][child])
    return table
