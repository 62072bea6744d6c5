"""Detects a PHP project: composer, and phpunit, pest or a script of composer.json."""

import re

from interlock.detection.folder import ProjectFolder, inner, table
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.toolchains.installed import at_least, choose, version_of
from interlock.detection.toolchains.tools import PHP

_INSTALL = "composer install --no-interaction --no-progress"
_CONFIGS = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
_SCRIPTS = ("test", "tests", "phpunit", "unit", "test:unit")


def php_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    config = folder.first(*_CONFIGS)
    if not folder.has("composer.json") and not config:
        return None
    composer = folder.json("composer.json")
    chosen = choose(folder, machine, PHP)
    missing = [*chosen.missing]
    required = table(composer.get("require"))
    packages = [name for name in (*required, *table(composer.get("require-dev"))) if "/" in name]
    uses_composer = folder.has("composer.json")
    lock = "composer.lock" if folder.has("composer.lock") else "no composer.lock"
    if uses_composer and not missing and not machine.find("composer"):
        missing.append(Missing("composer", "install composer; on Debian: apt-get install composer"))
    command, source = _tests(folder, composer, config)
    if command == "phpunit" and not missing and not machine.find("phpunit"):
        missing.append(Missing("phpunit", "add phpunit/phpunit to require-dev; on Debian: apt-get install phpunit"))
    if not missing and (lowest := _too_old(required.get("php"), machine, chosen.programs)):
        missing.append(lowest)
    first = ["composer.json", lock] if uses_composer else [config]
    return Part(
        name="PHP",
        evidence=(*first, *chosen.evidence),
        # Without packages the command still makes vendor/autoload.php, which the tests load.
        prepare=(_INSTALL,)
        if uses_composer and (packages or "autoload" in composer or inner(composer, "config"))
        else (),
        tests=command,
        tests_from=source,
        programs=chosen.programs,
        missing=tuple(missing),
        sources=folder.count(".php"),
    )


def _tests(folder: ProjectFolder, composer: dict[str, object], config: str) -> tuple[str, str]:
    """The command and where it comes from."""
    scripts = table(composer.get("scripts"))
    for name in _SCRIPTS:
        if scripts.get(name):
            return f"composer run-script {name}", f"the script {name} of composer.json"
    listed = {**table(composer.get("require")), **table(composer.get("require-dev"))}
    for package, command in (("pestphp/pest", "vendor/bin/pest"), ("phpunit/phpunit", "vendor/bin/phpunit")):
        if package in listed:
            return command if config else f"{command} {_folder(folder)}".rstrip(), f"{package} in composer.json"
    if config:
        return "phpunit", config
    return "", ""


def _folder(folder: ProjectFolder) -> str:
    return next((name for name in ("tests", "test") if folder.is_folder(name)), "")


def _too_old(constraint: object, machine: Machine, programs: tuple[str, ...]) -> Missing | None:
    """The lowest PHP that composer.json allows, if the machine's is older."""
    program = next(iter(programs), "") or machine.find("php")
    version = version_of(program, machine, PHP) if program else ""
    found = re.findall(r"(?:\^|>=|~)\s*(\d{1,4}(?:\.\d{1,4})*)", constraint) if isinstance(constraint, str) else []
    lowest = min(found, key=lambda text: [int(number) for number in text.split(".")], default="")
    if not version or not lowest or at_least(version, ".".join(lowest.split(".")[:2])):
        return None
    what = f"PHP {lowest} or later, which composer.json names (PATH has {version})"
    return Missing(what, PHP.remedy.format(version=lowest))
