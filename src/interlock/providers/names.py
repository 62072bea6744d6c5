"""The providers that a setting or option may name. Without imports: the command line reads it at every start."""

PROVIDERS = (
    "anthropic",
    "gemini",
    "openai",
    "deepseek",
    "openrouter",
    "ollama",
    "llama.cpp",
    "vllm",
    "gemini_cli",
    "scripted",
)
