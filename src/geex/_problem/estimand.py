"""What values estimate, as data: declared by a method, completed by the run, read by everything else.

`str(estimand)` is the same in words (`estimand_text.py`). Nothing reads these words.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from geex._stored_names import stored


class Quantity(StrEnum):
    """The quantity that a value estimates."""

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
    """Whether the values add up to f(x) − f(x̊)."""

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
    """What values estimate.

    A method declares the first fields (`Method.estimand`). The run adds the others.

    quantity: what a value is; OWN for a method of your own, which describes it in `text`.
    additive: whether values add up to f(x) − f(x̊).
    unit: the unit of a value.
    blurred: the noise that the model is averaged over; None where it is not.
    mixed: whether values hold those of other features; `axis`: along which axis of x.
    steps: of a Riemann sum. share: of features that are shown. segments: how many there are.
    regression: whether values are coefficients of a regression.
    complete: whether they are made to add up.
    text: sentences of a method of your own, which are printed as they are.

    adaptive: whether queries depend on earlier answers.
    clipped: whether queries were clipped to the bounds.
    baselines: how many the values are averaged over.
    notes: what standard errors include, and what they do not.
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
        """Whether the values are meant to add up, to f(x) − f(x̊) or that of the blurred model."""
        return self.additive is not Additive.NO

    @property
    def exact(self) -> bool:
        """Whether the values are no estimate, where the model answers the same each time."""
        return bool({Note.EXACT, Note.EXACT_IF_STEADY, Note.MODEL_NOISE_ONLY} & set(self.notes))

    def __str__(self) -> str:
        from geex._problem.estimand_text import estimand_text

        return estimand_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields in values that JSON can hold."""
        return asdict(self)
