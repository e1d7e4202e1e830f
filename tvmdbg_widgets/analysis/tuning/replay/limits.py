"""How large a replayed schedule may be; real ones stay far below."""

MOST_STEPS = 10_000
MOST_STAGES = 1_000
#: Loops of one stage.
MOST_LOOPS = 1_000
#: Lines of the whole nest.
MOST_LINES = 10_000
LONGEST_NAME = 2_000
LARGEST_EXTENT = 2**63 - 1
LARGEST_FACTOR = 2**31 - 1
