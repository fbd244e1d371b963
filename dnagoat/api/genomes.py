"""Taking a run to any genome: score_variants, score_regions, embed, write_embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dnagoat.api.keywords import Place, hear_nothing
from dnagoat.api.making import open_run
from dnagoat.progress import Progress, silent

if TYPE_CHECKING:
    from typing import Unpack

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from dnagoat.api.keywords import Embedded
    from dnagoat.evaluation.outputs.embeddings.vectors import Embedding, Reader
    from dnagoat.evaluation.outputs.regions import Region
    from dnagoat.evaluation.outputs.tracks import Segment
    from dnagoat.evaluation.outputs.variants.calls import Survey
    from dnagoat.training.kept.run import Run, Which


def score_variants(
    run: Run | Place,
    calls: Place,
    genome: Place,
    *,
    out: Place | None = None,
    table: Place | None = None,
    name: str = "DNAGOAT",
    context: int | None = None,
    after: int | None = None,
    skip_mismatches: bool = False,
    resume: bool = False,
    checkpoint: Which = "best",
    device: str = "auto",
    batch_size: int = 64,
    say: Callable[[str], None] = hear_nothing,
    progress: Progress = silent,
) -> Survey:
    """Log-likelihood ratios, alt over ref in nats, of the alleles of a VCF or BCF file on a genome (FASTA or 2bit).

    Written to `out` (.vcf, .vcf.gz, .bcf), whose INFO fields begin with `name`, and to `table` (.tsv, .parquet), which
    are replaced. `context` bases are read at once (the training length), `after` of them follow an allele and are
    scored with it (64). Returns what the file held: `records`, `alleles`, `scored`, `skipped` by reason. `SourceError`
    where a record does not fit the genome, unless `skip_mismatches`; `OptionError`; `MissingError` without pysam.
    """
    from dnagoat.evaluation.outputs.variants import scored_file as variants
    from dnagoat.training.launch.processes import pick_device

    opened = open_run(run) if isinstance(run, Path | str) else run
    model = opened.model(checkpoint, pick_device(device))
    survey, _ = variants.score_variants(
        variants.scorer_of(opened, model, checkpoint, batch_size),
        Path(calls),
        Path(genome),
        variants.frame_of(model, context, after),
        variants.Places(None if out is None else Path(out), None if table is None else Path(table), resume),
        prefix=name,
        skip_mismatches=skip_mismatches,
        progress=progress,
        say=say,
    )
    return survey


def score_regions(
    run: Run | Place,
    bed: Place,
    genome: Place,
    *,
    tracks: Place | None = None,
    chrom_sizes: Place | None = None,
    context: int | None = None,
    stride: int | None = None,
    checkpoint: Which = "best",
    device: str = "auto",
    batch_size: int = 64,
    say: Callable[[str], None] = hear_nothing,
    progress: Progress = silent,
) -> list[Region]:
    """Log-probabilities, in nats, of the regions of a BED file on a genome (FASTA or 2bit), on both strands.

    Of each region `interval` says where it lies and `record` what it costs, as `score` has it; each base is read with
    what lies before it, in pieces of `context` bases (the training length) that move by `stride` (half of it). `tracks`
    is a folder for bedGraph and bigWig files of nats a base, `chrom_sizes` a file (chrom.sizes, .fai) of the lengths
    that bigWig headers carry where the genome holds pieces. `SourceError` where a region is not in the genome.
    """
    from dnagoat.evaluation.outputs import regions
    from dnagoat.evaluation.outputs.tracks import open_tracks
    from dnagoat.genome.read.bed import read_bed
    from dnagoat.genome.read.chrom_sizes import Sizes, read_sizes
    from dnagoat.genome.read.genome import open_genome
    from dnagoat.training.launch.processes import pick_device

    opened = open_run(run) if isinstance(run, Path | str) else run
    model = opened.model(checkpoint, pick_device(device))
    intervals = read_bed(Path(bed))
    track: Callable[[Segment], None] | None = None
    with ExitStack() as stack:
        read = stack.enter_context(open_genome(Path(genome), progress))
        if tracks is not None:
            name = f"{opened.name}-{Path(intervals.title).stem}"
            sizes = Sizes() if chrom_sizes is None else read_sizes(Path(chrom_sizes))
            written = open_tracks(Path(tracks), name, read.contigs(), str(read.source), sizes)
            track = stack.enter_context(written)[0]
        return regions.score_regions(
            model,
            intervals,
            read,
            batch_size * model.config.context,
            context,
            stride,
            track=track,
            progress=progress,
            say=say,
        )


class Embeddings(NamedTuple):
    """Vectors (n, width) float32, NaN where no base is known, and a table of n rows that says whose they are."""

    places: pd.DataFrame
    vectors: NDArray[np.float32]


def embed(
    run: Run | Place,
    *,
    say: Callable[[str], None] = hear_nothing,
    progress: Progress = silent,
    **asked: Unpack[Embedded],
) -> Embeddings:
    """One vector for each region of a genome (`regions` and `genome`), window of a `split`, or of the `sequences`.

    `layer` is norm, embedding or a block; `pool` the mean over bases or the last one; `strands` own or both, averaged.
    A text longer than `context` bases (those of training) is read in pieces that move by `stride` (half of it), each
    base's state taken once; `before` bases stand before a region. Errors: `OptionError`, `SourceError` (a region that
    is not there), `WindowError` (an empty split).
    """
    import numpy as np
    import pandas as pd

    from dnagoat.evaluation.outputs.embeddings.formats import COLUMNS, cells

    with _embedded(run, asked, say, progress) as (_, reader, found):
        rows, vectors = [], []
        for one in found:
            rows.append(cells(one))
            vectors.append(one.vector)
        whole = np.array(vectors, dtype=np.float32).reshape(len(rows), reader.width)
        return Embeddings(pd.DataFrame(rows, columns=list(COLUMNS)), whole)


def write_embeddings(
    run: Run | Place,
    out: Place,
    *,
    say: Callable[[str], None] = hear_nothing,
    progress: Progress = silent,
    **asked: Unpack[Embedded],
) -> list[Path]:
    """As `embed`, into a file (.parquet, .npy with a .tsv beside it, .h5ad), which is replaced; memory stays the same.

    Returns the files. `MissingError` where .h5ad is asked for without the package anndata.
    """
    from dnagoat.evaluation.outputs.embeddings.formats import files_of
    from dnagoat.evaluation.outputs.embeddings.formats import write_embeddings as write
    from dnagoat.evaluation.outputs.embeddings.vectors import about

    files_of(Path(out))
    with _embedded(run, asked, say, progress) as (opened, reader, found):
        return write(Path(out), found, reader.width, about(opened, asked.get("checkpoint", "best"), reader))


@contextmanager
def _embedded(
    run: Run | Place, asked: Embedded, say: Callable[[str], None], progress: Progress
) -> Iterator[tuple[Run, Reader, Iterator[Embedding]]]:
    from dnagoat.evaluation.outputs.embeddings.texts import source_of
    from dnagoat.evaluation.outputs.embeddings.vectors import EmbedOptions, Reader
    from dnagoat.training.launch.processes import pick_device

    opened = open_run(run) if isinstance(run, Path | str) else run
    options = EmbedOptions(**{name: value for name, value in asked.items() if name in EmbedOptions.model_fields})
    source = source_of(
        opened,
        regions=asked.get("regions"),
        genome=asked.get("genome"),
        split=asked.get("split"),
        windows=asked.get("windows"),
        sequences=asked.get("sequences"),
        dataset=asked.get("dataset"),
    )
    model = opened.model(asked.get("checkpoint", "best"), pick_device(asked.get("device", "auto")))
    reader = Reader(model, options, asked.get("batch_size", 64) * model.config.context)
    with source.open(say, progress) as (texts, total):
        yield opened, reader, reader.embed(texts, total, progress)
