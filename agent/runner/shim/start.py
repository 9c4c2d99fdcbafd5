"""Entry of the shim: ``python -I -S start.py FOLDER LOCK_FD READY_FD``.

Isolated and without site-packages it starts in a few hundredths of a second, whatever the node has installed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from agent.runner.shim.supervisor import main

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
