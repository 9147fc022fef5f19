"""What is said while something takes its time."""

from counterpoint import progress


class Stream:
    def __init__(self, *, terminal):
        self.said, self.terminal = [], terminal

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.said.append(text)

    def flush(self):
        pass


def run(monkeypatch, *, terminal, seconds):
    """Ten items of `seconds` each, by a clock of our own."""
    now = iter(range(10_000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now) * seconds)
    stream = Stream(terminal=terminal)
    assert list(progress.tracked(range(10), "counting", stream=stream)) == list(range(10))
    return stream.said


def test_quick_work_is_silent(monkeypatch):
    assert run(monkeypatch, terminal=False, seconds=0.1) == []
    assert run(monkeypatch, terminal=True, seconds=0.1) == []


def test_slow_work_says_lines_in_a_file(monkeypatch):
    said = run(monkeypatch, terminal=False, seconds=6)
    assert said == [
        "counting 20%  left 0:00:48\n",
        "counting 40%  left 0:00:36\n",
        "counting 60%  left 0:00:24\n",
        "counting 80%  left 0:00:12\n",
        "counting 100%  left 0:00:00\n",
    ]


def test_slow_work_writes_one_line_over_on_a_terminal(monkeypatch):
    said = run(monkeypatch, terminal=True, seconds=6)
    assert all(text.startswith("\r") and "\n" not in text for text in said)
    assert said[-1] == "\r\033[K"
