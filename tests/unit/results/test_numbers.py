"""Numbers for people: the decimals of the error, one number of decimals and one unit in a column."""

import numpy as np
import pytest

from geex._results.numbers import column, number, probability, with_error


@pytest.mark.parametrize(
    ("value", "error", "told"),
    [
        (0.38612, 0.1402, "+0.39 ± 0.14"),
        (-3.2242, 1.403, "−3.2 ± 1.4"),
        (1234.5, 12.0, "+1,234 ± 12"),
        (-0.00001, 0.01, "0.000 ± 0.010"),
        (2.0, np.nan, "+2.000"),
        (3.1e-9, 2.6e-10, "(+3.10 ± 0.26) × 1e−9"),
        (-4e300, 1e299, "(−4.00 ± 0.10) × 1e300"),
    ],
)
def test_a_value_has_the_decimals_of_its_error(value, error, told):
    assert with_error(value, error) == told


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e-4, 1.0, 1e3, 1e7, 1e300])
def test_a_column_has_one_unit_and_one_number_of_decimals(scale):
    values = scale * np.array([1.0, -0.5, 0.001, 0.0])
    style = column(values, np.full(4, 0.01 * scale))
    texts = [style.signed(value) for value in values]
    assert not any("e" in text for text in texts)
    assert len({len(text.partition(".")[2]) for text in texts}) == 1
    unit = float(style.unit.replace("−", "-") or 1)
    shown = [unit * float(text.replace("−", "-").replace(",", "")) for text in texts]
    np.testing.assert_allclose(shown, values, atol=0.006 * scale)


def test_a_column_of_nothing():
    assert column([]).text(0.0) == "0.000"
    assert column([0.0, 0.0], [0.0]).signed(0.0) == "0.000"
    assert column([np.nan, np.inf]).text(np.nan) == "unknown"


def test_tiny_errors_do_not_make_long_numbers():
    assert column([-5.0], [1e-15]).signed(-5.0) == "−5.000"
    assert column([-5.0], [1e-7]).signed(-5.0) == "−5.00000"


@pytest.mark.parametrize(
    ("value", "told"), [(1.0, "> 0.999"), (0.9996, "> 0.999"), (0.999, "0.999"), (0.5, "0.500"), (0.0002, "< 0.001")]
)
def test_a_probability_is_never_written_as_1(value, told):
    assert probability(value) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [(0, "0"), (0.12345, "0.123"), (-2.5, "−2.5"), (1234.5, "1,234"), (1.23e-7, "1.2e−7"), (-4.56e9, "−4.6e9")],
)
def test_a_number_that_stands_alone_is_short(value, told):
    assert number(value) == told
