"""Predictions against human labels: reading both, figures, comparisons, phases, tables and a drawing."""
