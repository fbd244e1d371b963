"""Which faults are the user's to mend: each carries one sentence with what, where and the cure.

The command line prints such a sentence and exits with code 2. Everything else is a bug and keeps its traceback.
"""

from signal import Signals


class DnagoatError(Exception):
    """A fault in what the user gave; `str(error)` is one sentence for a person."""


class SourceError(DnagoatError):
    """A sequence file, an assembly or a download cannot be used."""


class DatasetError(DnagoatError):
    """A prepared dataset is missing, damaged, or cannot be made."""


class WindowError(DatasetError):
    """A tiling or a split leaves nothing to work with."""


class RunError(DnagoatError):
    """A run folder is missing, damaged, taken, or of another kind."""


class PromptError(DnagoatError):
    """A prompt is not DNA or does not fit."""


class OptionError(DnagoatError):
    """An option is out of its range, or does not go with another."""


class FieldError(OptionError):
    """A field of a configuration, or of a function's options, has a value that it cannot have.

    `owner` is the class that has the field; the command line says the option that sets it instead of its name.
    """

    def __init__(self, owner: type, field: str, value: object, said: str) -> None:
        super().__init__(f"{field} = {value!r}: {said}")
        self.owner, self.field, self.value, self.said = owner, field, value, said


class TrainingError(DnagoatError):
    """Training cannot go on (non-finite loss, out of memory, disk full)."""


class MissingError(DnagoatError):
    """An optional package or device that was asked for is not here."""


class Stopped(KeyboardInterrupt):
    """A signal asked for the end, and what there was has been saved: no fault, so it is no `DnagoatError`.

    A command that ends so has the exit code 128 + signal, as if the signal had ended it.
    """

    def __init__(self, signal: Signals) -> None:
        super().__init__(f"stopped by {signal.name}")
        self.signal = signal
