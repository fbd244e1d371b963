"""One module a measure, named as the measure, which it declares as MEASURE at its end."""

from pathlib import Path


def measure_names() -> list[str]:
    """The names of all measures, from those of the modules here: nothing is imported."""
    stems = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__")
    return [stem.replace("_", "-") for stem in stems]
