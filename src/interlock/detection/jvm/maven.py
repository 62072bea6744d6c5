"""Maven, of the machine or by its wrapper."""

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing
from interlock.detection.jvm.build import Build, wrapper_version
from interlock.detection.machine import Machine

_PROPERTIES = ".mvn/wrapper/maven-wrapper.properties"
# The variable is set in both phases. A path in MAVEN_OPTS must not have spaces.
_REPOSITORY = '-Dmaven.repo.local="$MAVEN_REPOSITORY"'
_COPY = 'cp -R . "$TMPDIR/copy" && cd "$TMPDIR/copy"'


def maven_build(folder: ProjectFolder, machine: Machine) -> Build | None:
    if not folder.has("pom.xml"):
        return None
    wrapper = folder.has("mvnw") and folder.has(_PROPERTIES)
    maven = f"{'sh ./mvnw' if wrapper else 'mvn'} --batch-mode {_REPOSITORY}"
    evidence = ["pom.xml"]
    if wrapper:
        evidence.append(f"Maven {wrapper_version(folder.text(_PROPERTIES), 'maven')} by mvnw".replace("  ", " "))
    if "<modules>" in folder.text("pom.xml"):
        evidence.append("several modules")
    has_maven = wrapper or machine.find("mvn")
    return Build(
        evidence=tuple(evidence),
        # Only a real run of the tests fetches everything: surefire chooses its runner while it runs.
        # It happens in a copy, so that no build results get into the worktrees. A failing test is no failure here.
        prepare=(f"{_COPY} && {maven} -Dmaven.test.failure.ignore=true test",),
        tests=f"{maven} --offline test",
        missing=() if has_maven else (Missing("Maven", "install Maven; on Debian: apt-get install maven"),),
    )
