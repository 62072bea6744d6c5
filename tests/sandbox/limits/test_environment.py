from interlock.sandbox.limits.environment import clean_env


def test_only_what_is_on_the_list_is_passed_on() -> None:
    source = {
        "PATH": "/bin",
        "HOME": "/h",
        "LC_ALL": "C",
        "VIRTUAL_ENV": "/v",
        "ANTHROPIC_API_KEY": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SSH_AUTH_SOCK": "/run/agent",
        "LD_PRELOAD": "/evil.so",
        "GIT_DIR": "/elsewhere",
    }
    assert clean_env(source) == {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "VIRTUAL_ENV": "/v"}


def test_variables_given_for_the_command_are_added_and_win() -> None:
    assert clean_env({"PATH": "/bin", "CI": "0"}, {"CI": "1", "OWN": "x"}) == {"PATH": "/bin", "CI": "1", "OWN": "x"}
