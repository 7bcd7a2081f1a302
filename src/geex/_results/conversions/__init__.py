"""An explanation in the forms of other packages."""

from geex._results.conversions.frame import as_frame
from geex._results.conversions.shap_explanation import as_shap

__all__ = ["as_frame", "as_shap"]
