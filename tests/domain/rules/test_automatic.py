"""Answers without a person."""
