"""What is recorded about beliefs themselves. No record of these has a weight."""

PROPOSED = "belief_proposed"
SHIFTED = "belief_shifted"
DEPRECATED = "belief_deprecated"
