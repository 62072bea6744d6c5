"""Lines about what a project is made with, for `interlock doctor` and `interlock try`."""

from collections.abc import Iterator, Mapping, Sequence

from interlock.detection.found import Detected
from interlock.views.display import safe


def part_lines(found: Detected) -> Iterator[str]:
    for part in found.parts:
        yield f"{part.name}: {safe(', '.join(part.evidence))}" if part.evidence else part.name
        if part.tests:
            yield f"  tests: {safe(part.tests)} (by {safe(part.tests_from)})"
    if found.helpers:
        yield f"also: {safe(', '.join(found.helpers))}"


def missing_lines(found: Detected) -> Iterator[str]:
    for missing in found.missing:
        yield f"missing: {safe(missing.what)}; {safe(missing.remedy)}"


def beside_lines(found: Detected) -> Iterator[str]:
    """Packages that the proposal leaves out, and what to do if the tests need them."""
    for part in found.beside:
        commands = "; ".join(part.prepare)
        yield f"Not installed, as the tests of {found.parts[0].name} seldom need it: {part.name} ({safe(commands)})."
        yield "If they do, add it to [workspace] prepare."


def settings_text(keys: Mapping[tuple[str, str], str | Sequence[str]]) -> str:
    """The keys as they will stand in interlock.toml."""
    import tomlkit

    lines = ["[workspace]"]
    for (_, key), value in keys.items():
        if isinstance(value, str):
            lines.append(f"{key} = {tomlkit.string(value).as_string()}")
        else:
            inner = ", ".join(tomlkit.string(item).as_string() for item in value)
            many = "".join(f"\n    {tomlkit.string(item).as_string()}," for item in value)
            lines.append(f"{key} = [{many}\n]" if len(value) > 1 else f"{key} = [{inner}]")
    return "\n".join(lines)
