"""Writes goldens for articulated-featherstone from Pinocchio and MuJoCo.

    pip install pin mujoco numpy
    python make.py            # writes pinocchio.json and mujoco.json beside this file

Each file names its tool and holds cases: the links (parent, joint, axis, pose of the joint frame, mass, com, inertia xx yy zz xy xz yz about
the com), then `q`, `v`, `tau`, `qdd` and, from Pinocchio, `bias`, all in this crate's order: free velocities angular first, quaternions x y z w.
"""

import json
import os
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "models")
G = np.array([0.0, 0.0, -9.81])


def numbers(x):
    return [float(a) for a in x]


def read_tree(name):
    links, q, v, tau = [], [], [], []
    for line in open(os.path.join(MODELS, name + ".tree")):
        w = line.split()
        if w[0] == "link":
            x = [float(a) for a in w[4:]]
            links.append(dict(parent=int(w[2]), kind=w[3], axis=x[0:3], pos=x[3:6], quat=[0, 0, 0, 1], mass=x[6], com=x[7:10],
                              inertia=np.diag(x[10:13])))
        elif w[0] == "q":
            q = [float(a) for a in w[1:]]
        elif w[0] == "v":
            v = [float(a) for a in w[1:]]
        elif w[0] == "tau":
            tau = [float(a) for a in w[1:]]
    if links[0]["kind"] == "free":
        q = q[:3] + q[4:7] + q[3:4] + q[7:]
        v = v[3:6] + v[:3] + v[6:]
        tau = tau[3:6] + tau[:3] + tau[6:]
    return links, np.array(q), np.array(v), np.array(tau)


