"""The options of agents as data: what `make` reads and checks, what its errors say, and the tables of docs/agents.md."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from citadels_env import AgentSpecError
from citadels_env.checks import real_number, shown, whole_number
from citadels_env.names import canonical, hint

from . import personas
from .belief import LEVELS


class Option(NamedTuple):
    """One option: name, default, meaning, and what it may be.

    A number is from `least` to `most`, whole where these are ints; `words` are all that a word may be; without either it is any text.
    """

    name: str
    default: Any
    text: str
    least: float = 0
    most: float = 0
    words: tuple[str, ...] = ()

    def read(self, spec: str, value: str) -> Any:
        """The value that a text means; raises AgentSpecError, naming the spec, the value and what is allowed."""
        what = f"{cut(spec)}: {self.name}"
        if self.words:
            found = canonical(value, self.words)
            if found is None:
                raise AgentSpecError(f"{what} must be one of {', '.join(self.words)}, not {shown(value)}{hint(value, self.words)}")
            return found
        if not self.most:
            return value
        number: Any = value
        whole = isinstance(self.most, int)
        with suppress(ValueError):  # the check says what it should be
            number = int(value) if whole else float(value)
        if whole:
            return whole_number(what, number, int(self.least), int(self.most), AgentSpecError)
        return real_number(what, number, self.least, self.most, AgentSpecError)

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.words:
            return ", ".join(f"`{word}`" for word in self.words)
        return f"{self.least:,.12g} to {self.most:,.12g}" if self.most else "a path"


_INFERENCE = Option("inference", None, "how roles are inferred (see Beliefs); without it as the persona's weights say", words=LEVELS)

PERSONA = (_INFERENCE,)

# A node takes 84 bytes, and a tree has one for each iteration: 84 MB at most.  As many trees are held at once as there are cores.
SEARCH = (
    Option("iterations", 1000, "iterations per answer", 1, 1_000_000),
    Option("milliseconds", 0.0, "time per answer instead; then the same seed need not give the same game", 0.0, 3_600_000.0),
    Option("persona", "expert", "who answers in the play-outs and orders new answers", words=tuple(personas.PERSONAS)),
    _INFERENCE,
    Option(
        "opponents",
        "persona",
        "`search`: other players' answers are branches of the tree; `persona`: they answer like the persona",
        words=("persona", "search"),
    ),
    Option("horizon", 0, "rounds played after the present one before the chances are estimated", 0, 10_000),
    Option("exploration", 0.3, "how much answers that were tried less often are preferred", 0.0, 1000.0),
    Option("widening", 1.0, "how soon further answers are tried: one more at 1 + widening · √visits", 0.0, 1000.0),
    Option("trees", 1, "trees searched side by side, on several threads, and added up; the answer does not depend on the threads", 1, 64),
)

NETWORK = (
    Option("file", "", "what `citadels train` or `citadels export` wrote"),
    Option("choice", "best", "`best`: the most probable legal answer, of equals the first; `sample`: one drawn by its probability",
           words=("best", "sample")),
)  # fmt: skip

# The options of every agent that comes along; those of agents that users register are theirs to check.
OPTIONS: dict[str, tuple[Option, ...]] = {
    "random": (),
    **dict.fromkeys(personas.PERSONAS, PERSONA),
    "ismcts": SEARCH,
    "cheating": SEARCH,
    "network": NETWORK,
}


def cut(spec: str) -> str:
    """A spec for an error: its beginning, if it is endless."""
    return spec if len(spec) <= 120 else spec[:117] + "..."


def texts(spec: Any) -> tuple[str, dict[str, str]]:
    """The name in a spec and the texts of its options.

    Raises AgentSpecError for what is no text, and for options without a name or value or named twice.
    """
    if not isinstance(spec, str):
        raise AgentSpecError(f"an agent is a name with options, such as 'ismcts:iterations=1000', not {shown(spec)}")
    name, colon, rest = spec.partition(":")
    found: dict[str, str] = {}
    for part in rest.split(",") if colon else ():
        key, _, value = part.partition("=")
        if not key or not value:
            raise AgentSpecError(f"{cut(spec)}: an option is written name=value, not {shown(part)}")
        if key in found:
            raise AgentSpecError(f"{cut(spec)}: {key} is named twice")
        found[key] = value
    return name, found


def read(spec: str, name: str, given: dict[str, str]) -> dict[str, Any]:
    """All options of an agent that comes along: the given ones, checked, and the defaults of the others.

    Raises AgentSpecError for an option that it does not have and an impossible value.
    """
    options = {option.name: option for option in OPTIONS[name]}
    for key in given:
        if key not in options:
            has = f"; it has {', '.join(options)}{hint(key, options)}" if options else ""
            raise AgentSpecError(f"{cut(spec)}: {name} has no option {shown(key)}{has}")
    return {key: option.read(spec, given[key]) if key in given else option.default for key, option in options.items()}


def table(options: Sequence[Option]) -> str:
    """Options as a Markdown table."""
    lines = ["| option | default | allowed | meaning |", "|---|---|---|---|"]
    for option in options:
        default = "" if option.default in (None, "") else f"{option.default:,.12g}" if option.most else option.default
        lines.append(f"| `{option.name}` | {default} | {option.allowed} | {option.text} |")
    return "\n".join(lines) + "\n"
