"""Presence: features are shown or hidden, and a feature's value is what showing it is worth.

    z = x̊ + m ∘ (x − x̊),   m_k ~ Bernoulli(α),   w = (m − α)/(α(1 − α)),   ξ = E[f(z) w]

With α = ½ these are Banzhaf values, with α ~ U[0,1] Shapley values. The plain weight has infinite variance over
U[0,1]; drawn as α = sin²(πu/2) instead, u ~ U[0,1], it is w = π (m − α)/√(α(1 − α)) with E[w²] = π². The mirror of
(m, α) is (1 − m, 1 − α), and its weight is −w.

Masks are independent over features, or the sign of a smooth Gaussian field, which shows and hides regions.
"""

from dataclasses import dataclass

from geex._arrays.arrays import Array, namespace
from geex._arrays.validation import positive, share
from geex._plan.presence_masks import PresenceMasks
from geex._problem.estimand import Additive, Estimand, Quantity
from geex._problem.features import neighbour_axes
from geex._protocols import Features
from geex._stored_names import stored
from geex.errors import MethodError
from geex.methods.score_method import ScoreMethod


@stored("Presence/1")
@dataclass(frozen=True)
class Presence(ScoreMethod):
    """Shapley or Banzhaf values by the score estimator: features are shown or hidden at random.

    `Regression` needs fewer queries for the same values.

    Parameters
    ----------
    alpha
        The share of features that is shown, above 0 and below 1. 0.5 gives Banzhaf values. None: spread over [0, 1],
        which gives Shapley values.
    widths
        The widths, in features, of the smooth fields that masks are cut from; masks of several widths alternate. ():
        masks are independent over features. Values of smooth masks are an estimand of their own.

    Raises
    ------
    MethodError
        A setting is wrong. When x is explained: `widths` is set and the features have no neighbours.

    Notes
    -----
    z = x̊ + m ∘ (x − x̊) with m_k ~ Bernoulli(α), w = (m − α)/(α(1 − α)) and ξ = E[f(z) w].

    Examples
    --------
    >>> import geex
    >>> banzhaf = geex.Presence(alpha=0.5)
    """

    alpha: float | None = None
    widths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.alpha is not None:
            share("alpha", self.alpha, MethodError, whole=False)
        widths = self.widths if isinstance(self.widths, tuple | list) else (self.widths,)
        for width in widths:
            positive("a width", width, MethodError, "a positive number of features")
        object.__setattr__(self, "widths", tuple(float(width) for width in widths))

    def search(self, explicand: Array, baseline: Array, features: Features, rows: int) -> "PresenceMasks":
        shape = tuple(explicand.shape)
        least = float(namespace(explicand).finfo(explicand.dtype).eps)
        if self.alpha is not None and not least <= self.alpha <= 1 - least:
            raise MethodError(
                f"`alpha` must be between {least:.2g} and 1 − {least:.2g}, the resolution of {explicand.dtype}, the "
                f"type of x; got {self.alpha!r}.",
                code="alpha-below-resolution",
            )
        axes = neighbour_axes(features, shape) if self.widths else ()
        if self.widths and not axes:
            raise MethodError(
                "`widths` makes smooth masks, which need features with neighbours; these have none.",
                code="features-without-neighbours",
                fix="Use widths=().",
            )
        return PresenceMasks(features, self.alpha, self.widths, axes)

    def estimand(self, search: "PresenceMasks") -> Estimand:
        if search.widths:
            return Estimand(Quantity.SMOOTH_PRESENCE)
        if search.alpha is None:
            return Estimand(Quantity.SHAPLEY, Additive.WITHIN_ERROR)
        return Estimand(Quantity.BANZHAF if search.alpha == 0.5 else Quantity.WEIGHTED_PRESENCE, share=search.alpha)
