"""The common code of Spark and Ray: the order of stages, tasks, sums, errors, and rounds over
large components.
"""
