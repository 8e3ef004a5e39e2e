"""One way to read numbers that users give."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citadels_env import InvalidArgumentError
from citadels_env.checks import real_number, seed_number, whole_number

NO_WHOLE_NUMBERS = [True, False, np.True_, 1.0, math.nan, "1", b"1", None, [1], {}, 1j, np.float64(2), np.zeros(3, int)]


@pytest.mark.parametrize("value", NO_WHOLE_NUMBERS, ids=repr)
def test_a_bool_a_float_and_a_text_are_no_whole_numbers(value):
    with pytest.raises(InvalidArgumentError, match="threads must be a whole number of at least 1"):
        whole_number("threads", value, 1)


@given(st.integers(-10, 110), st.sampled_from([int, np.int8, np.uint8, np.int64]))
def test_whole_numbers_of_every_type_are_taken_within_their_range(number, kind):
    if 0 <= number <= 100:
        taken = whole_number("gold", kind(number), 0, 100)
        assert taken == number
        assert type(taken) is int
    else:
        with pytest.raises(InvalidArgumentError, match=f"gold must be a whole number from 0 to 100, not {number}"):
            whole_number("gold", number, 0, 100)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, True, "0.5", None, 1j, -0.1, 1.1], ids=str)
def test_a_real_number_is_finite_and_within_its_range(value):
    with pytest.raises(InvalidArgumentError, match="share must be a finite number from 0 to 1, not "):
        real_number("share", value, 0, 1)


@pytest.mark.parametrize("value", [0, 1, 0.25, np.float32(0.5), np.int8(1)])
def test_real_numbers_of_every_type_are_taken(value):
    assert real_number("share", value, 0, 1) == value


def test_a_seed_has_64_bits():
    assert seed_number(2**64 - 1) == 2**64 - 1
    for value in (-1, 2**64, 0.0, True, "7", None):
        with pytest.raises(InvalidArgumentError, match=r"a seed must be a whole number from 0 to 2\*\*64 - 1, not "):
            seed_number(value)


def test_endless_values_are_cut_in_messages():
    with pytest.raises(InvalidArgumentError) as caught:
        whole_number("threads", "x" * 10_000)
    assert len(str(caught.value)) < 200
