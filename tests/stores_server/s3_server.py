"""moto's S3 server as a process; it prints its port, and ends when its input does."""

import sys

from moto.server import ThreadedMotoServer

if __name__ == "__main__":
    import logging

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    print(server.get_host_and_port()[1], flush=True)
    sys.stdin.read()
