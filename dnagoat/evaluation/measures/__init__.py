"""One module a measure, named as the measure, which it declares as MEASURE at its end."""
