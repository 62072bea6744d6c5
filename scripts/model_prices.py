"""Writes the catalog of models: facts from a file, with prices from the package `genai-prices`.

    python scripts/model_prices.py scripts/model_facts.toml src/interlock/providers/models.json

`make models` runs it with that package in a separate folder. Prices are dollars per million tokens. If a price depends
on the hour, the highest one counts. A price from a later day is listed with that day. A price for long prompts (`above`
a number of input tokens) holds for the whole request.
"""

import json
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from genai_prices.data import providers  # pyright: ignore[reportMissingImports]  only `make models` installs it

KEYS = ("input", "output", "cache_read", "cache_write")


def main(facts: Path, target: Path) -> None:
    known: dict[str, Any] = tomllib.loads(facts.read_text())
    listed = {vendor.id: {model.id: model for model in vendor.models} for vendor in providers}
    models = [
        _model(provider, about, model, listed[about["source"]])
        for provider, about in known.items()
        for model in about["models"]
    ]
    models += _routed(listed["openrouter"])
    lines = ",\n".join(json.dumps(model, ensure_ascii=False) for model in models)
    target.write_text(f"[\n{lines}\n]\n")


def _model(provider: str, about: dict[str, Any], model: dict[str, Any], listed: dict[str, Any]) -> dict[str, Any]:
    priced = listed[model.get("priced_as", model["name"])]
    entry = {"provider": provider, "name": model["name"], "context": model["context"], "output": model["output"]}
    entry |= {
        key: model[key] for key in ("aliases", "ends", "successor", "fixed_history", "api", "default") if key in model
    }
    steps = _steps(priced.prices)
    if "storage" in model:
        steps = [_with_storage(step, steps[0]["input"], model["storage"]) for step in steps]
    return {**entry, "can": model.get("can", about["can"]), "prices": steps}


def _with_storage(step: dict[str, Any], today: float, storage: float) -> dict[str, Any]:
    """Adds the price of a cache write: the full input price and one hour of storage (the requested lifetime).

    A later price step raises the storage price in proportion.
    """
    kept = storage * step["input"] / today if "since" in step else storage
    return {**step, "cache_write": _number(round(step["input"] + kept, 6))}


def _routed(listed: dict[str, Any]) -> list[dict[str, Any]]:
    """OpenRouter's models with the same price at every host. Their output limit is unknown (0)."""
    vendors = ("anthropic/", "google/gemini", "openai/gpt-5", "openai/gpt-6")
    entries: list[dict[str, Any]] = []
    for name, model in sorted(listed.items()):
        if name.startswith(vendors) and model.context_window and ":" not in name and "image" not in name:
            steps = _steps(model.prices)
            if steps and all("output" in step for step in steps):
                about = {"provider": "openrouter", "name": name, "context": model.context_window, "output": 0}
                entries.append({**about, "can": ["tools", "temperature"], "prices": steps})
    return entries


def _steps(prices: Any) -> list[dict[str, Any]]:
    if not isinstance(prices, list):
        return _tiers(prices, "")
    today = datetime.now(UTC).date()
    days: dict[str, list[Any]] = {}
    for conditional in prices:
        begins = getattr(conditional.constraint, "start_date", None)
        # A price for certain hours belongs to the previous day in the list.
        day = "" if begins is None and not days else next(reversed(days)) if begins is None else begins.isoformat()
        days.setdefault(day, []).append(conditional.prices)
    past = [day for day in days if day <= today.isoformat()]
    steps: list[dict[str, Any]] = []
    for day in (past[-1], *(day for day in days if day > today.isoformat())):
        steps += _dearest([_tiers(each, "" if day == past[-1] else day) for each in days[day]])
    return steps


def _dearest(several: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    best: dict[int, dict[str, Any]] = {}
    for steps in several:
        for step in steps:
            before = best.get(step.get("above", 0), {})
            most = {key: max(step.get(key, 0), before.get(key, 0)) for key in KEYS if key in step or key in before}
            best[step.get("above", 0)] = {**{key: step[key] for key in ("since", "above") if key in step}, **most}
    return list(best.values())


def _tiers(price: Any, since: str) -> list[dict[str, Any]]:
    values = {key: getattr(price, f"{key}_mtok", None) for key in KEYS}
    values = {key: value for key, value in values.items() if value is not None}
    if not values:
        return []
    starts = sorted({tier.start for value in values.values() for tier in getattr(value, "tiers", ())})
    return [
        {
            **({"since": since} if since else {}),
            **({"above": start} if start else {}),
            **{key: _at(value, start) for key, value in values.items()},
        }
        for start in (0, *starts)
    ]


def _at(value: Any, start: int) -> float:
    if not hasattr(value, "base"):
        return _number(value)
    reached = [tier.price for tier in value.tiers if tier.start <= start]
    return _number(reached[-1] if reached else value.base)


def _number(value: Any) -> float:
    number = float(value)
    return int(number) if number.is_integer() else number


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
