"""Files in our own git folder of a project that say what has begun: a landing and a rollback exclude each other."""

LANDING = "landing.json"
CHECKPOINTS = "checkpoints"
ROLLBACK = f"{CHECKPOINTS}/rollback.json"
