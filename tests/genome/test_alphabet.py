"""Letters to codes and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnagoat.errors import SourceError
from dnagoat.genome.alphabet import AMBIGUITY, MASKED, TABLE, TOKEN, decode, encode, reverse_complement


@given(st.text("ACGTN"))
def test_encode_then_decode_is_the_identity(bases: str) -> None:
    assert decode(encode(bases)) == bases


def test_every_letter() -> None:
    assert encode("ACGTNU").tolist() == [0, 1, 2, 3, 4, 3]
    assert encode(AMBIGUITY).tolist() == [4] * 10
    assert encode("acgtn").tolist() == [0, 1, 2, 3, 4]


@given(st.text("ACGTNacgtn"))
def test_case_survives_the_store(bases: str) -> None:
    tokens = np.frombuffer(bases.encode().translate(TABLE), dtype=np.uint8) & np.uint8(TOKEN)
    assert decode(tokens, case=True) == bases
    assert [bool(token & MASKED) for token in tokens] == [letter.islower() for letter in bases]


@pytest.mark.parametrize("text", ["ACGX", "ACG-", "ACG ", "ACG1", "ACGé", "ACG\0"])
def test_what_is_no_nucleotide_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="position 3 is not a nucleotide letter"):
        encode(text)


@given(st.text("ACGTN"))
def test_reverse_complement_twice_is_the_identity(bases: str) -> None:
    codes = encode(bases)
    assert decode(reverse_complement(reverse_complement(codes))) == bases


def test_reverse_complement_of_a_batch_is_that_of_its_rows() -> None:
    assert decode(reverse_complement(encode("AACGTN"))) == "NACGTT"
    batch = np.stack([encode("AACG"), encode("NTTT")])
    assert [decode(row) for row in reverse_complement(batch)] == ["CGTT", "AAAN"]
