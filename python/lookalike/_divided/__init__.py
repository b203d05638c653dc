"""What the engines of divided runs share: tasks, sums, errors, rounds over large components."""
