"""How does freed memory stay at hand for the next piece of a stream?"""

from __future__ import annotations

import numpy as np


def keep_freed() -> None:
    """Lets the allocator keep up to 32 MB that were freed, instead of returning them to the system each time.

    Arrays of a few megabytes that come and go are else fetched anew, page by page, which costs several times what is
    done with them. glibc raises its thresholds when a large block is freed (mallopt(3), M_MMAP_THRESHOLD); elsewhere
    this does nothing.
    """
    np.empty(1 << 24, dtype=np.uint8)
