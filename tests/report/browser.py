"""A headless Chromium, spoken to through two pipes: the DevTools protocol and nothing installed."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60  # seconds for one answer


def chromium():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a browser that is closed at the end of a `with`."""

    def __init__(self, *, width=1280, height=900, dark=False):
        self.size, self.dark = (width, height), dark
        self.messages, self.asked = [], 0

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # Chromium reads commands from its file 3 and answers on its file 4.
        ends = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--remote-debugging-pipe", f"--user-data-dir={self.folder.name}"]
        options += ["--disable-dev-shm-usage", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", ends, "bash", chromium(), *options],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.answers, self.commands = ours_in, os.fdopen(ours_out, "wb")
        self.session, self.unread = None, b""
        (target,) = [
            one for one in self.ask("Target.getTargets")["targetInfos"] if one["type"] == "page"
        ]
        attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.look(*self.size, dark=self.dark)
        return self

    def __exit__(self, *_):
        self.session = None
        self.ask("Browser.close")
        self.commands.close()
        self.process.wait(timeout=PATIENCE)
        os.close(self.answers)
        self.folder.cleanup()

    def ask(self, method, **parameters):
        """Send a command and wait for its answer; events on the way are kept."""
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        self.commands.flush()
        while True:
            answer = self._read()
            if answer.get("id") == self.asked:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.messages.append(answer)

    def _read(self):
        """Wait for one message; they end with a zero."""
        pieces = [self.unread]
        while b"\0" not in pieces[-1]:
            ready, _, _ = select.select([self.answers], [], [], PATIENCE)
            assert ready, f"the browser said nothing for {PATIENCE} s"
            pieces.append(os.read(self.answers, 1 << 16))
            assert pieces[-1], "the browser ended"
        message, _, self.unread = b"".join(pieces).partition(b"\0")
        return json.loads(message)

    def open(self, file, query=""):
        """Load a file and wait until it is whole; what was said before is forgotten."""
        self.messages = []
        self.ask("Page.navigate", url=Path(file).resolve().as_uri() + (query and f"?{query}"))
        while not any(m.get("method") == "Page.loadEventFired" for m in self.messages):
            self.messages.append(self._read())

    def run(self, code):
        """Return the value of some JavaScript, waiting for it."""
        found = self.ask("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def complaints(self):
        """What the page wrote to the console, and what it failed to do."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [m["params"] for m in self.messages if m.get("method") in kinds]

    def requests(self):
        """Every address that was asked for."""
        sent = [m for m in self.messages if m.get("method") == "Network.requestWillBeSent"]
        return [m["params"]["request"]["url"] for m in sent]

    def look(self, width, height, *, dark):
        """Be as wide as a phone or a desk, by day or by night."""
        self.size, self.dark = (width, height), dark
        self.resize(width, height)
        self.media("screen")

    def resize(self, width, height):
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def media(self, kind):
        """Show the page on a screen, light or dark, or as it prints."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def point(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, file):
        """Write the whole page as a PNG."""
        height = self.run("document.documentElement.scrollHeight")
        self.resize(self.size[0], min(height, 16_000))
        shot = self.ask("Page.captureScreenshot", format="png")
        self.resize(*self.size)
        Path(file).write_bytes(base64.b64decode(shot["data"]))
