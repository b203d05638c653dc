"""The results of calls: groups, tables, explanations, and their display in notebooks."""
