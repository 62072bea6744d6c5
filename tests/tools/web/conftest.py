from collections.abc import Iterator

import pytest

from tests.tools.web.pages import Pages, served


@pytest.fixture
def pages() -> Iterator[Pages]:
    with served() as running:
        yield running
