"""A PyTorch module as a model: called in evaluation mode, without gradients, on its own device and in its own type."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.digest import digest
from geex._problem.model_identity import module_parts
from geex._problem.outputs import checked_labels
from geex._query.limits import Limits
from geex.errors import AnswerError, InputError, MissingPackage

if TYPE_CHECKING:
    from torch.nn import Module

# What `output` may name.
MODULE_OUTPUTS = ("logits", "softmax", "sigmoid")


@dataclass(frozen=True, eq=False)
class Torch:
    """A module with a choice of its output; see `torch`."""

    module: "Module" = field(repr=False)
    output: str | Callable[[Any], Any] = "logits"
    labels: tuple[str, ...] | None = None
    limits: Limits = field(default=Limits(), repr=False)

    def __call__(self, queries: Array) -> Array:
        """Return answers for queries (n, *shape), in the library and on the device of the queries."""
        try:
            import torch
        except ImportError:
            raise MissingPackage(
                "A PyTorch module needs PyTorch. Run `pip install torch` (the extra `torch`).", code="torch-missing"
            ) from None
        given = isinstance(queries, torch.Tensor)
        # PyTorch makes no tensor of an array that is read-only or has negative strides
        tensor = queries if given else torch.as_tensor(np.require(queries, requirements=["C", "W"]))
        with torch.no_grad(), _evaluating(self.module):
            answer = self._select(self.module(self._placed(tensor)))
        return answer.to(tensor.device) if given else host(answer)

    @property
    def identity(self) -> str:
        """A text that changes with the weights and with the output."""
        return digest(module_parts(self.module), self.output)

    def _placed(self, tensor: Any) -> Any:
        """Return the tensor on the device of the module's parameters, in the type of the floating ones."""
        known = [*self.module.parameters(), *self.module.buffers()]
        if not known:
            return tensor
        types = [entry.dtype for entry in known if entry.is_floating_point()]
        return tensor.to(known[0].device, types[0] if types else tensor.dtype)

    def _select(self, answer: Any) -> Any:
        if callable(self.output):
            return self.output(answer)
        if not hasattr(answer, "softmax"):
            raise AnswerError(
                f"The module must return a tensor (n,) or (n, k); got a {type(answer).__name__}.",
                code="answer-not-a-tensor",
                fix="Select a part: geex.models.torch(module, output=operator.itemgetter(0)), or "
                "operator.attrgetter('logits').",
            )
        if self.output == "softmax":
            return answer.softmax(dim=1)
        return answer.sigmoid() if self.output == "sigmoid" else answer


def torch(
    module: "Module", output: str | Callable[[Any], Any] = "logits", *, labels: Any = None, limits: Limits | None = None
) -> Torch:
    """Make a model out of a PyTorch module.

    The module is called in evaluation mode and then returns to its mode. It is called without gradients, on its own
    device and in its own floating type.

    Parameters
    ----------
    module : torch.nn.Module
        A module from (n, *shape) to (n,) or (n, k).
    output : {"logits", "softmax", "sigmoid"} or callable, default "logits"
        "logits" returns the answer as it is, "softmax" applies softmax over the outputs, "sigmoid" applies the sigmoid
        to each. A callable selects the tensor from what the module returns.
    labels : sequence of str, optional
        Names of the outputs.
    limits : Limits, optional
        How the model may be called. By default one call at a time.

    Returns
    -------
    Torch
        A callable from queries (n, *shape) to scores (n,) or (n, k): NumPy arrays for NumPy arrays, tensors on the
        same device for tensors.

    Raises
    ------
    InputError
        If `module` or `output` is wrong.
    AnswerError
        When called, if the module returns no tensor.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> import geex
    >>> model = geex.models.torch(torch.nn.Linear(4, 3), "softmax", labels=["a", "b", "c"])
    >>> model(np.zeros((2, 4))).shape
    (2, 3)
    """
    if isinstance(module, type) or not hasattr(module, "parameters") or not callable(module):
        got = module.__name__ if isinstance(module, type) else type(module).__name__
        raise InputError(f"`module` must be a torch.nn.Module; got {got}.", code="module-not-torch")
    if not callable(output) and output not in MODULE_OUTPUTS:
        raise InputError(
            f"`output` must be {', '.join(map(repr, MODULE_OUTPUTS))} or a callable; got {output!r}.",
            code="output-unknown",
        )
    named = checked_labels(labels)
    return Torch(module, output, None if named is None else tuple(named), limits or Limits())


# guards _EVALUATED
_EVALUATED_LOCK = threading.Lock()
# for each module: how many calls are inside it, and its parts that were in training mode before
_EVALUATED: "WeakKeyDictionary[Module, list[Any]]" = WeakKeyDictionary()


@contextmanager
def _evaluating(module: "Module") -> Iterator[None]:
    """Keep the module in evaluation mode while any thread calls it. The last thread restores the mode of each part."""
    with _EVALUATED_LOCK:
        calls = _EVALUATED.setdefault(module, [0, []])
        if calls[0] == 0:
            calls[1] = [part for part in module.modules() if part.training]
            module.eval()
        calls[0] += 1
    try:
        yield
    finally:
        with _EVALUATED_LOCK:
            calls[0] -= 1
            if calls[0] == 0:
                for part in calls[1]:
                    part.training = True
                calls[1] = []
