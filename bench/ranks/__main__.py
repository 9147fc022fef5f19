"""`scripts/bench ranks SECTION`: one section, which is a file here with `main(arguments)`."""

import sys
from importlib import import_module
from pathlib import Path

SECTIONS = sorted(f.stem for f in Path(__file__).parent.glob("[a-z]*.py") if "_" not in f.stem)

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in SECTIONS:
        sys.exit(f"which section? {', '.join(SECTIONS)}")
    import_module(f"bench.ranks.{sys.argv[1]}").main(sys.argv[2:])
