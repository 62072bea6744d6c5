"""Which model the command line asks for."""

from pathlib import Path
from typing import Any

from interlock.agents import scripted_model
from interlock.errors import Misconfigured
from interlock.ports import Model


def model_of(args: Any) -> Model | None:
    if args.provider is None:
        if args.script:
            raise Misconfigured("--script goes with --provider scripted")
        return None
    if not args.script:
        raise Misconfigured("--provider scripted needs --script FILE, the rules it answers by")
    return scripted_model(Path(args.script))
