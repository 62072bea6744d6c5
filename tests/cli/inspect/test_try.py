"""`interlock try`, `prepare` and `caches`: a project's own tests in the sandbox, without network here."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.project import Project, shell

TEST = """\
import os, unittest
from shop import price

class Prices(unittest.TestCase):
    def test_a_price(self):
        self.assertEqual(price.of("tea"), 3)
        self.assertEqual(os.path.dirname(os.path.dirname(price.__file__)), os.getcwd())
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A Python project without dependencies: its environment needs no network."""
    project.write("shop/__init__.py", "")
    project.write("shop/price.py", "def of(name):\n    return 3\n")
    project.write("tests/__init__.py", "")
    project.write("tests/test_price.py", TEST)
    project.write("requirements.txt", "")
    return committed(project)


def committed(project: Project) -> Project:
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "more")
    return project


def configured(project: Project, workspace: str) -> Project:
    """A project whose user has written and trusted these settings."""
    project.write("interlock.toml", f"[workspace]\n{workspace}\n")
    committed(project)
    assert project.run("trust", "--yes").code == 0
    return project


def test_the_proposal_is_shown_and_nothing_is_written_without_a_yes(shop: Project) -> None:
    result = shop.run("try")
    assert result.code == 4, result
    assert 'tests = "python -m unittest discover -s tests -t ."' in result.out
    assert result.out.rstrip().endswith("Nothing was written. Accept it with: interlock try --yes")
    assert not (shop.root / "interlock.toml").exists()


def test_accepted_settings_are_written_and_the_tests_run_in_a_clean_checkout(shop: Project) -> None:
    shop.write("tests/test_price.py", "this file is not committed")
    result = shop.run("try", "--yes")
    assert result.code == 0, result
    assert "without your uncommitted changes in tests/test_price.py\n" in result.out
    assert "✓ passed" in result.out
    assert 'tests = "python -m unittest discover -s tests -t ."' in (shop.root / "interlock.toml").read_text()
    assert not (shop.root / ".venv").exists()
    assert shop.run("trust", "--show").code == 0
    again = shop.run("try", "--json")
    assert (again.code, again.json["passed"], again.json["reasons"]) == (0, True, [])


def test_a_ticket_can_name_the_projects_tests_as_its_gate(shop: Project) -> None:
    assert shop.run("try", "--yes").code == 0
    shop.write("plan.json", json.dumps([{**shell("T-1", "echo '# more' >> shop/price.py"), "verify": "tests"}]))
    ran = shop.run("run", "--tickets", "plan.json", "--approve", "all")
    assert ran.code == 0, ran
    shown = shop.run("tickets", "show", "plan/T-1", "--json").json
    assert shown["verify"] == [{"command": "python -m unittest discover -s tests -t ."}]
    broken = {**shell("T-2", "echo 'def of(name): return 4' > shop/price.py"), "verify": ["tests"]}
    shop.write("second.json", json.dumps([broken]))
    assert shop.run("run", "--tickets", "second.json", "--approve", "all").code == 3


def test_a_gate_by_the_name_tests_is_refused_while_the_project_has_no_test_command(project: Project) -> None:
    project.write("plan.json", json.dumps([{**shell("T-1", "true"), "verify": "tests"}]))
    ran = project.run("run", "--tickets", "plan.json", "--approve", "all")
    assert ran.code != 0
    assert "run 'interlock try', or set [workspace] tests" in ran.err, ran


def test_a_failure_is_explained_by_what_the_sandbox_hides(project: Project) -> None:
    secret = project.home / "data.csv"
    secret.write_text("1,2")
    project.write("missing.txt", "not in git")
    project.write(".gitignore", "missing.txt\n")
    script = f"import sys, urllib.request\nopen(sys.argv[1])\nurllib.request.urlopen('http://example.org')\n# {secret}"
    project.write("check.py", script)
    configured(project, 'tests = "python3 check.py missing.txt"')
    hidden = project.run("try", f"python3 check.py {secret}", "--json")
    assert hidden.code == 3
    assert hidden.json["reasons"] == [
        {
            "what": f"{secret} exists on this machine and is hidden or closed in the sandbox",
            "remedy": "keep what the tests need in the project, or use a temporary folder",
        }
    ]
    offline = project.run("try", "python3 check.py check.py", "--json")
    assert offline.json["reasons"][0]["what"] == "it tried to reach the network, which gates do not have"


def test_a_project_that_is_not_recognised_says_what_to_do(project: Project) -> None:
    result = project.run("try")
    assert result.code == 3, result
    assert "Name the command: interlock try 'make test'; or set [workspace] tests in interlock.toml" in result.out
    named = project.run("try", "grep -q two a.txt")
    assert named.code == 0, named


def test_settings_of_a_project_that_nobody_trusts_install_and_run_nothing(project: Project) -> None:
    project.write("interlock.toml", '[workspace]\nprepare = ["touch ran"]\ntests = "true"\n')
    committed(project)
    result = project.run("try", "--yes")
    assert result.code == 1, result
    assert "interlock trust" in result.err
    assert project.run("caches", "list", "--json").json == []


@pytest.fixture
def packaged(project: Project) -> Project:
    """A project whose packages come from a folder: each line of requirements.txt becomes a file of `node_modules`."""
    project.write("requirements.txt", "tea\n")
    install = "mkdir node_modules && while read name; do echo $name > node_modules/$name; done < requirements.txt"
    return configured(project, f'prepare = [{json.dumps(install)}]\ntests = "cat node_modules/tea"')


def test_packages_are_installed_once_and_listed(packaged: Project) -> None:
    first = packaged.run("prepare", "--yes", "--json")
    assert first.code == 0, first
    assert packaged.run("prepare").out.splitlines()[0].endswith("they were installed before")
    assert packaged.run("try").code == 0
    (listed,) = packaged.run("caches", "list", "--json").json
    assert (listed["key"], listed["digest"]) == (first.json["key"], first.json["digest"])
    assert (listed["project"], listed["files"]) == (str(packaged.root), 1)
    assert packaged.run("caches", "prune", "--older-than", "1").out == "removed 0 environments, 0.0 MB\n"
    assert packaged.run("caches", "prune", "--all", "--json").json["removed"] == [first.json["key"]]
    assert packaged.run("caches", "list").out.startswith("no packages are installed yet")


def test_a_changed_source_file_needs_no_new_packages_and_a_changed_list_does(packaged: Project) -> None:
    key = packaged.run("prepare", "--yes", "--json").json["key"]
    packaged.write("a.txt", "changed\n")
    committed(packaged)
    assert packaged.run("prepare", "--json").json["key"] == key
    packaged.write("requirements.txt", "tea\nmilk\n")
    committed(packaged)
    assert packaged.run("prepare").code == 4
    assert packaged.run("prepare", "--yes", "--json").json["key"] != key


def test_packages_that_a_ticket_added_are_installed_only_after_a_persons_yes(packaged: Project) -> None:
    ticket = {**shell("T-1", "echo milk >> requirements.txt"), "verify": ["cat node_modules/milk"]}
    packaged.write("plan.json", json.dumps([ticket]))
    assert packaged.run("run", "--tickets", "plan.json").code == 4
    assert packaged.run("approvals", "answer", "A-1", "approve").code == 0
    assert packaged.run("resume").code == 4
    shown = packaged.run("approvals", "show", "A-2")
    assert "+milk" in shown.out
    assert "mkdir node_modules" in shown.out
    assert packaged.run("approvals", "answer", "A-2", "retry").code == 0
    resumed = packaged.run("resume")
    assert resumed.code == 0, resumed
    assert packaged.run("tickets", "show", "plan/T-1", "--json").json["status"] == "completed"


def test_two_worktrees_share_their_packages_and_cannot_change_them(packaged: Project) -> None:
    script = "echo other > node_modules/tea; cat node_modules/tea > {0}.txt"
    tickets = [
        {**shell(name, script.format(name)), "verify": ["grep -q tea node_modules/tea"]} for name in ("T-1", "T-2")
    ]
    packaged.write("plan.json", json.dumps(tickets))
    ran = packaged.run("run", "--tickets", "plan.json", "--approve", "all", "--land")
    assert ran.code == 0, ran
    assert [(packaged.root / f"{name}.txt").read_text() for name in ("T-1", "T-2")] == ["tea\n", "tea\n"]
    assert not (packaged.root / "node_modules").exists()
    store = Path(packaged.env["XDG_STATE_HOME"], "interlock", "environments")
    (files,) = [folder / "files" for folder in store.iterdir() if (folder / "files").is_dir()]
    assert (files / "node_modules" / "tea").read_text() == "tea\n"


def test_a_failed_installation_says_what_failed(project: Project) -> None:
    configured(project, 'prepare = ["echo no such package >&2; exit 7"]\ntests = "true"')
    prepared = project.run("prepare", "--yes")
    assert prepared.code == 3, prepared
    assert "exit code 7" in prepared.out
    assert "no such package" in prepared.out
    tried = project.run("try", "--json")
    assert tried.code == 3
    assert "no such package" in tried.json["explanation"]
    assert project.run("caches", "list", "--json").json == []


def test_interlocks_own_environment_is_not_in_path(project: Project) -> None:
    own = Path(os.environ.get("VIRTUAL_ENV") or Path(sys.executable).parent.parent, "bin")
    project.env["PATH"] = f"{own}:{project.env['PATH']}"
    configured(project, 'tests = "command -v interlock && exit 1; exit 0"')
    assert project.run("try").code == 0


def test_packages_that_were_deleted_are_installed_again_for_the_next_gate(packaged: Project) -> None:
    gate = {"command": "cat node_modules/tea; false", "max_attempts": 1}
    packaged.write("plan.json", json.dumps([{**shell("T-1", "echo 1 > one.txt"), "verify": [gate]}]))
    assert packaged.run("run", "--tickets", "plan.json").code == 4
    assert packaged.run("approvals", "answer", "A-1", "approve").code == 0
    assert packaged.run("resume").code == 4
    assert packaged.run("caches", "prune", "--all").code == 0
    assert packaged.run("approvals", "answer", "A-2", "retry").code == 0
    assert packaged.run("resume").code == 4
    runs = packaged.run("tickets", "show", "plan/T-1", "--output", "--json").json
    assert [run["stdout"] for run in runs] == ["tea\n", "tea\n"]


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_a_gate_never_tests_what_was_compiled_from_other_sources(project: Project) -> None:
    project.write("native.c", "int f(void) { return 1; }\n")
    project.write("note.txt", "")
    check = "python3 -c \"import ctypes; print(ctypes.CDLL('./native.so').f())\""
    configured(project, 'prepare = ["cc -shared -fPIC -o native.so native.c"]')
    plain = {**shell("T-1", "echo more >> note.txt"), "verify": [check]}
    changed = {**shell("T-2", "sed -i s/1/2/ native.c"), "verify": [check], "depends_on": ["T-1"]}
    project.write("plan.json", json.dumps([plain, changed]))
    assert project.run("run", "--tickets", "plan.json").code == 4
    assert project.run("approvals", "answer", "A-1", "approve").code == 0
    assert project.run("resume").code == 4
    assert project.run("approvals", "answer", "A-2", "approve").code == 0
    assert project.run("resume").code == 4
    shown = project.run("approvals", "show", "A-3")
    assert "+int f(void) { return 2; }" in shown.out
    assert project.run("approvals", "answer", "A-3", "retry").code == 0
    assert project.run("resume").code == 0
    outputs = [project.run("tickets", "show", f"plan/{name}", "--output", "--json").json for name in ("T-1", "T-2")]
    assert [runs[-1]["stdout"] for runs in outputs] == ["1\n", "2\n"]
