"""Optional attributes of a user's model. This is the only file that reads them.

A model is any callable. These attributes are optional:

labels     names of the outputs             shape      the shape of x
names      names of the features            limits     how the model may be called (`geex.Limits`)
absence    what a baseline of zeros is      identity   a text that is another one for another model
frames     whether it takes data frames     cells      the row of a table that x stands for
most_rows  the most rows of one call
"""

from dataclasses import dataclass
from typing import Any

# Members of a module of PyTorch.
MODULE = ("named_modules", "named_buffers", "state_dict")


@dataclass(frozen=True, eq=False)
class Carried:
    """The attributes of a model, each looked up when it is needed; None where the model has none."""

    model: Any

    @property
    def labels(self) -> Any:
        """Names of the outputs, as the model has them."""
        return getattr(self.model, "labels", None)

    @property
    def names(self) -> list[Any] | tuple[Any, ...] | None:
        """Names of the features."""
        names = getattr(self.model, "names", None)
        return names if isinstance(names, list | tuple) else None

    @property
    def absence(self) -> str | None:
        """What a baseline of zeros stands for."""
        absence = getattr(self.model, "absence", None)
        return absence if isinstance(absence, str) else None

    @property
    def frames(self) -> bool:
        """Whether it was made for data frames, and takes them."""
        return getattr(self.model, "frames", False) is True

    @property
    def cells(self) -> Any:
        """The row of a table that x stands for."""
        return getattr(self.model, "cells", None)

    @property
    def shape(self) -> Any:
        """The shape of x."""
        return getattr(self.model, "shape", None)

    @property
    def limits(self) -> Any:
        """How the model may be called."""
        return getattr(self.model, "limits", None)

    @property
    def most_rows(self) -> int | None:
        """The most rows of one call; None: no limit."""
        most = getattr(self.model, "most_rows", None)
        return most if isinstance(most, int) and most > 0 else None

    @property
    def identity(self) -> str:
        """A text that is another one for another model; "" where there is none."""
        identity = getattr(self.model, "identity", "")
        return identity if isinstance(identity, str) else ""

    @property
    def estimator(self) -> bool:
        """Whether it is an estimator of scikit-learn, or made like one."""
        return hasattr(self.model, "predict")

    @property
    def module(self) -> bool:
        """Whether it is a module of PyTorch, or made like one."""
        named = all(callable(getattr(self.model, name, None)) for name in MODULE)
        return named and not isinstance(self.model, type)

    @property
    def takes_tensors(self) -> bool:
        """Whether it has parameters, as modules of PyTorch have, and takes tensors alone."""
        return hasattr(self.model, "named_parameters")

    @property
    def code(self) -> Any:
        """The source of a compiled module."""
        return getattr(self.model, "code", None)

    @property
    def training(self) -> bool:
        """Whether a module is in its training mode."""
        return bool(getattr(self.model, "training", False))


def strings(names: Any) -> list[str] | None:
    """Return names as texts; None where they are no list of names."""
    return [str(name) for name in names] if isinstance(names, list | tuple) else None
