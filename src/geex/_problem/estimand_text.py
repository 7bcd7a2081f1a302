"""What values estimate, in words. This is the only file that has these words."""

from geex._problem.estimand import Additive, Estimand, Mixed, Note, Quantity

# Parts that several quantities share.
GAME = "of the game in which an absent feature has its baseline value"
EFFECT = "The mean effect of showing a feature, over"
SMOOTH = f"{EFFECT} smooth random masks that show its neighbours with it;"

# What a value is. The first sentence is printed in summaries.
QUANTITIES = {
    Quantity.PATH_INTEGRAL: "(x − x̊) times the path integral from the baseline to x of the gradient of {model}.",
    Quantity.RIEMANN_SUM: (
        "(x − x̊) times the right Riemann sum, in {steps} steps from the baseline to x, of the gradient of {model}."
    ),
    Quantity.GRADIENT: "The gradient at x of {model}.",
    Quantity.SHAPLEY: f"Shapley values {GAME}.",
    Quantity.BANZHAF: f"Banzhaf values {GAME}: the mean effect of showing a feature, over all subsets of the others.",
    Quantity.WEIGHTED_PRESENCE: (
        f"{EFFECT} subsets that hold every other feature with probability {{share:.3g}} or {{other:.3g}}."
    ),
    Quantity.SMOOTH_PRESENCE: f"{SMOOTH} no other method estimates the same.",
    Quantity.GUIDED_PRESENCE: (
        f"{SMOOTH} first coarse masks over all features, then finer ones over those with large effects, while all "
        "others show. It is estimated by regression, and no other method estimates the same."
    ),
    Quantity.EXPECTED_SCORE: "E[f(z) m]/E[m], the expected score of a randomly masked x where the pixel shows.",
    Quantity.SEGMENT_WEIGHT: (
        "The coefficient of a feature's segment, of {segments}, in a linear model of the score over segments that are "
        "present or absent. The fit weights masks by how much of x they show, and is shrunk by the ridge, less with "
        "more queries."
    ),
    Quantity.NONE: "Nothing: uniform random numbers, which do not depend on the model and do not add up.",
    Quantity.OWN: "",
}
# Whether values add up.
ADDITIVE = {
    Additive.EXACTLY: "They add up to f(x) − f(x̊) exactly.",
    Additive.WITHIN_ERROR: "They add up to f(x) − f(x̊); the gap is noise.",
    Additive.OF_BLURRED_MODEL: "They add up to J(x) − J(x̊); the gap to f(x) − f(x̊) is this blur, and noise.",
    Additive.NO: "The values do not add up.",
}
# Why values do not add up, where the quantity has a reason of its own.
NOT_ADDITIVE = {
    Quantity.GRADIENT: "Slopes do not add up to f(x) − f(x̊).",
    Quantity.BANZHAF: "They do not add up to f(x) − f(x̊).",
    Quantity.EXPECTED_SCORE: (
        "These are levels of the score, not shares of it: they do not add up to f(x) − f(x̊), and a pixel without "
        "effect is not at 0."
    ),
    Quantity.SEGMENT_WEIGHT: "The value of a pixel is the weight of its region: values of pixels do not add up.",
    Quantity.NONE: "",
}
# The same for a method of the user's own.
OWN_ADDITIVE = {**ADDITIVE, Additive.WITHIN_ERROR: "They add up to f(x) − f(x̊), within their errors."}
# Values that are conditioned on their sum.
MADE_COMPLETE = "They are conditioned to add up to f(x) − f(x̊) exactly."
# The error of a sum in place of an integral.
RIEMANN_ERROR = "The error of the Riemann sum is of the order 1/steps."
# Queries beyond the bounds.
CLIPPED = "Queries are clipped to the bounds, so near them the values are those of the clipped model."
# What standard errors include, and what they do not.
ERROR_NOTES = {
    Note.EXACT: "They are exact: every subset was queried.",
    Note.EXACT_IF_STEADY: "They are exact if the model answers the same each time: every subset was queried.",
    Note.MODEL_NOISE_ONLY: ("Every subset was queried; standard errors are those of the model's own noise."),
    Note.POSTERIOR_OR_LEFT_OUT: ("Standard errors are the larger of those of the posterior and of leave-one-out."),
    Note.SECOND_HALF: "They are at least the change that the second half of the queries made.",
    Note.PRIOR_OPEN: "They include the uncertainty about the prior.",
    Note.OTHER_ROUNDS: ("They do not include bias from smoothing or from the adaptive choice of masks."),
    Note.UNBIASED: "Intervals are around unbiased values, so smoothing does not bias them.",
    Note.FIT_OR_LEFT_OUT: (
        "Standard errors are the larger of those of leave-one-out and of the fit; intervals are around unbiased values."
    ),
}


def estimand_text(estimand: Estimand) -> str:
    """Return what the values estimate, and whether they add up, in sentences."""
    riemann = estimand.quantity is Quantity.RIEMANN_SUM
    sentences = [
        _quantity(estimand),
        _mixed(estimand),
        _additive(estimand),
        RIEMANN_ERROR if riemann else "",
        MADE_COMPLETE if estimand.complete else "",
        CLIPPED if estimand.clipped else "",
        f"Averaged over {estimand.baselines} baselines." if estimand.baselines > 1 else "",
        *(ERROR_NOTES[note] for note in estimand.notes),
    ]
    text = " ".join(sentence for sentence in sentences if sentence)
    stated = estimand.quantity is Quantity.GUIDED_PRESENCE  # its text names the regression already
    return f"By regression: {text}" if estimand.regression and not stated else text


def _quantity(estimand: Estimand) -> str:
    share = estimand.share or 0.0
    found = QUANTITIES[estimand.quantity].format(
        model=_model(estimand), steps=estimand.steps, segments=estimand.segments, share=share, other=1 - share
    )
    return " ".join(part for part in (found, estimand.text) if part)


def _model(estimand: Estimand) -> str:
    """Return the model whose gradient is estimated, in words."""
    if estimand.blurred is None:
        return "the model"
    family, sigma, differing = estimand.blurred.family, estimand.blurred.sigma, estimand.blurred.differing
    where = " in the elements that differ from the baseline" if differing else ""
    return f"J, the model averaged over {family} noise of deviation {sigma:.4g}{where}"


def _mixed(estimand: Estimand) -> str:
    if estimand.mixed is Mixed.NEIGHBOURS:
        return "The noise is smoothed, so gradients are mixed over neighbours."
    if estimand.mixed is Mixed.AXIS:
        return f"Noise is shared along axis {estimand.axis}, so gradients are summed along it."
    return ""


def _additive(estimand: Estimand) -> str:
    if estimand.complete:
        return ""
    if estimand.additive is Additive.NO:
        return NOT_ADDITIVE.get(estimand.quantity, ADDITIVE[Additive.NO])
    return (OWN_ADDITIVE if estimand.quantity is Quantity.OWN else ADDITIVE)[estimand.additive]