def unit_quat(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_tree(rng, n, floating):
    links, q, v = [], [], []
    for i in range(n):
        kind = "free" if i == 0 and floating else ["rev", "pri", "sph"][rng.integers(0, 3)]
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        half = rng.uniform(0.05, 0.5, size=3)
        mass = rng.uniform(0.2, 3.0)
        s = half * half
        rot = matrix(unit_quat(rng))
        inertia = rot @ np.diag([s[1] + s[2], s[2] + s[0], s[0] + s[1]]) @ rot.T * mass / 3
        # Depth-first, as the builder numbers them: the parent is on the path of the last link.
        parent = -1
        if i > 0:
            path = [i - 1]
            while links[path[-1]]["parent"] >= 0:
                path.append(links[path[-1]]["parent"])
            parent = path[rng.integers(0, len(path))]
        links.append(dict(parent=parent, kind=kind, axis=list(axis), pos=list(rng.uniform(-0.5, 0.5, size=3)), quat=list(unit_quat(rng)),
                          mass=mass, com=list(rng.uniform(-0.4, 0.4, size=3)), inertia=inertia))
        if kind == "free":
            q += list(rng.uniform(-1, 1, size=3)) + list(unit_quat(rng))
            v += list(rng.uniform(-1, 1, size=6))
        elif kind == "sph":
            q += list(unit_quat(rng))
            v += list(rng.uniform(-1, 1, size=3))
        else:
            q.append(rng.uniform(-1.5, 1.5))
            v.append(rng.uniform(-1, 1))
    return links, np.array(q), np.array(v), rng.uniform(-1, 1, size=len(v))


def matrix(q):
    x, y, z, w = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def swap_free(links, x):
    """Angular first to linear first and back, for a free root."""
    return np.concatenate([x[3:6], x[0:3], x[6:]]) if links[0]["kind"] == "free" else np.array(x)


def pinocchio_case(links, q, v, tau):
    import pinocchio as pin
    model = pin.Model()
    model.gravity.linear = G
    ids = []
    for i, l in enumerate(links):
        joint = {"rev": lambda: pin.JointModelRevoluteUnaligned(*l["axis"]), "pri": lambda: pin.JointModelPrismaticUnaligned(*l["axis"]),
                 "sph": pin.JointModelSpherical, "free": pin.JointModelFreeFlyer}[l["kind"]]()
        parent = 0 if l["parent"] < 0 else ids[l["parent"]]
        j = model.addJoint(parent, joint, pin.SE3(matrix(l["quat"]), np.array(l["pos"])), str(i))
        model.appendBodyToJoint(j, pin.Inertia(l["mass"], np.array(l["com"]), l["inertia"]), pin.SE3.Identity())
        ids.append(j)
    data = model.createData()
    qdd = pin.aba(model, data, q, swap_free(links, v), swap_free(links, tau))
    bias = pin.nonLinearEffects(model, data, q, swap_free(links, v))
    return swap_free(links, qdd), swap_free(links, bias)


def mujoco_case(links, q, v, tau):
    """Accelerations only: MuJoCo's free joint has world linear velocities, converted here."""
    import mujoco
    fmt = lambda x: " ".join(repr(float(a)) for a in x)
    children = {i: [] for i in range(-1, len(links))}
    for i, l in enumerate(links):
        children[l["parent"]].append(i)

    def body(i):
        l = links[i]
        free = l["kind"] == "free"
        quat = [l["quat"][3]] + list(l["quat"][:3])
        pose = "" if free else 'pos="%s" quat="%s"' % (fmt(l["pos"]), fmt(quat))
        kind = {"rev": 'type="hinge" axis="%s"' % fmt(l["axis"]), "pri": 'type="slide" axis="%s"' % fmt(l["axis"]),
                "sph": 'type="ball"', "free": 'type="free"'}[l["kind"]]
        t = l["inertia"]
        full = [t[0][0], t[1][1], t[2][2], t[0][1], t[0][2], t[1][2]]
        return '<body %s><joint %s/><inertial pos="%s" mass="%r" fullinertia="%s"/>%s</body>' % (
            pose, kind, fmt(l["com"]), float(l["mass"]), fmt(full), "".join(body(c) for c in children[i]))

    xml = ('<mujoco><compiler angle="radian" inertiafromgeom="false" boundmass="0" balanceinertia="false"/><option gravity="0 0 -9.81"/>'
           "<worldbody>%s</worldbody></mujoco>" % "".join(body(i) for i in children[-1]))
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mq, k = [], 0
    for l in links:
        if l["kind"] == "free":
            pose, turn = matrix(l["quat"]), q[k + 3:k + 7]
            mq += list(pose @ q[k:k + 3] + l["pos"]) + quat_wxyz(product(l["quat"], turn))
            k += 7
        elif l["kind"] == "sph":
            mq += quat_wxyz(q[k:k + 4])
            k += 4
        else:
            mq.append(q[k])
            k += 1
    data.qpos[:] = mq
    mv, mt = swap_free(links, v), swap_free(links, tau)
    if links[0]["kind"] == "free":
        rot = matrix(product(links[0]["quat"], q[3:7]))
        mv[:3] = rot @ mv[:3]
        mt[:3] = rot @ mt[:3]
    data.qvel[:] = mv
    data.qfrc_applied[:] = mt
    mujoco.mj_forward(model, data)
    qdd = data.qacc.copy()
    if links[0]["kind"] == "free":
        # d/dt (R^T v) = R^T a - omega x (R^T v).
        qdd[:3] = rot.T @ qdd[:3] - np.cross(v[:3], v[3:6])
    return swap_free(links, qdd), None


def product(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array([aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
                     aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz])


def quat_wxyz(q):
    return [q[3], q[0], q[1], q[2]]


def write(path, header, solve):
    rng = np.random.default_rng(11)
    cases = [(name, *read_tree(name)) for name in ["arm6", "chain10", "humanoid30", "chain50"]]
    cases += [("random%d" % i, *random_tree(rng, int(rng.integers(1, 13)), i % 2 == 0)) for i in range(12)]
    links, q, v, tau = read_tree("humanoid30")
    q[3:7] = unit_quat(rng)
    v[:6] = rng.uniform(-1, 1, size=6)
    cases.append(("humanoid30_spinning", links, q, v, tau))
    done = []
    for name, links, q, v, tau in cases:
        qdd, bias = solve(links, q, v, tau)
        case = {"name": name, "links": []}
        for l in links:
            t = l["inertia"]
            case["links"].append({"parent": l["parent"], "joint": l["kind"], "axis": numbers(l["axis"]), "position": numbers(l["pos"]),
                                  "rotation": numbers(l["quat"]), "mass": float(l["mass"]), "com": numbers(l["com"]),
                                  "inertia": numbers([t[0][0], t[1][1], t[2][2], t[0][1], t[0][2], t[1][2]])})
        for key, x in [("q", q), ("v", v), ("tau", tau), ("qdd", qdd), ("bias", bias)]:
            if x is not None:
                case[key] = numbers(x)
        done.append(case)
    # One line for each case keeps the file small and its differences readable.
    with open(os.path.join(HERE, path), "w") as out:
        out.write('{"tool": %s, "cases": [\n' % json.dumps(header))
        out.write(",\n".join(json.dumps(case) for case in done))
        out.write("\n]}\n")


if __name__ == "__main__":
    import mujoco
    import pinocchio
    write("pinocchio.json", "Pinocchio %s" % pinocchio.__version__, pinocchio_case)
    write("mujoco.json", "MuJoCo %s" % mujoco.__version__, mujoco_case)
