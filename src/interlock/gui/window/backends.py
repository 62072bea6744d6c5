"""The surfaces a window draws on: a desktop, memory with pixels (`egl`), or nothing (`null`)."""

import ctypes
import os
import signal
import struct
import sys
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

import imgui_bundle
from imgui_bundle import hello_imgui, imgui, immapp  # pyright: ignore[reportMissingModuleSource]  native

from interlock.errors import Misconfigured

Backend = Literal["desktop", "null", "egl"]

_GLFW_PLATFORM, _GLFW_PLATFORM_NULL = 0x00050003, 0x00060005
_GLFW_CONTEXT_API, _GLFW_EGL = 0x0002200B, 0x00036002
_GL_RGBA, _GL_UNSIGNED_BYTE, _GL_PACK_ALIGNMENT = 0x1908, 0x1401, 0x0D05


def check(backend: Backend) -> None:
    """Raises Misconfigured, with an alternative, if this backend is not available."""
    if backend == "desktop" and sys.platform == "linux" and not _display():
        raise Misconfigured(
            "no display is available for a window: use 'interlock serve' (the same workbench over HTTP),"
            " or --backend null or --backend egl (for tests and pictures)"
        )


def _display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class Surface:
    """One thread renders the frames. Any thread may call `wake`."""

    def __init__(self, backend: Backend, size: tuple[int, int], title: str, settings: Path | None) -> None:
        check(backend)
        self.backend = backend
        self.size = size
        self._woken = threading.Event()
        self._glfw = _glfw() if backend != "null" else None
        self._wanted: list[tuple[Path, tuple[float, float, float, float] | None, Future[None]]] = []
        params = hello_imgui.RunnerParams()
        self.params = params  # keeps a reference: ImGui holds only a pointer
        params.app_window_params.window_title = title
        params.app_window_params.window_geometry.size = size
        params.imgui_window_params.default_imgui_window_type = hello_imgui.DefaultImGuiWindowType.no_default_window
        params.imgui_window_params.show_menu_bar = False
        params.imgui_window_params.show_status_bar = False
        params.imgui_window_params.remember_theme = False
        params.ini_disable = True  # the layout is read and saved here
        self._settings = settings
        params.fps_idling.enable_idling = False  # the window's own loop sets the rate
        params.fps_idling.remember_enable_idling = False
        params.fps_idling.vsync_to_monitor = backend == "desktop"
        if backend == "null":
            self._use_null_backend()
        elif backend == "egl":
            self._use_egl()

    def open(
        self,
        load_fonts: Callable[[], Any],
        style: Callable[[], Any],
        draw: Callable[[], Any],
        register_tests: Callable[[], Any] | None = None,
    ) -> None:
        """`register_tests` is called when the test engine exists; without it there is no test engine."""
        calls = self.params.callbacks
        if register_tests is not None:
            self.params.use_imgui_test_engine = True
            calls.register_tests = register_tests
        calls.default_icon_font = hello_imgui.DefaultIconFont.no_icons
        calls.load_additional_fonts = load_fonts
        calls.setup_imgui_style = style
        calls.show_gui = draw
        calls.before_swap = self._take_picture
        try:
            immapp.manual_render.setup_from_runner_params(self.params, immapp.AddOnsParams(with_implot=True))
        except RuntimeError as error:
            raise Misconfigured(
                f"no window can be opened ({error}): use 'interlock serve', or --backend null or egl"
            ) from error
        if register_tests is not None and threading.current_thread() is threading.main_thread():
            # The test engine takes SIGPIPE for a crash and ends the program; it only means that a client has hung up.
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def render(self) -> None:
        immapp.manual_render.render()

    def wait(self, seconds: float) -> None:
        """Wait for an event or a `wake`, at most `seconds`."""
        if self.backend == "desktop" and self._glfw is not None:
            self._glfw.glfwWaitEventsTimeout(ctypes.c_double(seconds))
        else:
            self._woken.wait(seconds)
        self._woken.clear()

    def wake(self) -> None:
        if not self._woken.is_set():
            self._woken.set()
            if self.backend == "desktop" and self._glfw is not None:
                self._glfw.glfwPostEmptyEvent()

    @property
    def closing(self) -> bool:
        return self.params.app_shall_exit

    @property
    def draws_pixels(self) -> bool:
        return self.backend != "null"

    def read_layout(self) -> bool:
        """Restore the saved layout, before the first frame; False if there is none."""
        if self._settings is None or not self._settings.is_file():
            return False
        imgui.load_ini_settings_from_disk(str(self._settings))
        return True

    def save_layout(self) -> None:
        if self._settings is not None:
            self._settings.parent.mkdir(parents=True, exist_ok=True)
            imgui.save_ini_settings_to_disk(str(self._settings))

    def close(self) -> None:
        immapp.manual_render.tear_down()

    def picture(self, path: Path, rect: tuple[float, float, float, float] | None = None) -> "Future[None]":
        """Save the next frame, or a part of it (x0, y0, x1, y1 from the top), as a PNG file.

        A thread of its own writes the file, because compression takes as long as many frames.
        """
        if self.backend == "null":
            raise Misconfigured("the null backend draws no pixels: use --backend egl")
        done: Future[None] = Future()
        self._wanted.append((path, rect, done))
        return done

    def _use_null_backend(self) -> None:
        params = self.params
        params.platform_backend_type = hello_imgui.PlatformBackendType.null
        params.renderer_backend_type = hello_imgui.RendererBackendType.null

        def before() -> None:
            io = imgui.get_io()
            io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
            io.display_size = imgui.ImVec2(*self.size)

        params.callbacks.pre_new_frame = before
        params.callbacks.after_swap = _acknowledge_textures
        params.callbacks.before_exit_post_cleanup = imgui.destroy_context  # the null backend does not do it itself

    def _use_egl(self) -> None:
        glfw = self._glfw
        assert glfw is not None
        try:
            ctypes.CDLL("libEGL.so.1")
            ctypes.CDLL("libOpenGL.so.0")
        except OSError as error:
            raise Misconfigured(
                f"--backend egl needs the Debian packages libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0 ({error})"
            ) from error
        glfw.glfwInitHint(_GLFW_PLATFORM, _GLFW_PLATFORM_NULL)
        if not glfw.glfwInit():
            raise Misconfigured("--backend egl is not available: GLFW does not start")
        glfw.glfwWindowHint(_GLFW_CONTEXT_API, _GLFW_EGL)
        self.params.renderer_backend_options.open_gl_options.anti_aliasing_samples = 0

    def _take_picture(self) -> None:
        wanted, self._wanted = self._wanted, []
        for path, rect, done in wanted:
            self._read_pixels(path, rect, done)

    def _read_pixels(self, path: Path, rect: tuple[float, float, float, float] | None, done: "Future[None]") -> None:
        size = imgui.get_io().display_size
        x0, y0, x1, y1 = rect or (0, 0, size.x, size.y)
        left, top = max(0, int(x0)), max(0, int(y0))
        width, height = min(int(size.x), int(x1)) - left, min(int(size.y), int(y1)) - top
        below = int(size.y) - top - height  # OpenGL counts from below
        pixels = ctypes.create_string_buffer(max(0, width) * max(0, height) * 4)
        gl = ctypes.CDLL("libOpenGL.so.0")
        gl.glPixelStorei(_GL_PACK_ALIGNMENT, 1)
        gl.glReadPixels(left, below, width, height, _GL_RGBA, _GL_UNSIGNED_BYTE, pixels)
        threading.Thread(target=_write, args=(path, width, height, pixels, done), daemon=True).start()


