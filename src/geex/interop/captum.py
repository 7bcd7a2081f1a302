"""geex as an attribution method of captum, whose metrics evaluate it.

captum.metrics.infidelity(module, perturb, inputs, geex.interop.captum.Attribution(module).attribute(inputs))
"""

from collections.abc import Sequence
from typing import Any

from geex._arrays.arrays import host, like
from geex._problem.foreign_model import Carried
from geex.errors import InputError
from geex.interop.quantus import explain_func
from geex.models.pytorch import torch

__all__ = ["Attribution"]


class Attribution:
    """Attribute the output of a model to its inputs, as the classes of `captum.attr` do.

    Parameters
    ----------
    forward_func : PyTorch module or callable
        The model: a module, or a callable from a batch of tensors to scores (n, k).
    settings
        Arguments of `geex.explain`, such as `method`, `queries` or `features`.

    Examples
    --------
    >>> import torch
    >>> import geex
    >>> attribution = geex.interop.captum.Attribution(lambda z: z @ torch.tensor([[1.0, 3.0], [2.0, 1.0]]))
    >>> attribution.attribute(torch.ones(1, 2), target=0)
    tensor([[1., 2.]])
    """

    def __init__(self, forward_func: Any, **settings: Any) -> None:
        self.forward_func, self.settings = forward_func, settings

    def attribute(self, inputs: Any, baselines: Any = None, target: Any = None, **settings: Any) -> Any:
        """Return values in the shape of the inputs.

        Parameters
        ----------
        inputs : tensor (n, *shape)
            The inputs, or a tuple of one such tensor.
        baselines : number or tensor, optional
            The baseline of all inputs: a number, a tensor (*shape) or (1, *shape). None: 0.
        target : int or sequence of int, optional
            The output, one for all inputs or one for each. None: the only output.
        settings
            Arguments of `geex.explain`, in place of those of the constructor.

        Returns
        -------
        tensor (n, *shape)
            The values; in a tuple if the inputs are.

        Raises
        ------
        InputError
            There are several inputs for each row.
        """
        single = not isinstance(inputs, tuple)
        rows = inputs if single else inputs[0]
        if not single and len(inputs) != 1:
            raise InputError(
                f"`inputs` must be one tensor; got {len(inputs)}.",
                code="inputs-not-one",
                fix="Wrap the model in a function of one tensor.",
            )
        baseline = baselines[0] if isinstance(baselines, tuple) else baselines
        if baseline is not None and not isinstance(baseline, int | float):
            shape = tuple(rows.shape)[1:]
            baseline = baseline[0] if tuple(baseline.shape) == (1, *shape) else baseline
        given = self.settings | settings | ({} if baseline is None else {"baseline": baseline})
        values = explain_func(_on_tensors(self.forward_func, rows), rows, _targets(target, len(rows)), **given)
        found = like(values, rows)
        return found if single else (found,)


def _targets(target: Any, count: int) -> Sequence[int]:
    """Return one target for each input."""
    if target is None:
        return [0] * count
    listed = host(target).ravel().tolist() if not isinstance(target, int | list | tuple) else target
    return [listed] * count if isinstance(listed, int) else list(listed) * (count if len(listed) == 1 else 1)


def _on_tensors(model: Any, rows: Any) -> Any:
    """Return a model of arrays that calls one of tensors."""
    if Carried(model).module:
        return torch(model)
    return lambda queries: model(like(queries, rows))
