// Times Pinocchio's ABA, RNEA and CRBA and MuJoCo's smooth forward pass on trees written by
// `cargo run --release -p articulated-featherstone --example time_w4 -- --write DIR`.
//
//     peer SECONDS FILE...
//
// Prints for each file one line: name, then microseconds per call of Pinocchio's ABA, RNEA and CRBA as called without options, of its
// ABA and CRBA in the world convention, and of MuJoCo's pass, then |qdd| as each of the two finds it. The loops are here, so no call overhead is counted; the
// last coordinate changes before every call, so nothing can be reused.

#include <mujoco/mujoco.h>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace pin = pinocchio;
using Vec = Eigen::VectorXd;
using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;

struct Link {
  int parent;
  std::string kind;
  Vec3 axis, position;
  Eigen::Quaterniond rotation;
  double mass;
  Vec3 com;
  double inertia[6];  // xx yy zz xy xz yz about the centre of mass
};

struct Tree {
  std::vector<Link> links;
  Vec q, v, tau;  // our order: free joint p, quaternion xyzw; angular before linear
};

static Tree read(const std::string& path) {
  Tree tree;
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(1);
  }
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "link") {
      Link l;
      double x, y, z, w;
      words >> l.parent >> l.kind >> l.axis.x() >> l.axis.y() >> l.axis.z();
      words >> l.position.x() >> l.position.y() >> l.position.z() >> x >> y >> z >> w;
      l.rotation = Eigen::Quaterniond(w, x, y, z);
      words >> l.mass >> l.com.x() >> l.com.y() >> l.com.z();
      for (double& i : l.inertia) words >> i;
      tree.links.push_back(l);
    } else {
      std::vector<double> numbers;
      for (double x; words >> x;) numbers.push_back(x);
      Vec& out = key == "q" ? tree.q : key == "v" ? tree.v : tree.tau;
      out = Eigen::Map<Vec>(numbers.data(), long(numbers.size()));
    }
  }
  return tree;
}

static bool floating(const Tree& tree) { return tree.links[0].kind == "free"; }

static void linear_first(const Tree& tree, Vec& x) {
  if (floating(tree)) {
    const Vec3 angular = x.head<3>();
    x.head<3>() = x.segment<3>(3).eval();
    x.segment<3>(3) = angular;
  }
}

static pin::Model pinocchio_model(const Tree& tree) {
  pin::Model model;
  model.gravity.linear() = Vec3(0, 0, -9.81);
  std::vector<pin::JointIndex> ids;
  for (const Link& l : tree.links) {
    const pin::JointIndex parent = l.parent < 0 ? 0 : ids[size_t(l.parent)];
    const pin::SE3 placement(l.rotation.toRotationMatrix(), l.position);
    const std::string name = "j" + std::to_string(ids.size());
    pin::JointIndex id;
    // An axis that is exactly a coordinate axis gets the specialised joint, as a careful user would write.
    if (l.kind == "free")
      id = model.addJoint(parent, pin::JointModelFreeFlyer(), placement, name);
    else if (l.axis == Vec3::UnitX())
      id = model.addJoint(parent, pin::JointModelRX(), placement, name);
    else if (l.axis == Vec3::UnitY())
      id = model.addJoint(parent, pin::JointModelRY(), placement, name);
    else if (l.axis == Vec3::UnitZ())
      id = model.addJoint(parent, pin::JointModelRZ(), placement, name);
    else
      id = model.addJoint(parent, pin::JointModelRevoluteUnaligned(l.axis), placement, name);
    const double* i = l.inertia;
    Mat3 tensor;
    tensor << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
    model.appendBodyToJoint(id, pin::Inertia(l.mass, l.com, tensor), pin::SE3::Identity());
    ids.push_back(id);
  }
  return model;
}

static void write_body(const Tree& tree, size_t i, std::ostringstream& xml) {
  const Link& l = tree.links[i];
  const auto& r = l.rotation;
  xml << "<body pos='" << l.position.transpose() << "' quat='" << r.w() << ' ' << r.x() << ' ' << r.y() << ' ' << r.z() << "'>";
  if (l.kind == "free")
    xml << "<freejoint/>";
  else
    xml << "<joint type='hinge' axis='" << l.axis.transpose() << "'/>";
  xml << "<inertial mass='" << l.mass << "' pos='" << l.com.transpose() << "' fullinertia='";
  for (double x : l.inertia) xml << x << ' ';
  xml << "'/>";
  for (size_t c = i + 1; c < tree.links.size(); ++c)
    if (tree.links[c].parent == int(i)) write_body(tree, c, xml);
  xml << "</body>";
}

