"""The SNE family and multiple maps: estimators, one run, starts, insertion."""
