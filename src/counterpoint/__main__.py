"""`python -m counterpoint` is the command `counterpoint`."""

from counterpoint.cli import main

if __name__ == "__main__":  # processes that are spawned import this file under another name
    main()
