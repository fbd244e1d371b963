"""`dnagoat score`: from a run to the genome: variants, regions, sequences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options.unfold import unfold
from dnagoat_cli.options.weights import Weights

score = typer.Typer(
    no_args_is_help=True,
    help="Score variants, regions of any genome, or sequences with a trained model. What each column means: "
    "docs/variants.md.",
)
app.add_typer(score, name="score")

RunFolder = Annotated[Path, typer.Argument(help="Folder that `train` wrote.")]
Genome = Annotated[Path, typer.Option(help="FASTA (plain, gzip, bgzip) or 2bit file.")]
Context = Annotated[int | None, typer.Option(min=1, help="Bases read at once; default those of training.")]
Stride = Annotated[int | None, typer.Option(min=1, help="Bases by which a long one's pieces move; default half.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")]
Rows = Annotated[Path | None, typer.Option(help="TSV (.gz is compressed) or .parquet; default standard output.")]

VARIANTS = """
How much likelier does an allele make its surroundings? Adds log-likelihood ratios, alt over ref in nats, to a VCF.

Both strands are read and their mean is DNAGOAT_LLR: above 0 the model finds ALT likelier than REF. What cannot be
scored is kept and says why (DNAGOAT_SKIPPED). Output is in the order of the input, with an index where it is sorted.

Nine of ten substitutions lie between about -5 and +2. An insertion of n bases loses some 1.3 n for its length alone,
and a deletion gains as much: compare indels with indels of one length, and never with substitutions (docs/variants.md).

[bold]Examples[/bold]

  dnagoat score variants runs/goat calls.vcf.gz --genome hg38.fa --out scored.vcf.gz

  dnagoat score variants runs/goat calls.bcf --genome hg38.2bit --table scores.parquet

  bcftools view -r chr21 calls.bcf | dnagoat score variants runs/goat - --genome hg38.fa > scored.vcf

  dnagoat score variants runs/goat calls.vcf.gz --genome hg38.fa --out scored.vcf.gz --resume
"""


@score.command(help=VARIANTS)
@unfold
def variants(
    run: RunFolder,
    calls: Annotated[Path, typer.Argument(help="VCF (plain, bgzip) or BCF file, - for standard input.")],
    genome: Genome,
    weights: Weights,
    out: Annotated[
        Path | None,
        typer.Option(help=".vcf, .vcf.gz or .bcf file; without --out and --table, VCF on standard output."),
    ] = None,
    table: Annotated[Path | None, typer.Option(help="A row an allele: TSV (.gz is compressed) or .parquet.")] = None,
    name: Annotated[str, typer.Option(help="What INFO fields begin with.")] = "DNAGOAT",
    context: Context = None,
    after: Annotated[
        int | None,
        typer.Option(
            help="Bases after an allele that are scored with it; 64 by default, an eighth of a context below 512."
        ),
    ] = None,
    skip_mismatches: Annotated[
        bool, typer.Option("--skip-mismatches", help="Leave records whose REF is not the genome's unscored.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from where it was interrupted.")] = False,
    force: Force = False,
) -> None:
    from dnagoat_cli.terminal import scores

    scores.score_variants(
        run,
        calls,
        genome,
        out if out is not None or table is not None else Path("-"),
        table,
        name=name,
        context=context,
        after=after,
        skip_mismatches=skip_mismatches,
        resume=resume,
        model=weights,
        force=force,
    )


REGIONS = """
How likely is each region of a BED file, on any genome? Log-probabilities in nats on both strands, sums and means.

Each base is read with what lies before it in the genome, half a training window or more where there is that much.

[bold]Examples[/bold]

  dnagoat score regions runs/goat exons.bed --genome hg38.fa --out exons.tsv

  dnagoat score regions runs/goat loci.bed --genome hg38.fa --tracks tracks/     [dim]for IGV and the UCSC browser[/dim]

  dnagoat score regions runs/goat exons.bed --genome hg38.fa --bed scored.bed
"""


@score.command(help=REGIONS)
@unfold
def regions(
    run: RunFolder,
    bed: Annotated[Path, typer.Argument(help="BED file (plain, gzip), - for standard input.")],
    genome: Genome,
    weights: Weights,
    out: Rows = None,
    scored_bed: Annotated[
        Path | None, typer.Option("--bed", help="BED file to write, mean nats a base in column 5.")
    ] = None,
    tracks: Annotated[Path | None, typer.Option(help="Folder for NLL a base: bedGraph, bigWig.")] = None,
    chrom_sizes: Annotated[
        Path | None, typer.Option(help="Lengths of chromosomes for --tracks: chrom.sizes or .fai.")
    ] = None,
    context: Context = None,
    stride: Stride = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    from dnagoat_cli.terminal import scores

    places = scores.Places(out, scored_bed, tracks, chrom_sizes, as_json=as_json)
    scores.score_regions(run, bed, genome, places, context=context, stride=stride, model=weights, force=force)


SEQUENCES = """
How likely is each record of a FASTA or 2bit file? Log-probabilities in nats on both strands, sums and means.

--per-base reads a record as it stands, on one strand: what is expected of a base from its left and from its right are
two different questions, and their probabilities have no mean. For the other strand give the reverse complement.

[bold]Examples[/bold]

  dnagoat score sequences runs/goat mine.fa --out scores.tsv

  zcat mine.fa.gz | dnagoat score sequences runs/goat - | sort -k 2n

  dnagoat score sequences runs/goat mine.fa --per-base bases.parquet     [dim]p of A, C, G, T; nats; a row a base[/dim]
"""


@score.command(help=SEQUENCES)
@unfold
def sequences(
    run: RunFolder,
    fasta: Annotated[Path, typer.Argument(help="FASTA (plain, gzip) or 2bit file, - for standard input.")],
    weights: Weights,
    out: Rows = None,
    per_base: Annotated[
        Path | None,
        typer.Option(help="A row a base instead: .parquet, or .bedGraph of nats (- on standard output)."),
    ] = None,
    context: Context = None,
    stride: Stride = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    from dnagoat_cli.terminal import scores

    places = scores.Places(out, as_json=as_json)
    if per_base is not None:
        scores.score_bases(run, fasta, per_base, places, context=context, stride=stride, model=weights, force=force)
    else:
        scores.score_sequences(run, fasta, places, context=context, stride=stride, model=weights, force=force)
