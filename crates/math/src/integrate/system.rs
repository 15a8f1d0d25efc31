//! What is integrated: a first-order system, and the second-order systems that become one.

use thiserror::Error;

/// A system's wish to give up the current advance; the integrator then restores the state it began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the system asked to stop with code {code}")]
pub struct Abort {
    /// Free for the system to use: which box was left, which pair overlaps.
    pub code: u64,
}

/// What to do after a sub-step has been accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on to the end of the interval.
    Continue,
    /// Keep the state reached and return early; the report says when.
    Stop,
}

/// The differential equation ẏ = f(t, y), object-safe.
///
/// A system may hold caches and counters, so all methods take `&mut self`. For the promise that an abort
/// leaves no trace, f must be a function of `t` and `y` alone.
pub trait OdeSystem {
    /// Length of the state.
    fn dim(&self) -> usize;

    /// Writes f(t, y) into `dydt`; both slices have length [`OdeSystem::dim`].
    ///
    /// # Errors
    /// [`Abort`] gives up the whole advance; the state becomes what it was at its beginning, bit for bit.
    fn derivative(&mut self, t: f64, y: &[f64], dydt: &mut [f64]) -> Result<(), Abort>;

    /// Like [`OdeSystem::derivative`], but positions move with the velocity that accelerations will have
    /// made after `prediction` seconds: q̇ = G(q) (v + c v̇). First-order systems have no such velocity and
    /// keep the default, which ignores `prediction`; the Euler variants are then all the explicit Euler
    /// method.
    ///
    /// # Errors
    /// As [`OdeSystem::derivative`].
    fn predicted_derivative(
        &mut self,
        t: f64,
        y: &[f64],
        prediction: f64,
        dydt: &mut [f64],
    ) -> Result<(), Abort> {
        let _ = prediction;
        self.derivative(t, y, dydt)
    }

    /// Moves `y` back onto the manifold it belongs to, for instance by normalising quaternions. Called on
    /// every stage and every new state. Must be a smooth projection: then no integrator loses its order.
    fn project(&mut self, y: &mut [f64]) {
        let _ = y;
    }

    /// Called with every accepted state, the last one included, before the next sub-step starts.
    ///
    /// # Errors
    /// [`Abort`] gives up the whole advance and restores the state of its beginning.
    fn accepted(&mut self, t: f64, y: &[f64]) -> Result<Flow, Abort> {
        let _ = (t, y);
        Ok(Flow::Continue)
    }
}

/// A mechanical system q̇ = G(q) v, v̇ = a(t, q, v), where q and v may differ in length (quaternions).
pub trait SecondOrderSystem {
    /// Number of position coordinates.
    fn position_dim(&self) -> usize;

    /// Number of velocity coordinates.
    fn velocity_dim(&self) -> usize;

    /// Writes a(t, q, v).
    ///
    /// # Errors
    /// [`Abort`] gives up the whole advance.
    fn acceleration(&mut self, t: f64, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), Abort>;

    /// Writes q̇ = G(q) v. The default is q̇ = v for equal lengths.
    fn position_rate(&mut self, q: &[f64], v: &[f64], q_dot: &mut [f64]) {
        let _ = q;
        let n = q_dot.len().min(v.len());
        q_dot[..n].copy_from_slice(&v[..n]);
    }

    /// Moves q back onto its manifold; see [`OdeSystem::project`].
    fn project(&mut self, q: &mut [f64]) {
        let _ = q;
    }

    /// See [`OdeSystem::accepted`].
    ///
    /// # Errors
    /// [`Abort`] gives up the whole advance.
    fn accepted(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<Flow, Abort> {
        let _ = (t, q, v);
        Ok(Flow::Continue)
    }
}

/// A [`SecondOrderSystem`] as an [`OdeSystem`] with the state y = (q, v).
#[derive(Debug, Clone)]
pub struct SecondOrder<S> {
    /// The mechanical system.
    pub system: S,
    velocity: Vec<f64>,
}

impl<S: SecondOrderSystem> SecondOrder<S> {
    /// Wraps a system; the only allocation is made here.
    pub fn new(system: S) -> Self {
        let velocity = vec![0.0; system.velocity_dim()];
        Self { system, velocity }
    }
}

impl<S: SecondOrderSystem> OdeSystem for SecondOrder<S> {
    fn dim(&self) -> usize {
        self.system.position_dim() + self.velocity.len()
    }

    fn derivative(&mut self, t: f64, y: &[f64], dydt: &mut [f64]) -> Result<(), Abort> {
        self.predicted_derivative(t, y, 0.0, dydt)
    }

    fn predicted_derivative(
        &mut self,
        t: f64,
        y: &[f64],
        prediction: f64,
        dydt: &mut [f64],
    ) -> Result<(), Abort> {
        let n = self.system.position_dim();
        let (q, v) = y.split_at(n);
        let (q_dot, v_dot) = dydt.split_at_mut(n);
        self.system.acceleration(t, q, v, v_dot)?;
        for ((predicted, v), a) in self.velocity.iter_mut().zip(v).zip(v_dot.iter()) {
            *predicted = v + prediction * a;
        }
        self.system.position_rate(q, &self.velocity, q_dot);
        Ok(())
    }

    fn project(&mut self, y: &mut [f64]) {
        let n = self.system.position_dim();
        self.system.project(&mut y[..n]);
    }

    fn accepted(&mut self, t: f64, y: &[f64]) -> Result<Flow, Abort> {
        let (q, v) = y.split_at(self.system.position_dim());
        self.system.accepted(t, q, v)
    }
}
