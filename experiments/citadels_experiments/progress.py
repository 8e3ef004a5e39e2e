"""How far a long command is: a bar in a terminal, a plain line now and then elsewhere, nothing if it is to be quiet."""

import sys
import time
from typing import Any

SECONDS = 30.0  # from one plain line to the next


class Progress:
    """Shows on standard error how much of `total` is done.

    unit: what is counted; title: what stands before it; quiet: show nothing; further options are those of tqdm, for terminals.
    """

    def __init__(self, total: float | None, unit: str, title: str = "", *, quiet: bool = False, **options: Any) -> None:
        self.total, self.unit, self.title, self.quiet = total, unit, title, quiet
        self.note = ""
        self._bar, self._said = None, time.monotonic()
        if not quiet and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, unit=f" {unit}", desc=title or None, file=sys.stderr, mininterval=0.5, dynamic_ncols=True, **options
            )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, done: float, total: float | None = None, note: str = "") -> None:
        """So much is done; a new total and a note may come with it."""
        self.total = self.total if total is None else total
        if self._bar is not None:
            self._bar.total = self.total
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(done - self._bar.n)
        elif not self.quiet and time.monotonic() - self._said >= SECONDS:
            self._said = time.monotonic()
            of = "" if self.total is None else f" of {self.total:,.0f}"
            print(f"{self.title + ': ' if self.title else ''}{done:,.0f}{of} {self.unit}{', ' + note if note else ''}", file=sys.stderr)

    def write(self, text: str) -> None:
        """Print a line on standard output, above the bar."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stdout)
        else:
            print(text, flush=True)
