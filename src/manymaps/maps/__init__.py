"""The SNE family and multiple maps: estimators, runs, starts, insertion."""
