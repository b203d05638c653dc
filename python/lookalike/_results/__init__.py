"""Results of calls: groups, tables, explanations and their pages in notebooks."""
