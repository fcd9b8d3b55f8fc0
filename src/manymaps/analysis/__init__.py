"""Diagnosis of data, and evaluation, stability and reliability of fits."""
