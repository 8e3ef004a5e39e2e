"""Names that users write: read whatever their case, and with a suggestion where they are wrong.

Roles, districts, options, editions, agents and personas are all looked up here.
"""

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

from .checks import shown
from .errors import CitadelsError, InvalidArgumentError


def canonical(given: Any, names: Collection[str]) -> str | None:
    """The one of `names` that is meant: as it stands, or but for case, spaces, hyphens and underscores; None if there is none."""
    if not isinstance(given, str):
        return None
    if given in names:
        return given
    return {_key(name): name for name in names}.get(_key(given))


def hint(given: Any, names: Collection[str]) -> str:
    """A clause such as "; did you mean 'expert'?" for a name that is close to one of `names`, else an empty text."""
    keys = {_key(name): name for name in names}
    close = get_close_matches(_key(given), keys, 1) if isinstance(given, str) else []
    return f"; did you mean {keys[close[0]]!r}?" if close else ""


def known_name(what: str, given: Any, names: Collection[str], error: type[CitadelsError] = InvalidArgumentError, rule: str = "") -> str:
    """The one of `names` that is meant (see `canonical`).

    what: the kind of name, such as "role"; rule: what the message ends with, such as "(S-1)".

    Raises `error` with the nearest name, if one is near, and all of them.
    """
    found = canonical(given, names)
    if found is None:
        near = hint(given, names)
        rest = f"{near} The" if near else "; the"
        raise error(f"there is no {what} {shown(given)}{rest} {what}s are {', '.join(names)}" + (f" {rule}" if rule else ""))
    return found


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()
