"""Gradle, of the machine or by its wrapper."""

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.jvm.build import Build, wrapper_version
from interlock.detection.machine import Machine

_FILES = ("build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
_PROPERTIES = "gradle/wrapper/gradle-wrapper.properties"
_OPTIONS = "--no-daemon --console=plain"
# A task that fetches the packages of every configuration: `gradle dependencies` only lists them.
_SCRIPT = (
    'allprojects { tasks.create("interlockFetch") { doLast { configurations.findAll { it.canBeResolved }.each { '
    "it.incoming.artifactView { lenient(true) }.files.files } } } }"
)
_WRITE = f"printf '%s' '{_SCRIPT}' > \"$TMPDIR/fetch.gradle\""
_FETCH = '--project-cache-dir "$TMPDIR/cache" --init-script "$TMPDIR/fetch.gradle" interlockFetch'
# Gradle reads packages from a folder that is read-only, if no lock file is in it.
_UNLOCK = "find \"$GRADLE_USER_HOME/caches\" -name '*.lock' -delete"
# The wrapper writes beside its distribution, which is read-only for tests. So the distribution is started itself.
_FETCHED = '"$GRADLE_DISTRIBUTIONS"/*/*/gradle-*/bin/gradle'


def gradle_build(folder: ProjectFolder, machine: Machine) -> Build | None:
    file = folder.first(*_FILES)
    if not file:
        return None
    wrapper = folder.has("gradlew") and folder.has(_PROPERTIES)
    evidence = [file]
    if wrapper:
        evidence.append(f"Gradle {wrapper_version(folder.text(_PROPERTIES), 'gradle')} by gradlew".replace("  ", " "))
    if folder.has("settings.gradle", "settings.gradle.kts") and "include" in folder.text(
        folder.first("settings.gradle", "settings.gradle.kts")
    ):
        evidence.append("several projects")
    gradle = "sh ./gradlew" if wrapper else "gradle"
    has_gradle = wrapper or machine.find("gradle")
    return Build(
        evidence=tuple(evidence),
        prepare=(f"{_WRITE} && {gradle} {_OPTIONS} {_FETCH}", _UNLOCK),
        tests=f"{_FETCHED if wrapper else 'gradle'} {_OPTIONS} --offline test",
        missing=() if has_gradle else (Missing("Gradle", "install Gradle; on Debian: apt-get install gradle"),),
    )
