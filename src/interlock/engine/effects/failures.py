"""Whatever goes wrong in an effect becomes an outcome with a reason: silence would leave everybody waiting."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable

from interlock.domain.messages.commands.command import Command
from interlock.errors import InterlockError


async def guarded(work: Awaitable[Command], failed: Callable[[str], Command]) -> Command:
    try:
        return await work
    except asyncio.CancelledError:
        raise
    except InterlockError as error:
        return failed(str(error))
    except Exception as error:  # noqa: BLE001  a bug must end as a failure that is told, too
        where = traceback.extract_tb(error.__traceback__)[-1]
        return failed(f"internal error: {type(error).__name__}: {error} ({where.name}, line {where.lineno})")
