"""Kinds of values on the command line."""

from math import isfinite
from typing import Any

import click


class Finite(click.FloatRange):
    """A range of numbers that holds neither nan nor, where it has no upper end, infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number
