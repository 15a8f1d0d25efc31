//! Claims about spatial transforms.

use super::*;
use crate::{
    small::{Lu, identity, mul, mul_vec, samples, transpose},
    testkit::{AnyPose, SpdInertia, SplitMix64, UnitQuat, Vector, check},
};

fn size(v: [f64; 6]) -> f64 {
    v.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

fn close(a: [f64; 6], b: [f64; 6], tolerance: f64) -> bool {
    (0..6).all(|k| (a[k] - b[k]).abs() <= tolerance)
}

fn any_transform(random: &mut SplitMix64) -> SpatialTransform {
    SpatialTransform::from_pose(&Pose::new(random.vec3(2.0), random.unit_quat()))
}

// proves: MIR-58, FON-05, ARN-02, CLI-17, CLI-18
#[test]
fn power_is_invariant_and_inverse_undoes() {
    fn property(pose: AnyPose, w: Vector, v: Vector, n: Vector, f: Vector) -> bool {
        let x = SpatialTransform::from_pose(&pose.0);
        let (motion, force) = (Motion::new(w.0, v.0), Force::new(n.0, f.0));
        let (moved, pushed) = (x.motion(motion), x.force(force));
        // Sum of the magnitudes of the products that make up the power in the new frame.
        let scale = pushed.moment.length() * moved.angular.length()
            + pushed.linear.length() * moved.linear.length()
            + 1.0;
        let span = 1.0 + pose.0.translation.length();
        let allowed = 1e-15 * 8.0 * span * (1.0 + size(motion.to_array()) + size(force.to_array()));
        // Explicit v + ω × r: the linear part is the velocity of the body point at the other origin.
        let explicit = pose.0.rotation * (v.0 + w.0.cross(pose.0.inverse().translation));
        (pushed.dot(moved) - force.dot(motion)).abs() <= 1e-14 * scale
            && (moved.linear - explicit).length() <= allowed
            && close(x.inverse_motion(moved).to_array(), motion.to_array(), allowed)
            && close(x.inverse_force(pushed).to_array(), force.to_array(), allowed)
            && close(x.inverse().motion(moved).to_array(), motion.to_array(), allowed)
            && close(x.inverse().force(pushed).to_array(), force.to_array(), allowed)
    }
    check(181, 50_000, property as fn(AnyPose, Vector, Vector, Vector, Vector) -> bool);
}

// proves: CLI-18, MIR-58, FON-05
#[test]
fn structured_products_equal_the_6x6() {
    let mut random = SplitMix64(182);
    for _ in 0..5000 {
        let (x, y) = (any_transform(&mut random), any_transform(&mut random));
        let (ad, dual) = (x.adjoint(), x.force_adjoint());
        let (m, f) =
            (Motion::new(random.vec3(1.0), random.vec3(1.0)), Force::new(random.vec3(1.0), random.vec3(1.0)));
        assert!(close(x.motion(m).to_array(), mul_vec(&ad, m.to_array()), 1e-14));
        assert!(close(x.force(f).to_array(), mul_vec(&dual, f.to_array()), 1e-14));
        // Ad(g₁ g₂) = Ad(g₁) Ad(g₂), X X⁻¹ = 1, X* = X⁻ᵀ.
        assert!(samples::distance(&(x * y).adjoint(), &mul(&ad, &y.adjoint())) < 1e-14);
        assert!(samples::distance(&(x * y).force_adjoint(), &mul(&dual, &y.force_adjoint())) < 1e-14);
        assert!(samples::distance(&mul(&ad, &x.inverse().adjoint()), &identity()) < 1e-14);
        assert!(samples::distance(&mul(&transpose(&ad), &dual), &identity()) < 1e-14);
        let inverse = Lu::factor(&ad).unwrap().inverse();
        assert!(samples::distance(&inverse, &x.inverse().adjoint()) < 1e-13);
        // Power with the 6x6 rules: (X* f)ᵀ X m = fᵀ m to 1e-13.
        let power: f64 =
            (0..6).map(|k| mul_vec(&dual, f.to_array())[k] * mul_vec(&ad, m.to_array())[k]).sum();
        assert!((power - f.dot(m)).abs() < 1e-13);
        // Products are carried along: X (v × m) = (X v) × (X m), and ad as a matrix.
        let v = Motion::new(random.vec3(1.0), random.vec3(1.0));
        let carried = x.motion(v).cross(x.motion(m)) - x.motion(v.cross(m));
        assert!(size(carried.to_array()) < 1e-13);
        let carried = x.motion(v).cross_force(x.force(f)) - x.force(v.cross_force(f));
        assert!(size(carried.to_array()) < 1e-13);
        let small_ad = v.cross_mat6();
        assert!(close(mul_vec(&small_ad, m.to_array()), v.cross(m).to_array(), 1e-14));
        let dual_small = transpose(&small_ad).map(|row| row.map(|e| -e));
        assert!(close(mul_vec(&dual_small, f.to_array()), v.cross_force(f).to_array(), 1e-14));
    }
}

// proves: ARN-04
#[test]
fn composition_is_transitive() {
    let mut random = SplitMix64(183);
    for _ in 0..5000 {
        let (a_from_b, b_from_c) = (any_transform(&mut random), any_transform(&mut random));
        let m = Motion::new(random.vec3(1.0), random.vec3(1.0));
        let f = Force::new(random.vec3(1.0), random.vec3(1.0));
        let a_from_c = a_from_b * b_from_c;
        let stepwise = a_from_b.motion(b_from_c.motion(m));
        assert!(close(a_from_c.motion(m).to_array(), stepwise.to_array(), 1e-14));
        let stepwise = a_from_b.force(b_from_c.force(f));
        assert!(close(a_from_c.force(f).to_array(), stepwise.to_array(), 1e-14));
        // Arnold's letters: A takes α to β, b is β's origin in α; A = A₂A₁, b = b₁ + A₁ᵀ b₂.
        let (r1, r2) = (a_from_b.rotation.transpose(), b_from_c.rotation.transpose());
        let (b1, b2) = (a_from_b.translation, b_from_c.translation);
        let composed = SpatialTransform::from_arnold(r2 * r1, b1 + r1.transpose() * b2);
        assert!(composed.rotation.abs_diff_eq(a_from_c.rotation, 1e-15 * 4.0));
        assert!((composed.translation - a_from_c.translation).length() < 1e-15 * 8.0);
        // X_αβ on motions, X_αβᵀ on forces, as printed.
        let x = SpatialTransform::from_arnold(r1, b1);
        let printed = Motion::new(r1 * m.angular, r1 * (m.linear + m.angular.cross(b1)));
        assert!(close(x.inverse_motion(m).to_array(), printed.to_array(), 1e-14));
        let (n, l) = (r1.transpose() * f.moment, r1.transpose() * f.linear);
        assert!(close(x.force(f).to_array(), Force::new(n + b1.cross(l), l).to_array(), 1e-14));
        // Inverse: A⁻¹ = Aᵀ, b⁻¹ = −A b.
        let inverse = SpatialTransform::from_arnold(r1.transpose(), -(r1 * b1));
        assert!(inverse.rotation.abs_diff_eq(x.inverse().rotation, 1e-15));
        assert!((inverse.translation - x.inverse().translation).length() < 1e-15 * 8.0);
        // Pose and back.
        let pose = a_from_b.to_pose();
        assert!(SpatialTransform::from(pose).rotation.abs_diff_eq(a_from_b.rotation, 1e-15 * 8.0));
        let point = random.vec3(1.0);
        assert!((pose.transform_point(point) - a_from_b.point(point)).length() < 1e-14);
        assert!((a_from_b.inverse_point(a_from_b.point(point)) - point).length() < 1e-14);
    }
}

// proves: ARN-04
#[test]
fn inertia_congruence_equals_parallel_axis() {
    fn property(body: SpdInertia, c: Vector, q: UnitQuat, pose: AnyPose) -> bool {
        let tensor = Sym3::from_diagonal(body.moments).congruence(DMat3::from_quat(q.0));
        let inertia = RigidInertia::from_com(body.mass, c.0, tensor);
        let x = SpatialTransform::from_pose(&pose.0);
        let moved = x.rigid_inertia(&inertia);
        // Directly: the centre of mass moves as a point, the central tensor turns.
        let direct = RigidInertia::from_com(body.mass, x.point(c.0), tensor.congruence(x.rotation));
        let back = x.inverse_rigid_inertia(&moved);
        let reach = c.0.length() + pose.0.translation.length() + 1.0;
        let scale = body.moments.max_element() + body.mass * reach * reach;
        // Xᵀ I_a X = I_b with the 6x6 (I_a is the moved one), Arnold's rule repaired.
        let ad = x.adjoint();
        let sandwiched = mul(&mul(&transpose(&ad), &moved.to_mat6()), &ad);
        (moved.inertia_at_origin - direct.inertia_at_origin).max_abs() < 1e-14 * scale
            && (moved.first_moment - direct.first_moment).length() < 1e-14 * scale
            && (back.inertia_at_origin - inertia.inertia_at_origin).max_abs() < 1e-14 * scale
            && (back.first_moment - inertia.first_moment).length() < 1e-14 * scale
            && samples::distance(&sandwiched, &inertia.to_mat6()) < 1e-13 * scale
    }
    check(184, 20_000, property as fn(SpdInertia, Vector, UnitQuat, AnyPose) -> bool);
}

// proves: ARN-04, MIR-58
#[test]
fn articulated_congruence_equals_the_6x6() {
    let mut random = SplitMix64(185);
    for _ in 0..5000 {
        let x = any_transform(&mut random);
        let matrix = samples::positive_definite::<6>(&mut random);
        let inertia = ArticulatedInertia::from_mat6(&matrix);
        let moved = x.articulated_inertia(&inertia);
        // I_a = X* I_b X⁻¹.
        let reference = mul(&mul(&x.force_adjoint(), &matrix), &x.inverse().adjoint());
        assert!(samples::distance(&moved.to_mat6(), &reference) < 1e-13);
        let back = x.inverse_articulated_inertia(&moved);
        assert!(samples::distance(&back.to_mat6(), &matrix) < 1e-13);
        // The same kinetic energy in both frames.
        let v = Motion::new(random.vec3(1.0), random.vec3(1.0));
        let (here, there) = ((inertia * v).dot(v), (moved * x.motion(v)).dot(x.motion(v)));
        assert!((here - there).abs() < 1e-13 * (1.0 + here));
        // A rigid inertia goes the same way in both types.
        let rigid = RigidInertia::from_com(1.5, random.vec3(1.0), Sym3::from_scalar(0.4));
        let one = ArticulatedInertia::from(x.rigid_inertia(&rigid)).to_mat6();
        let other = x.articulated_inertia(&rigid.into()).to_mat6();
        assert!(samples::distance(&one, &other) < 1e-13);
        let one = ArticulatedInertia::from(x.inverse_rigid_inertia(&rigid)).to_mat6();
        let other = x.inverse_articulated_inertia(&rigid.into()).to_mat6();
        assert!(samples::distance(&one, &other) < 1e-13);
    }
}

#[test]
fn identity_changes_nothing() {
    let mut random = SplitMix64(186);
    let m = Motion::new(random.vec3(1.0), random.vec3(1.0));
    let i = RigidInertia::from_com(1.5, random.vec3(1.0), Sym3::from_scalar(0.4));
    let x = SpatialTransform::default();
    assert_eq!((x.motion(m), x.rigid_inertia(&i), x * x, x.inverse()), (m, i, x, x));
}
