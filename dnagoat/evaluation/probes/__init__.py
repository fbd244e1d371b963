"""Small trained models that test one claim each: retrieval, induction, extrapolation, sinks."""
