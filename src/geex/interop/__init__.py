"""Other packages of explanations, with geex inside: shap, shapiq, quantus and captum.

Each module needs its package when it is called, not when it is imported.
"""

from geex.interop import captum, quantus, shap, shapiq

__all__ = ["captum", "quantus", "shap", "shapiq"]
