"""Detects a Ruby project: its Gemfile, and rspec, minitest or rake."""

import re

from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.toolchains.installed import choose
from interlock.detection.toolchains.tools import RUBY

# Packages go to a folder of the home: it is shared between worktrees, and read-only there.
INSTALL = 'BUNDLE_PATH="$HOME/.bundle/packages" bundle install'
_LOOP = "ruby -I lib -I test -e 'Dir[\"./test/**/{test_*,*_test}.rb\"].sort.each { |file| require file }'"


def ruby_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    gemfile = folder.first("Gemfile", "gems.rb")
    gemspec = next((path for path in folder.files if "/" not in path and path.endswith(".gemspec")), "")
    rakefile = folder.first("Rakefile", "rakefile", "Rakefile.rb")
    sources = folder.count(".rb")
    if not (gemfile or gemspec or (rakefile and sources)):
        return None
    chosen = choose(folder, machine, RUBY)
    missing = list(chosen.missing)
    if gemfile and not missing and not chosen.programs and not machine.find("bundle"):
        missing.append(Missing("bundler", "install it: gem install bundler; on Debian: apt-get install bundler"))
    lock = folder.first("Gemfile.lock", "gems.locked")
    command, source = _tests(folder, rakefile)
    if not gemfile and command.startswith("rake ") and not missing and not machine.find("rake"):
        missing.append(Missing("rake", "install it: gem install rake; on Debian: apt-get install rake"))
    evidence = [gemfile or gemspec or rakefile, *([lock] if lock else []), *chosen.evidence]
    return Part(
        name="Ruby",
        evidence=tuple(evidence),
        prepare=(INSTALL,) if gemfile else (),
        tests=f"bundle exec {command}" if gemfile and command else command,
        tests_from=source,
        programs=chosen.programs,
        missing=tuple(missing),
        sources=sources,
    )


def _tests(folder: ProjectFolder, rakefile: str) -> tuple[str, str]:
    """The command and where it comes from."""
    files = folder.files
    if folder.has(".rspec") or any(path.endswith("_spec.rb") and path.startswith("spec/") for path in files):
        return "rspec", ".rspec" if folder.has(".rspec") else "files in spec"
    if folder.has("bin/rails") and any(path.startswith("test/") for path in files):
        return "ruby bin/rails test", "bin/rails"
    rake = folder.text(rakefile) if rakefile else ""
    task = r"(?:TestTask\.new|Minitest::TestTask\.create)(?:\s*\(?\s*[:\"']?(\w+))?|task\s*\(?\s*[:\"']?(test|spec)\b"
    if match := re.search(task, rake, re.ASCII):
        return f"rake {match[1] or match[2] or 'test'}", rakefile
    if any(re.search(r"^test/(?:.*/)?(?:test_[^/]*|[^/]*_test)\.rb$", path) for path in files):
        return _LOOP, "files in test"
    return "", ""
