"""Times QuantEcon's compiled Lemke method beside ours on the problems of workload W6.

Needs Python with `pip install quantecon` (numpy and numba come with it). Run from the repository root:

    python benches/peers/quantecon_lemke.py [largest n]

Draws the problems with `cargo run --example draw`, so both solve the same numbers, and times ours with
`cargo run --example time_w6`. Prints milliseconds, the least of several runs on one core, with the residual
max |min(z, w)| / max(1, |q|).
"""

import subprocess
import sys
import time

import numpy as np
from quantecon.optimize.lcp_lemke import lcp_lemke

CARGO = ["cargo", "run", "--quiet", "--release", "-p", "lcp-lemke", "--features", "testkit", "--example"]


def run(*arguments):
    return subprocess.run(CARGO + list(arguments), check=True, capture_output=True, text=True).stdout


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


def main():
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("family        n   quantecon  residual     ours cold  ratio    ours warm  ratio")
    for family in ["pd", "contact", "friction4", "friction8"]:
        for n in [10, 50, 100, 300, 1000]:
            if n > largest:
                continue
            m, q = read(run("draw", "--", family, str(n), "42"))
            lcp_lemke(m, q, max_iter=10**6)
            repetitions = max(3, min(500, 2_000_000 // (n * n)))
            peer = least(lambda: lcp_lemke(m, q, max_iter=10**6), repetitions)
            result = lcp_lemke(m, q, max_iter=10**6)
            w = m @ result.z + q
            residual = np.abs(np.minimum(result.z, w)).max() / max(1.0, np.abs(q).max())
            cold, warm = (float(word) for word in run("time_w6", "--", family, str(n), "42").split())
            solved = f"{residual:8.1e}" if result.success else "  failed"
            print(
                f"{family:10} {len(q):4d} {peer * 1e3:11.4f}  {solved} {cold * 1e3:13.4f} {cold / peer:6.3f}"
                f" {warm * 1e3:12.4f} {warm / peer:6.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
