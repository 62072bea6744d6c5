"""Detects a project for the Java virtual machine: Java, Kotlin or Scala, by Maven, Gradle or Ant."""

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Part
from interlock.detection.jvm.ant import ant_build
from interlock.detection.jvm.gradle import gradle_build
from interlock.detection.jvm.maven import maven_build
from interlock.detection.machine import Machine
from interlock.detection.toolchains.installed import choose
from interlock.detection.toolchains.tools import JAVA


def jvm_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    build = gradle_build(folder, machine) or maven_build(folder, machine) or ant_build(folder, machine)
    if build is None:
        return None
    chosen = choose(folder, machine, JAVA)
    kotlin, java = folder.count(".kt"), folder.count(".java")
    return Part(
        name="Kotlin" if kotlin > java else "Java",
        evidence=(*build.evidence, *chosen.evidence),
        prepare=build.prepare,
        tests=build.tests,
        tests_from=build.evidence[0],
        programs=chosen.programs,
        missing=(*chosen.missing, *build.missing),
        sources=java + kotlin + folder.count(".scala", ".groovy"),
    )
