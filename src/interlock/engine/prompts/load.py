"""Loads a system prompt from this folder."""

from importlib.resources import files


def load_prompt(name: str) -> str:
    return (files("interlock.engine.prompts") / f"{name}.md").read_text(encoding="utf-8")
