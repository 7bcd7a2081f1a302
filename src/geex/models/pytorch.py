"""A PyTorch module as a model: asked in evaluation mode, without gradients, on its own device and in its own type."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from geex._arrays.arrays import Array, host
from geex._problem.digest import digest
from geex._problem.model_identity import made_of
from geex._problem.outputs import checked_labels
from geex._query.limits import Limits
from geex.errors import AnswerError, InputError, MissingPackage

if TYPE_CHECKING:
    from torch.nn import Module

OUTPUTS = ("logits", "softmax", "sigmoid")


@dataclass(frozen=True, eq=False)
class Torch:
    """A module, opened where it is called; see `torch`."""

    module: "Module" = field(repr=False)
    output: str | Callable[[Any], Any] = "logits"
    labels: tuple[str, ...] | None = None
    limits: Limits = field(default=Limits(), repr=False)

    def __call__(self, queries: Array) -> Array:
        """Queries (n, *shape) of NumPy or PyTorch -> answers of the same library, beside the queries."""
        try:
            import torch
        except ImportError:
            raise MissingPackage("a PyTorch module needs PyTorch: pip install 'geex[torch]'") from None
        given = isinstance(queries, torch.Tensor)
        # a tensor on memory that cannot be written, or runs backwards, is none
        tensor = queries if given else torch.as_tensor(np.require(queries, requirements=["C", "W"]))
        with torch.no_grad(), _evaluating(self.module):
            answer = self._chosen(self.module(self._placed(tensor)))
        return answer.to(tensor.device) if given else host(answer)

    @property
    def identity(self) -> str:
        """Another one for other weights, or another way to read the answer."""
        return digest(made_of(self.module), self.output)

    def _placed(self, tensor: Any) -> Any:
        """On the device of the module's parameters, and in the type of its floating ones."""
        known = [*self.module.parameters(), *self.module.buffers()]
        if not known:
            return tensor
        types = [entry.dtype for entry in known if entry.is_floating_point()]
        return tensor.to(known[0].device, types[0] if types else tensor.dtype)

    def _chosen(self, answer: Any) -> Any:
        if callable(self.output):
            return self.output(answer)
        if not hasattr(answer, "softmax"):
            raise AnswerError(
                f"the module returned a {type(answer).__name__}; wanted a tensor (n,) or (n, k). Say which part it is: "
                "geex.models.torch(module, output=operator.itemgetter(0)), or operator.attrgetter('logits')."
            )
        if self.output == "softmax":
            return answer.softmax(dim=1)
        return answer.sigmoid() if self.output == "sigmoid" else answer


def torch(
    module: "Module", output: str | Callable[[Any], Any] = "logits", *, labels: Any = None, limits: Limits | None = None
) -> Torch:
    """A model out of a PyTorch module (n, *shape) -> (n,) or (n, k).

    It is asked in evaluation mode, and left in the mode it was in; without gradients; on its own device and in its own
    floating type. NumPy arrays are answered by NumPy arrays, tensors by tensors on their device.
    output: "logits" (as it comes), "softmax" over the outputs, "sigmoid" of each, or a callable from what the module
        returns to a tensor, for modules that return several things.
    labels: names of the outputs.
    """
    if isinstance(module, type) or not hasattr(module, "parameters") or not callable(module):
        raise InputError(f"module is {module!r}; wanted a torch.nn.Module.")
    if not callable(output) and output not in OUTPUTS:
        raise InputError(f"output is {output!r}; wanted {', '.join(map(repr, OUTPUTS))} or a callable.")
    named = checked_labels(labels)
    return Torch(module, output, None if named is None else tuple(named), limits or Limits())


_LOCK = threading.Lock()
_EVALUATED: "WeakKeyDictionary[Module, list[Any]]" = WeakKeyDictionary()


@contextmanager
def _evaluating(module: "Module") -> Iterator[None]:
    """Evaluation mode for as long as any thread asks; the last one out puts every part back into its mode."""
    with _LOCK:
        calls = _EVALUATED.setdefault(module, [0, []])
        if calls[0] == 0:
            calls[1] = [part for part in module.modules() if part.training]
            module.eval()
        calls[0] += 1
    try:
        yield
    finally:
        with _LOCK:
            calls[0] -= 1
            if calls[0] == 0:
                for part in calls[1]:
                    part.training = True
                calls[1] = []
