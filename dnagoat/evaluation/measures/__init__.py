"""One module a measure, named as the measure."""
