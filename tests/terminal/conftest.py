"""Results of every kind, as the report's tests have them."""

from tests.reporting.conftest import crowded, results, whole

__all__ = ["crowded", "results", "whole"]
