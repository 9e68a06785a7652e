"""How every Python script of this folder ends, whatever ends it.

A reader that has seen enough (`scripts/results mask --print | head`) ends a script as it ends other programs: without a
word. Ctrl-C and SIGTERM end it with one line instead of a traceback.
"""
import os
import pathlib
import signal
import sys

BROKEN_PIPE, INTERRUPTED = 128 + signal.SIGPIPE, 128 + signal.SIGINT


def leave_pipe():
    """Standard output leads nowhere from here on, so that what is still in its buffer breaks nothing at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(BROKEN_PIPE)


def run(main, left="nothing is written"):
    """Runs a script's main function and exits with what it returns. `left` says what an interrupted script leaves."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        try:
            sys.exit(main())
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        leave_pipe()
    except KeyboardInterrupt:
        print(f"{pathlib.Path(sys.argv[0]).name}: interrupted; {left}", file=sys.stderr)
        sys.exit(INTERRUPTED)
