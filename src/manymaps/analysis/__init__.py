"""Analyses of fits: diagnosis of the data, evaluation, stability and reliability."""
