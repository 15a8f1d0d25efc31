"""Times QuantEcon's compiled Lemke method beside ours on the problems of workload W6.

Needs Python with `pip install quantecon` (numpy and numba come with it). Run from the repository root:

    cargo build --release -p lcp-lemke --features testkit --examples
    python benches/peers/quantecon_lemke.py [largest n [smallest n]]

Both solve the same numbers: the problems are drawn by the example `draw` and ours is timed by the example
`time_w6`, a process between two of the peer's runs. Several seeds from 42 on for each family and size. A time is
the least of several runs of one problem on one core, then the mean over the seeds in microseconds; `worst` is the
largest ratio of any one seed. The peer's time is that of the call from Python (about 3 microseconds by itself);
its residual is max |min(z, w)| / max(1, |q|), the largest of all seeds.
Warm means: from the basis of the same bodies a little earlier, velocities (of size 1), lever arms (of size 1) and
masses changed by up to 1e-3; `pd`: every number by up to 1e-3 of itself.
"""

import os
import subprocess
import sys
import time

import numpy as np
from quantecon.optimize.lcp_lemke import lcp_lemke

EXAMPLES = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release", "examples")
SEEDS = {10: 20, 50: 20, 100: 20, 300: 6, 1000: 2}


def run(name, *arguments):
    command = [os.path.join(EXAMPLES, name), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read(text):
    words = [word for line in text.splitlines() for word in line.split("#")[0].split()]
    n = int(words[3])
    numbers = np.array([float(word) for word in words[5 : 5 + n * n]])
    q = np.array([float(word) for word in words[6 + n * n : 6 + n * n + n]])
    return numbers.reshape(n, n), q


def least(call, repetitions):
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def one(family, n, seed):
    """Seconds of the peer, of ours cold and warm, the peer's residual and the number of unknowns."""
    m, q = read(run("draw", family, n, seed))
    result = lcp_lemke(m, q, max_iter=10**6)
    w = m @ result.z + q
    residual = np.abs(np.minimum(result.z, w)).max() / max(1.0, np.abs(q).max())
    repetitions = max(2, min(300, 2_000_000 // (n * n)))
    peer, cold, warm = float("inf"), float("inf"), float("inf")
    for _ in range(2):
        peer = min(peer, least(lambda: lcp_lemke(m, q, max_iter=10**6), repetitions))
        times = [float(word) for word in run("time_w6", family, n, seed).split()]
        cold, warm = min(cold, times[0]), min(warm, times[1])
    return peer, cold, warm, residual if result.success else np.inf, len(q)


def main():
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    smallest = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    lcp_lemke(np.eye(2), -np.ones(2))
    print("family        n seeds  quantecon residual    ours cold  ratio  worst    ours warm  ratio  worst")
    for family in ["pd", "contact", "friction4", "friction8"]:
        for n, seeds in SEEDS.items():
            if not smallest <= n <= largest:
                continue
            rows = np.array([one(family, n, 42 + k) for k in range(seeds)])
            peer, cold, warm = rows[:, 0], rows[:, 1], rows[:, 2]
            print(
                f"{family:10} {int(rows[0, 4]):4d} {seeds:5d} {peer.mean() * 1e6:10.2f} {rows[:, 3].max():8.1e}"
                f" {cold.mean() * 1e6:12.2f} {cold.mean() / peer.mean():6.3f} {(cold / peer).max():6.3f}"
                f" {warm.mean() * 1e6:12.2f} {warm.mean() / peer.mean():6.3f} {(warm / peer).max():6.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
