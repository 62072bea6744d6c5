"""The project for the corpus that was written from the manuals of the programs.

It holds what makes plain commands dangerous: files that hold secrets, links that lead out, ignore files that bring
hidden files back, file names that look like options, and repositories inside the repository.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("manual_corpus.jsonl")
FILES = {
    "README.md": "# Shop\n",
    "notes.txt": "x\n",
    "data.csv": "1,2\n",
    "src/app.py": "def main(): ...\n",
    "src/util.py": "",
    "src/pkg/mod.py": "",
    "tests/test_app.py": "",
    "docs/guide.md": "guide\n",
    "docs/api.md": "api\n",
    "clean/a.txt": "a\n",
    "clean/b.txt": "b\n",
    ".env": "KEY=secret\n",
    "sub/.env": "KEY=secret\n",
    "sub/x.txt": "x\n",
    "keys/server.pem": "-----BEGIN PRIVATE KEY-----\n",
    "keys/readme.txt": "x\n",
    "config/prod.env": "KEY=secret\n",
    "config/terraform.tfvars": "",
    "config/kubeconfig": "",
    "bring/.ignore": "!.env\n",
    "bring/.env": "KEY=secret\n",
    "bring/a.txt": "x\n",
    "bring2/.gitignore": "!.env.local\n",
    "bring2/.env.local": "KEY=secret\n",
    "bring3/.rgignore": "!.env\n",
    "bring3/.env": "KEY=secret\n",
    "opt/-n": "",
    "opt/--pre=sh": "",
    "opt/a.txt": "x\n",
    "findtrap/-delete": "",
    "findtrap/a": "",
    "embedded/a.txt": "a\n",
    "embedded/inner/b.txt": "b\n",
    "wt/a.txt": "a\n",
    "wt/.git": "gitdir: ../embedded/.git \n",
}


def manual_corpus() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CORPUS.read_text().splitlines()]


def make_manual_project(folder: Path) -> Path:
    _git("init", "-q", str(folder))
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    _git("init", "-q", str(folder / "embedded"))
    _git("-C", str(folder / "embedded"), "config", "filter.x.clean", "./run-me")
    for link, target in {
        "out": "/etc",
        "secretlink": ".env",
        "dirlink": "sub",
        "uplink": "..",
        "src/away": "/etc/passwd",
        "src/up": "..",
    }.items():
        os.symlink(target, folder / link)
    return folder


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True)
