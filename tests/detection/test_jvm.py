"""Java and Kotlin projects: Maven, Gradle and Ant, with and without wrappers."""

from pathlib import Path

import pytest

from interlock.detection.found import Missing, Part
from tests.detection.machines import Sample, found

JAVA = {"src/main/java/Two.java": "class Two {}\n"}
MAVEN = '--batch-mode -Dmaven.repo.local="$MAVEN_REPOSITORY"'
COPY = 'cp -R . "$TMPDIR/copy" && cd "$TMPDIR/copy"'


def test_maven_runs_the_tests_once_in_a_copy_to_fetch_everything(tmp_path: Path) -> None:
    assert found(tmp_path, {**JAVA, "pom.xml": "<project/>"}) == Part(
        name="Java",
        evidence=("pom.xml",),
        prepare=(f"{COPY} && mvn {MAVEN} -Dmaven.test.failure.ignore=true test",),
        tests=f"mvn {MAVEN} --offline test",
        tests_from="pom.xml",
        sources=1,
    )


def test_the_wrapper_of_maven_comes_before_the_machines_own(tmp_path: Path) -> None:
    properties = "distributionUrl=https\\://example.org/apache-maven-3.9.6-bin.zip\n"
    files = {**JAVA, "pom.xml": "<modules>", "mvnw": "", ".mvn/wrapper/maven-wrapper.properties": properties}
    part = found(tmp_path, files, "java")
    assert part.tests == f"sh ./mvnw {MAVEN} --offline test"
    assert part.evidence == ("pom.xml", "Maven 3.9.6 by mvnw", "several modules")
    assert part.missing == ()


def test_gradle_fetches_all_configurations_and_tests_offline(tmp_path: Path) -> None:
    part = found(tmp_path, {"build.gradle.kts": "", "src/a.kt": "", "src/b.kt": "", **JAVA})
    assert (part.name, part.tests) == ("Kotlin", "gradle --no-daemon --console=plain --offline test")
    fetch, unlock = part.prepare
    assert fetch.startswith("printf '%s' 'allprojects {") and fetch.endswith(" interlockFetch")
    assert unlock == "find \"$GRADLE_USER_HOME/caches\" -name '*.lock' -delete"


def test_the_distribution_of_a_gradle_wrapper_is_started_itself(tmp_path: Path) -> None:
    properties = "distributionUrl=https\\://example.org/gradle-8.5-bin.zip\n"
    files = {**JAVA, "build.gradle": "", "gradlew": "", "gradle/wrapper/gradle-wrapper.properties": properties}
    part = found(tmp_path, files, "java")
    assert part.evidence == ("build.gradle", "Gradle 8.5 by gradlew")
    assert part.tests.startswith('"$GRADLE_DISTRIBUTIONS"/*/*/gradle-*/bin/gradle ')
    assert " sh ./gradlew " in part.prepare[0]


@pytest.mark.parametrize(
    ("build", "command"),
    [
        ('<project default="all"><target name="all" depends="jar, test"/><target name="test"/></project>', "ant"),
        ('<project default="jar"><target name="jar"/><target name="test" depends="jar"/></project>', "ant test"),
        ('<project default="a"><target name="a" depends="b"/><target name="b" depends="a"/></project>', ""),
    ],
)
def test_ant_runs_the_default_target_if_it_includes_the_tests(tmp_path: Path, build: str, command: str) -> None:
    assert found(tmp_path, {**JAVA, "build.xml": build}).tests == command


def test_a_machine_without_java_and_maven_is_told_about_both(tmp_path: Path) -> None:
    assert found(tmp_path, {**JAVA, "pom.xml": ""}, "sh").missing == (
        Missing("Java", "install a JDK; on Debian: apt-get install default-jdk-headless"),
        Missing("Maven", "install Maven; on Debian: apt-get install maven"),
    )


def test_java_of_another_version_is_found_where_sdkman_keeps_it(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.install("java", "mvn")
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.9"\n')
    wanted = sample.program(sample.home / ".sdkman/candidates/java/99.0.1-tem/bin/java")
    sample.write({**JAVA, "pom.xml": "", ".java-version": "99\n"})
    part = sample.part()
    assert (part.programs, part.evidence, part.missing) == ((wanted,), ("pom.xml", "Java 99, by .java-version"), ())
