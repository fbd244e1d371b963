"""Lines of BED: what is no interval is passed over, whatever a contig is called."""

from __future__ import annotations

from dnagoat.genome.read.bed import interval_lines


def test_comments_and_display_lines_are_passed_over_and_lines_keep_their_numbers() -> None:
    text = "browser position chr1:1-9\n#c\ntrack name=x\n\nchr1\t5\t9\tsome name\nchr2 1 2\ntrack\n"
    assert list(interval_lines(text)) == [(5, ["chr1", "5", "9", "some name"]), (6, ["chr2", "1", "2"])]


def test_a_contig_may_begin_with_the_name_of_a_display_line() -> None:
    found = list(interval_lines("track1\t0\t5\nbrowserX 1 2"))
    assert found == [(1, ["track1", "0", "5"]), (2, ["browserX", "1", "2"])]
