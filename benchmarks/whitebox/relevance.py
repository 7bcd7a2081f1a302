"""Layer-wise relevance propagation: f(x) is handed back layer by layer, by the rules of captum.

R_i = Σ_j a_i w_ij / (Σ_i' a_i' w_i'j + b_j + ε) · R_j        the ε-rule
"""

import copy
import importlib
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.whitebox.task import differentiable, prepare
from geex._arrays.arrays import Array
from geex._problem.baselines import Baseline
from geex._problem.declared import Call
from geex._problem.estimand import Estimand, Quantity
from geex._problem.outputs import Target
from geex._protocols import Features
from geex._results.explanation import Explanation
from geex.errors import InputError, MethodError, MissingPackage


def lrp(
    module: Any,
    x: Any,
    *,
    target: Target = None,
    features: Features | None = None,
    baseline: Baseline = None,
) -> Explanation:
    """Layer-wise relevance propagation by captum, from the module's own output: there is no score to choose.

    A layer's rule is its attribute `rule`, such as captum's GammaRule(), else captum's ε-rule, with which layers
    of ReLUs have x times the gradient. Layers that captum knows no rule for raise MethodError. The module is left as
    it is: rules work on a copy. The baseline counts for f(x̊) alone.
    """
    task = prepare(module, x, target, None, features, baseline)
    attribute = _relevance(module)
    several = task.model.width is not None
    with differentiable():
        rows = [attribute(task.sent(), target if several else None) for target in task.targets]
    task.model.asked += 2 * len(rows)
    return task.explanation(
        task.total(torch.stack([row.double() for row in rows]))[:, 0, :],
        estimand=Estimand(
            Quantity.OWN,
            text=(
                "Relevance: f(x) handed back from layer to layer in proportion to what each input added, by captum's "
                "LRP. The sum is f(x) instead of f(x) − f(x̊), less what biases and the rules' stabilisers absorb."
            ),
        ),
        method=Call("lrp", "benchmarks.whitebox"),
    )


def _relevance(module: Any) -> Callable[[Array, int | None], Array]:
    """captum's LRP on a copy of the module: (x as a batch of one, target) -> relevance."""
    try:
        lrp_module = importlib.import_module("captum.attr._core.lrp")
        epsilon_rule = importlib.import_module("captum.attr._utils.lrp_rules").EpsilonRule
    except ImportError as error:
        raise MissingPackage("`lrp` needs captum, which is not installed: pip install captum") from error
    if not isinstance(module, torch.nn.Module):
        raise InputError(f"module is {type(module).__name__}; lrp goes through the layers of a torch.nn.Module.")

    def attribute(batch: Array, target: int | None) -> Array:
        network = _with_rules(module, lrp_module, epsilon_rule)
        try:
            return lrp_module.LRP(network).attribute(batch, target=target).detach()
        except RuntimeError as error:
            if "more than once" not in str(error):
                raise
            raise MethodError(
                f"captum's LRP wants every layer to be used once ({error}); give each use a layer of its own."
            ) from error

    return attribute


def _with_rules(module: Any, lrp_module: Any, epsilon_rule: Any) -> Any:
    """A copy of the module that captum's LRP can go through: linear layers that it leaves out have the ε-rule too."""
    network = torch.nn.Sequential(copy.deepcopy(module))
    unknown = []
    for name, layer in network[0].named_modules():
        if hasattr(layer, "inplace"):
            layer.inplace = False
        if next(layer.children(), None) is not None or hasattr(layer, "rule"):
            continue
        if type(layer) in _LINEAR:
            layer.rule = epsilon_rule()
        elif type(layer) not in {*lrp_module.SUPPORTED_LAYERS_WITH_RULES, *lrp_module.SUPPORTED_NON_LINEAR_LAYERS}:
            unknown.append(f"{name or 'the module itself'} ({type(layer).__name__})")
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise MethodError(
            f"captum's LRP has no rule for {', '.join(unknown[:5])}{more}. Give each a rule out of "
            "captum.attr._utils.lrp_rules (layer.rule = EpsilonRule() for a linear layer, IdentityRule() for an "
            "activation), or take integrated_gradients."
        )
    return network


_LINEAR = {
    getattr(torch.nn, name)
    for name in (
        *("Flatten", "Unflatten", "Identity", "Conv1d", "Conv3d", "BatchNorm1d", "BatchNorm3d"),
        *("AvgPool1d", "AvgPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool3d", "ZeroPad2d"),
    )
}
