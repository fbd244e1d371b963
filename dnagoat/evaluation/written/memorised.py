"""How long a piece of generated DNA occurs word for word in the training split, on either strand?

Every position of the queries and of the training split becomes a word of 21 bases in 63 bits. In a sorted list the
longest common beginning with a word is that with one of its two neighbours; where all 21 bases agree, the comparison
goes on with the words that follow. The training split is read in chunks: memory does not grow with the genome.
"""

# M queries of L bases, Q query positions, T positions of a chunk

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from dnagoat.genome.alphabet import Codes, Ints, N, reverse_complement

Words = npt.NDArray[np.uint64]
WORD = 21  # bases of three bits
CHUNK = 1 << 21
ENDS_QUERY, ENDS_TEXT = 7, 5  # letters that agree with nothing of the other side


def longest_matches(queries: Codes, stretches: Iterable[Codes]) -> Ints:
    """For each query (M, L) of codes, the bases of its longest exact match in the stretches of codes, on either strand.

    An N agrees with nothing.
    """
    count, length = queries.shape
    both = np.concatenate([queries, reverse_complement(queries)])
    text = np.full((2 * count, length + 1), ENDS_QUERY, np.uint8)
    text[:, :length] = np.where(both < N, both, ENDS_QUERY)
    words = packed(text.ravel(), ENDS_QUERY)
    order = np.argsort(words)
    longest = np.zeros(len(words), np.int64)
    for chunk in _chunks(stretches, length):
        longest[order] = np.maximum(longest[order], _matches(words, order, packed(chunk, ENDS_TEXT)))
    best: Ints = longest.reshape(2, count, length + 1).max(axis=(0, 2)) if count else np.zeros(0, np.int64)
    return best


def _chunks(stretches: Iterable[Codes], overlap: int) -> Iterator[Codes]:
    """Pieces of at most CHUNK + overlap bases: a match that begins in a piece is seen whole."""
    for stretch in stretches:
        for start in range(0, len(stretch), CHUNK):
            yield np.asarray(stretch[start : start + CHUNK + overlap])


def packed(codes: Codes, filler: int) -> Words:
    """The word of 21 letters that begins at each position (T,), continued by `filler` past the end."""
    one = np.concatenate([codes, np.full(WORD - 1, filler, np.uint8)]).astype(np.uint64)
    word, width, parts = one, 1, {1: one}
    while width < 16:
        word = (word[:-width] << np.uint64(3 * width)) | word[width:]
        width *= 2
        parts[width] = word
    for more in (4, 1):
        left = word[: len(word) - more]
        word = (left << np.uint64(3 * more)) | parts[more][width : width + len(left)]
        width += more
    return word


def shared(one: Words, other: Words) -> Ints:
    """How many letters two words have in common from their beginning, 0 to 21."""
    differ = one ^ other
    # Clearing the bit below the highest keeps float64 from rounding up to the next power of two.
    _, bits = np.frexp((differ & ~(differ >> np.uint64(1))).astype(np.float64))
    return ((63 - bits) // 3).astype(np.int64)


def _matches(words: Words, order: Ints, text: Words) -> Ints:
    """The longest match of each query position, in the order of the sorted words, (Q,)."""
    ordered = words[order]
    common = _with_neighbours(np.sort(text), ordered)
    whole = common == WORD
    if whole.any():
        common[whole] += _continued(words, order[whole], text)
    return common


def _with_neighbours(ordered: Words, wanted: Words) -> Ints:
    place = np.searchsorted(ordered, wanted)
    last = len(ordered) - 1
    return np.maximum(
        shared(ordered[np.maximum(place - 1, 0)], wanted), shared(ordered[np.minimum(place, last)], wanted)
    )


def _continued(words: Words, queries: Ints, text: Words) -> Ints:
    """How many letters more agree after the first word, for query positions (Q,) whose word occurs in the text."""
    more = np.zeros(len(queries), np.int64)
    going = np.arange(len(queries))
    hits, query_group = np.unique(words[queries], return_inverse=True)
    places = np.flatnonzero(np.isin(text, hits))
    text_group = np.searchsorted(hits, text[places])
    step = WORD
    while going.size:
        wanted = _at(words, queries[going] + step, ENDS_QUERY)
        present = _at(text, places + step, ENDS_TEXT)
        common, query_key, text_key = _grouped(query_group, wanted, text_group, present)
        more[going] += common
        whole = common == WORD
        going, keys = going[whole], np.unique(query_key[whole])
        query_group = np.searchsorted(keys, query_key[whole])
        kept = np.isin(text_key, keys)
        places, text_group = places[kept], np.searchsorted(keys, text_key[kept])
        step += WORD
    return more


def _grouped(query_group: Ints, wanted: Words, text_group: Ints, present: Words) -> tuple[Ints, Ints, Ints]:
    """The longest common beginning with a word of the same group, and one number for each (group, word)."""
    ranks, rank = np.unique(np.concatenate([wanted, present]), return_inverse=True)
    query_key = query_group * len(ranks) + rank[: len(wanted)]
    text_key = text_group * len(ranks) + rank[len(wanted) :]
    ordered = np.sort(text_key)
    place = np.searchsorted(ordered, query_key)
    common = np.zeros(len(wanted), np.int64)
    for neighbour in (np.maximum(place - 1, 0), np.minimum(place, len(ordered) - 1)):
        group, word = np.divmod(ordered[neighbour], len(ranks))
        common = np.maximum(common, np.where(group == query_group, shared(ranks[word], wanted), 0))
    return common, query_key, text_key


def _at(words: Words, places: Ints, filler: int) -> Words:
    """The words at places, which may lie past the end."""
    beyond = np.uint64(int(str(filler) * WORD, base=8))
    found: Words = np.where(places < len(words), words[np.minimum(places, len(words) - 1)], beyond)
    return found
