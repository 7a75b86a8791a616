"""Numbers of the engine's interface, as the scripts use them."""

NONE, TAIL, HEAD, UNKNOWN = range(4)
PATH_NONE, SELF, INTRA, INTER, ANY = range(5)
UP_TO, COLLECTIVE, CALL_ONLY = 1, 2, 4
LONGEST = 1 << 50
UNBOUNDED = 1 << 40
PATH_NAMES = {"self": SELF, "intra-node": INTRA, "inter-node": INTER}
ROLES = {"any": 0, "root": 1, "other": 2}
