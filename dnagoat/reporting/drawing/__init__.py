"""How figures are drawn: the canvas, the caption that each carries, and room for its texts."""