static mjModel* mujoco_model(const Tree& tree) {
  std::ostringstream xml;
  xml.precision(17);
  xml << "<mujoco><compiler angle='radian' autolimits='false'/><option gravity='0 0 -9.81'><flag contact='disable' constraint='disable'/></option>"
         "<worldbody>";
  for (size_t i = 0; i < tree.links.size(); ++i)
    if (tree.links[i].parent < 0) write_body(tree, i, xml);
  xml << "</worldbody></mujoco>";
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(xml.str().c_str(), nullptr, error, sizeof error);
  mjModel* model = spec ? mj_compile(spec, nullptr) : nullptr;
  if (!model) {
    std::fprintf(stderr, "MuJoCo: %s\n", error);
    std::exit(1);
  }
  mj_deleteSpec(spec);
  return model;
}

// Least time of one call in microseconds over as many rounds as fit into `seconds`.
template <class F>
static double time_of(double seconds, F&& call) {
  using Clock = std::chrono::steady_clock;
  const int calls = 50;  // a round of long trees must fit between two interruptions of a busy machine
  double best = 1e30;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
  } while (Clock::now() < end);
  return best;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.2;
  for (int a = 2; a < argc; ++a) {
    const std::string path = argv[a];
    const Tree tree = read(path);
    const pin::Model model = pinocchio_model(tree);
    pin::Data data(model);
    Vec q = tree.q, v = tree.v, tau = tree.tau;
    linear_first(tree, v);
    linear_first(tree, tau);
    if (q.size() != model.nq || v.size() != model.nv) {
      std::fprintf(stderr, "%s: sizes do not fit\n", path.c_str());
      return 1;
    }
    const double pinocchio_norm = pin::aba(model, data, q, v, tau, pin::Convention::LOCAL).norm();
    const long last = q.size() - 1;
    double aba[2], crba[2];
    const pin::Convention conventions[2] = {pin::Convention::LOCAL, pin::Convention::WORLD};
    for (int c = 0; c < 2; ++c) {
      const pin::Convention convention = conventions[c];
      aba[c] = time_of(seconds, [&] {
        q[last] += 1e-9;
        pin::aba(model, data, q, v, tau, convention);
      });
      crba[c] = time_of(seconds, [&] {
        q[last] += 1e-9;
        pin::crba(model, data, q, convention);
      });
    }
    const double rnea = time_of(seconds, [&] {
      q[last] += 1e-9;
      pin::rnea(model, data, q, v, tau);
    });

    mjModel* m = mujoco_model(tree);
    mjData* d = mj_makeData(m);
    for (int i = 0; i < m->nq; ++i) d->qpos[i] = tree.q[i];
    v = tree.v;
    tau = tree.tau;
    if (floating(tree)) {
      // Quaternion w first; linear before angular; linear parts of a free joint in world axes.
      d->qpos[3] = tree.q[6];
      for (int i = 0; i < 3; ++i) d->qpos[4 + i] = tree.q[3 + i];
      linear_first(tree, v);
      linear_first(tree, tau);
      const Mat3 world = Eigen::Quaterniond(tree.q[6], tree.q[3], tree.q[4], tree.q[5]).toRotationMatrix();
      v.head<3>() = (world * v.head<3>()).eval();
      tau.head<3>() = (world * tau.head<3>()).eval();
    }
    for (int i = 0; i < m->nv; ++i) {
      d->qvel[i] = v[i];
      d->qfrc_applied[i] = tau[i];
    }
    const auto pass = [&] {
      mj_fwdPosition(m, d);
      mj_fwdVelocity(m, d);
      mj_fwdActuation(m, d);
      mj_fwdAcceleration(m, d);
    };
    pass();
    const double mujoco_norm = Eigen::Map<Vec>(d->qacc_smooth, m->nv).norm();
    const double mujoco = time_of(seconds, [&] {
      d->qpos[m->nq - 1] += 1e-9;
      pass();
    });
    mj_deleteData(d);
    mj_deleteModel(m);

    std::string name = path.substr(path.find_last_of('/') + 1);
    name = name.substr(0, name.find('.'));
    std::printf("%s %.4f %.4f %.4f %.4f %.4f %.4f %.12g %.12g\n", name.c_str(), aba[0], rnea, crba[0], aba[1], crba[1], mujoco, pinocchio_norm,
                mujoco_norm);
    std::fflush(stdout);
  }
}