def _write(path: Path, width: int, height: int, pixels: Any, done: "Future[None]") -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(png(width, height, pixels.raw))
        part.replace(path)
    except OSError as error:
        done.set_exception(error)
    else:
        done.set_result(None)


def png(width: int, height: int, rgba_from_below: bytes) -> bytes:
    """A PNG file from OpenGL's pixels: RGBA, the lowest row first."""
    rows = bytearray()
    for row in range(height - 1, -1, -1):
        line = rgba_from_below[row * width * 4 : (row + 1) * width * 4]
        rgb = bytearray(width * 3)
        rgb[0::3], rgb[1::3], rgb[2::3] = line[0::4], line[1::4], line[2::4]
        rows += b"\0" + rgb

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(rows), 6))
        + chunk(b"IEND", b"")
    )


def _acknowledge_textures() -> None:
    """Acknowledge textures as a renderer would; otherwise ImGui waits for its font for ever."""
    status = imgui.ImTextureStatus
    for texture in imgui.get_platform_io().textures:
        if texture.status in (status.want_create, status.want_updates):
            texture.set_tex_id(1)
            texture.set_status(status.ok)
        elif texture.status == status.want_destroy:
            texture.set_tex_id(0)
            texture.set_status(status.destroyed)


def _glfw() -> Any:
    return ctypes.CDLL(str(Path(imgui_bundle.__file__).parent / "libglfw.so.3"))
