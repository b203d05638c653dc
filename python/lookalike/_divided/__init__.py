"""Code that Spark and Ray share: the order of stages, tasks, sums, errors, rounds over large
components.
"""
