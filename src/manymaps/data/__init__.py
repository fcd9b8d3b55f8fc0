"""What is fitted, checked: associations, vectors, counts, judged similarities."""
