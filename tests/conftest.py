"""Hypothesis settings for all tests: no deadline, and the same examples on every run."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    deadline=None,  # shared machines stall
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")
