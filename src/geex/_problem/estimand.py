"""What values estimate, as data: declared by a method, completed by the run, read by everything else.

`str(estimand)` is the same in words (`estimand_text.py`). Nothing reads these words.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from geex._stored_names import stored


class Quantity(StrEnum):
    """The quantity that a value estimates; OWN for a method of your own."""

    PATH_INTEGRAL = "path integral"
    RIEMANN_SUM = "Riemann sum"
    GRADIENT = "gradient"
    SHAPLEY = "Shapley value"
    BANZHAF = "Banzhaf value"
    WEIGHTED_PRESENCE = "weighted presence"
    SMOOTH_PRESENCE = "smooth presence"
    GUIDED_PRESENCE = "guided presence"
    EXPECTED_SCORE = "expected score"
    SEGMENT_WEIGHT = "segment weight"
    NONE = "none"
    OWN = "own"


class Additive(StrEnum):
    """Whether values add up to f(x) − f(x̊)."""

    EXACTLY = "exactly"
    WITHIN_ERROR = "within error"
    OF_BLURRED_MODEL = "of the blurred model"
    NO = "no"


class Unit(StrEnum):
    """The unit of a value."""

    SCORE = "score"
    SCORE_PER_INPUT = "score per unit of x"
    NONE = "none"


class Mixed(StrEnum):
    """What a value contains of the values of other features."""

    NEIGHBOURS = "neighbours"
    AXIS = "axis"


class Note(StrEnum):
    """What standard errors include, and what they do not."""

    EXACT = "exact"
    EXACT_IF_STEADY = "exact if steady"
    MODEL_NOISE_ONLY = "model noise only"
    POSTERIOR_OR_LEFT_OUT = "posterior or left out"
    SECOND_HALF = "second half"
    PRIOR_OPEN = "prior open"
    OTHER_ROUNDS = "other rounds"
    UNBIASED = "unbiased"
    FIT_OR_LEFT_OUT = "fit or left out"


@stored("blurred/1")
@dataclass(frozen=True)
class Blurred:
    """The model is averaged over noise of a family, by its name, and of deviation sigma.

    differing: in the elements that differ from the baseline alone.
    """

    family: str
    sigma: float
    differing: bool = False


@stored("estimand/1")
@dataclass(frozen=True)
class Estimand:
    """What values estimate, as data. `str(estimand)` states it in words.

    A method declares the fields up to `text` (`Method.estimand`). The run adds the others.

    Parameters
    ----------
    quantity
        What a value is. `Quantity.OWN` for a method of your own, which describes it in `text`.
    additive
        Whether values add up to f(x) − f(x̊).
    unit
        The unit of a value.
    blurred
        The noise that the model is averaged over. None: it is not.
    mixed, axis
        Whether a value contains those of other features, and along which axis of x.
    steps
        The steps of a Riemann sum.
    share
        The share of features that is shown.
    segments
        The number of segments.
    regression
        Whether values are coefficients of a regression.
    complete
        Whether values are conditioned to add up.
    text
        Sentences of a method of your own, which are printed as they are.
    adaptive
        Whether queries depend on earlier answers.
    clipped
        Whether queries were clipped to the bounds.
    baselines
        The number of baselines that values are averaged over.
    notes
        What standard errors include, and what they do not.

    Examples
    --------
    >>> import geex
    >>> geex.Estimand(geex.Quantity.OWN, text="A value is a count.").adds_up
    False
    """

    quantity: Quantity
    additive: Additive = Additive.NO
    unit: Unit = Unit.SCORE
    blurred: Blurred | None = None
    mixed: Mixed | None = None
    axis: int | None = None
    steps: int | None = None
    share: float | None = None
    segments: int | None = None
    regression: bool = False
    complete: bool = False
    text: str = ""
    adaptive: bool = False
    clipped: bool = False
    baselines: int = 1
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantity", Quantity(self.quantity))
        object.__setattr__(self, "additive", Additive(self.additive))
        object.__setattr__(self, "unit", Unit(self.unit))
        object.__setattr__(self, "mixed", None if self.mixed is None else Mixed(self.mixed))
        object.__setattr__(self, "notes", tuple(Note(note) for note in self.notes))

    @property
    def adds_up(self) -> bool:
        """Whether the values add up, to f(x) − f(x̊) or to that of the blurred model."""
        return self.additive is not Additive.NO

    @property
    def exact(self) -> bool:
        """Whether the values have no error, if the model answers the same query the same."""
        return bool({Note.EXACT, Note.EXACT_IF_STEADY, Note.MODEL_NOISE_ONLY} & set(self.notes))

    def __str__(self) -> str:
        from geex._problem.estimand_text import estimand_text

        return estimand_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields in values that JSON can hold."""
        return asdict(self)
