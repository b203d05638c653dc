"""The code that Spark and Ray share: the order of stages, tasks, sums, errors, and rounds over
large components.
"""
