"""Shapley values over a background of rows: ours and shap's, beside exact ones."""
