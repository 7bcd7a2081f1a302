"""Names of outputs and features that a model carries, and inputs in their order."""

from collections.abc import Sequence
from typing import Any

from array_api_compat import is_torch_array

from geex._problem.background import Background, background
from geex._problem.foreign_model import Carried
from geex._problem.named_rows import has_names, is_table, ordered_row
from geex._problem.outputs import Target, checked_labels, has_label
from geex._query.retrying_call import Model
from geex.errors import InputError


def labels_for(labels: Sequence[str] | None, target: Target, model: Model) -> list[str] | None:
    """Return the labels that must match the outputs: those passed, or the model's if the target is one of them."""
    if labels is None and has_label(target):
        labels = Carried(model).labels
    return checked_labels(labels)


def in_models_order(model: Model, x: Any, baseline: Any) -> tuple[Any, Any]:
    """Return x and its baselines; named rows in the order of the model's names, or of those of x."""
    if Carried(model).takes_tensors and not is_torch_array(x):
        raise InputError(
            f"`x` must be a tensor for a PyTorch module; got a {type(x).__name__}. Convert x, or pass "
            "geex.models.torch(model), which accepts arrays.",
            code="module-needs-tensors",
        )
    names = Carried(model).names
    if names is None and has_names(x):
        names = list(x.index)
    x = ordered_row("x", x, names)
    if isinstance(baseline, Background) or is_table(baseline):
        rows = baseline if isinstance(baseline, Background) else background(baseline)
        return x, rows.ordered(names)
    if isinstance(baseline, list):
        return x, [ordered_row("a baseline", one, names) for one in baseline]
    return x, ordered_row("baseline", baseline, names)
