"""From result files to tables, figures and a page; this room never opens a model."""
