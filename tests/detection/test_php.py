"""PHP projects: composer, phpunit and pest."""

import json
from pathlib import Path

from interlock.detection.found import Missing, Part
from tests.detection.machines import PROGRAMS, Sample, found

INSTALL = "composer install --no-interaction --no-progress"


def test_phpunit_of_composer_runs_the_folder_of_tests(tmp_path: Path) -> None:
    files = {"composer.json": '{"require-dev": {"phpunit/phpunit": "^10"}}', "tests/TwoTest.php": "<?php\n"}
    assert found(tmp_path, files) == Part(
        name="PHP",
        evidence=("composer.json", "no composer.lock"),
        prepare=(INSTALL,),
        tests="vendor/bin/phpunit tests",
        tests_from="phpunit/phpunit in composer.json",
        sources=1,
    )


def test_a_script_of_composer_comes_first(tmp_path: Path) -> None:
    package = {"scripts": {"test": ["@lint", "phpunit"]}, "require-dev": {"pestphp/pest": "^2"}}
    part = found(tmp_path, {"composer.json": json.dumps(package), "composer.lock": "{}"})
    assert (part.tests, part.tests_from) == ("composer run-script test", "the script test of composer.json")
    assert part.evidence == ("composer.json", "composer.lock")


def test_pest_reads_the_folders_from_its_configuration(tmp_path: Path) -> None:
    files = {"composer.json": '{"require-dev": {"pestphp/pest": "^2"}}', "phpunit.xml.dist": ""}
    assert found(tmp_path, files).tests == "vendor/bin/pest"


def test_a_project_without_composer_uses_the_machines_phpunit(tmp_path: Path) -> None:
    part = found(tmp_path, {"phpunit.xml": ""}, "php")
    remedy = "add phpunit/phpunit to require-dev; on Debian: apt-get install phpunit"
    assert (part.prepare, part.tests, part.missing) == ((), "phpunit", (Missing("phpunit", remedy),))


def test_a_php_that_is_older_than_composer_json_demands_is_reported(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.install(*PROGRAMS)
    (sample.bin / "php").unlink()
    sample.program(sample.bin / "php8.1")
    (sample.bin / "php").symlink_to("php8.1")
    sample.write({"composer.json": '{"require": {"php": "^8.2 || ^8.3"}, "autoload": {}}'})
    what = "PHP 8.2 or later, which composer.json names (PATH has 8.1)"
    assert [one.what for one in sample.part().missing] == [what]


def test_a_machine_without_composer_is_told_how_to_get_it(tmp_path: Path) -> None:
    part = found(tmp_path, {"composer.json": "{}"}, "php")
    assert part.missing == (Missing("composer", "install composer; on Debian: apt-get install composer"),)
