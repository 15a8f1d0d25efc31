"""Articulated dynamics beside Pinocchio and MuJoCo: the five trees of workload W4 and the same with turned joints.

    python3 benches/peers/pinocchio/run.py [--rounds N] [--seconds S] [--folder DIR] [--build-only | --run-only]

Needs g++ and Eigen (Debian: apt-get install libeigen3-dev). Makes a virtual environment in the folder (default
target/peers-pinocchio) with the wheels `pin` and `mujoco`, which carry headers and libraries, compiles peer.cpp for baseline x86-64
(about three minutes) and our example `time_w4`, then runs both in turn and prints one table of the least times in microseconds.
Ratios are peer / ours. Pinocchio's CRBA writes the upper half of the matrix, so ours that does the same stands beside it. Leaves with 1
if a bar is missed or the accelerations differ.
"""

import argparse
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
OURS = os.path.join(TARGET, "release", "examples", "time_w4")
DEFINITIONS = ["BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
               "BOOST_FUSION_INVOKE_MAX_ARITY=12", "NDEBUG"]
NAMES = ["arm6", "chain10", "humanoid30", "chain50", "chain100"]


def call(*words, **options):
    print("+", " ".join(words), file=sys.stderr)
    subprocess.run(words, check=True, **options)


def build(folder):
    venv = os.path.join(folder, "venv")
    if not os.path.exists(os.path.join(venv, "bin", "python")):
        call(sys.executable, "-m", "venv", venv)
        call(os.path.join(venv, "bin", "pip"), "install", "--quiet", "pin", "mujoco")
    site = glob.glob(os.path.join(venv, "lib", "python3*", "site-packages"))[0]
    prefix, mujoco = os.path.join(site, "cmeel.prefix"), os.path.join(site, "mujoco")
    peer, source = os.path.join(folder, "peer"), os.path.join(HERE, "peer.cpp")
    if not os.path.exists(peer) or os.path.getmtime(peer) < os.path.getmtime(source):
        libraries = [os.path.join(prefix, "lib", "libpinocchio_default.so"), glob.glob(os.path.join(mujoco, "libmujoco.so.*"))[0]]
        call("g++", "-std=c++17", "-O3", *["-D" + d for d in DEFINITIONS], "-I" + os.path.join(prefix, "include"),
             "-I/usr/include/eigen3", "-I" + os.path.join(mujoco, "include"), source, "-o", peer, *libraries,
             "-Wl,-rpath," + os.path.join(prefix, "lib") + ",-rpath," + mujoco)
    call("cargo", "build", "--release", "-p", "articulated-featherstone", "--example", "time_w4", cwd=ROOT)
    trees = os.path.join(folder, "trees")
    os.makedirs(trees, exist_ok=True)
    call(OURS, "--write", trees)


def measure(words, least, norms):
    """Runs a program and keeps the least of its times, six for each tree, and the norms after them."""
    count = 6
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        name, *numbers = line.split()
        numbers = [float(x) for x in numbers]
        before = least.get(name, [1e30] * count)
        least[name] = [min(a, b) for a, b in zip(before, numbers)]
        norms[name] = numbers[count:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="for each measurement in a round")
    parser.add_argument("--folder", default=os.path.join(TARGET, "peers-pinocchio"))
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--run-only", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    if not options.run_only:
        build(options.folder)
    if options.build_only:
        return 0
    names = NAMES + [name + "_turned" for name in NAMES]
    files = [os.path.join(options.folder, "trees", name + ".peer") for name in names]
    ours, theirs, our_norms, their_norms = {}, {}, {}, {}
    for _ in range(options.rounds):
        measure([OURS, str(options.seconds)], ours, our_norms)
        measure([os.path.join(options.folder, "peer"), str(options.seconds), *files], theirs, their_norms)
    missed = []

    def ratio(name, what, top, bottom, bar):
        if top / bottom < bar:
            missed.append(f"{name}: {what} {top / bottom:.2f} < {bar}")
        return f"{top / bottom:5.2f}"

    print("| tree | ABA | Pinocchio (world) | ratio | RNEA | Pinocchio | ratio | CRBA (full) | Pinocchio (world) | ratio (local) | MuJoCo | ratio | batch of 4 | gain | contact / ABA |")
    print("|---|" + "---|" * 14)
    for name in names:
        (aba, rnea, crba, upper, batch, contact), (l_aba, p_rnea, l_crba, w_aba, w_crba, mujoco) = ours[name], theirs[name]
        # ABA beside the faster of Pinocchio's two conventions; CRBA beside the world convention, whose times the bars were set by, with
        # the ratio to the local one in brackets.
        p_aba = min(l_aba, w_aba)
        # The bars of the turned trees: ABA alone.
        bars = (1.7, 0.0, 0.0, 0.0, 0.0) if name.endswith("_turned") else (2.5, 2.5, 2.0, 2.0, 1.5)
        cells = [f"{aba:.3f}", f"{l_aba:.3f} ({w_aba:.3f})", ratio(name, "ABA", p_aba, aba, bars[0]),
                 f"{rnea:.3f}", f"{p_rnea:.3f}", ratio(name, "RNEA", p_rnea, rnea, bars[1]),
                 f"{upper:.3f} ({crba:.3f})", f"{l_crba:.3f} ({w_crba:.3f})", ratio(name, "CRBA", w_crba, upper, bars[2]) + f" ({l_crba / upper:.2f})",
                 f"{mujoco:.3f}", ratio(name, "MuJoCo", mujoco, aba, bars[3]),
                 f"{batch:.3f}", ratio(name, "batch", aba, batch, bars[4]), f"{contact / aba:.2f}"]
        if name == "humanoid30" and contact / aba > 1.5:
            missed.append(f"{name}: contact matrix / ABA {contact / aba:.2f} > 1.5")
        print("| " + " | ".join([name, *cells]) + " |")
        for norm in their_norms[name]:
            if abs(norm - our_norms[name][0]) > 1e-8 * norm:
                missed.append(f"{name}: |qdd| is {our_norms[name][0]!r} here and {norm!r} there")
    print("\n".join(missed) if missed else "every bar is met; all find the same accelerations")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
