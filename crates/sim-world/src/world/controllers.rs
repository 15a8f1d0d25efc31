//! Controllers of a world.

use super::{Change, World, check_finite};
use crate::{
    access::StepperAccess,
    control::{Control, Controller, ControllerId},
    error::WorldError,
    events::{Event, EventKind, Timer},
};
use sim_math::glam::DVec3;

impl World {
    /// Adds a controller that is called at `first`, `first + period`, … (s); a `first` in the past counts from the world's
    /// time.
    ///
    /// # Errors
    /// A period that is not positive and finite, a time that is not finite.
    pub fn add_controller(
        &mut self,
        first: f64,
        period: f64,
        controller: impl Controller + 'static,
    ) -> Result<ControllerId, WorldError> {
        if !(period > 0.0 && period.is_finite()) {
            return Err(WorldError::NotPositive { what: "controller period", value: period });
        }
        check_finite("controller start", DVec3::splat(first))?;
        let timer = Timer { first: first.max(self.time), period, count: 0 };
        self.controllers.push(Some(Control { controller: Some(Box::new(controller)), timer, enabled: true }));
        let id = ControllerId((self.controllers.len() - 1) as u32);
        self.note(Change::Controller(id));
        Ok(id)
    }

    /// Removes a controller, which lets go of what it holds.
    ///
    /// # Errors
    /// There is no such controller, or it is the one that is acting.
    pub fn remove_controller(&mut self, id: ControllerId) -> Result<(), WorldError> {
        self.switch_controller(id, false)?;
        if let Some(place) = self.controllers.get_mut(id.0 as usize) {
            *place = None;
        }
        self.note(Change::Controller(id));
        Ok(())
    }

    /// Switches a controller on or off. One that is switched off lets go of what it holds; its times go on, so that it acts
    /// again at a multiple of its period.
    ///
    /// # Errors
    /// There is no such controller, or it is the one that is acting.
    pub fn switch_controller(&mut self, id: ControllerId, enabled: bool) -> Result<(), WorldError> {
        let control = self.control_mut(id)?;
        let was = std::mem::replace(&mut control.enabled, enabled);
        if was && !enabled {
            let mut acting = control.controller.take();
            let result = acting.as_mut().map_or(Ok(()), |c| c.release(self));
            if let Ok(control) = self.slot_mut(id) {
                control.controller = acting;
            }
            return result;
        }
        Ok(())
    }

    /// Changes a number of a controller by name, such as `"target"`.
    ///
    /// # Errors
    /// There is no such controller, or it is the one that is acting, or it has no number of that name.
    pub fn set_controller(
        &mut self,
        id: ControllerId,
        what: &'static str,
        value: f64,
    ) -> Result<(), WorldError> {
        let control = self.control_mut(id)?;
        let known = control.controller.as_mut().is_some_and(|c| c.set(what, value));
        if known { Ok(()) } else { Err(WorldError::UnknownSetting { id: id.0, what }) }
    }

    /// A controller, if it is there and not acting.
    #[must_use]
    pub fn controller(&self, id: ControllerId) -> Option<&dyn Controller> {
        self.controllers.get(id.0 as usize)?.as_ref()?.controller.as_deref()
    }

    /// True if a controller is there and switched on.
    #[must_use]
    pub fn is_enabled(&self, id: ControllerId) -> bool {
        self.controllers.get(id.0 as usize).and_then(Option::as_ref).is_some_and(|c| c.enabled)
    }

    /// All controllers with their times: for steppers.
    pub fn controllers(&self) -> impl Iterator<Item = (ControllerId, &Timer)> {
        self.controllers
            .iter()
            .enumerate()
            .filter_map(|(k, c)| Some((ControllerId(k as u32), &c.as_ref()?.timer)))
    }

    /// Times of a controller, if it is there: for steppers.
    #[must_use]
    pub fn controller_timer(&self, id: ControllerId) -> Option<&Timer> {
        Some(&self.controllers.get(id.0 as usize)?.as_ref()?.timer)
    }

    fn slot_mut(&mut self, id: ControllerId) -> Result<&mut Control, WorldError> {
        let slot = self.controllers.get_mut(id.0 as usize).and_then(Option::as_mut);
        slot.ok_or(WorldError::UnknownController { id: id.0 })
    }

    /// A controller that is not acting.
    fn control_mut(&mut self, id: ControllerId) -> Result<&mut Control, WorldError> {
        let control = self.slot_mut(id)?;
        if control.controller.is_some() {
            Ok(control)
        } else {
            Err(WorldError::UnknownController { id: id.0 })
        }
    }
}

impl StepperAccess<'_> {
    /// Lets a controller act at the world's time, which must be one of its times: for steppers.
    ///
    /// # Errors
    /// What the controller reports.
    pub fn run_controller(&mut self, id: ControllerId) -> Result<(), WorldError> {
        let time = self.world.time;
        let Ok(control) = self.world.slot_mut(id) else { return Ok(()) };
        let count = control.timer.count;
        control.timer.count += 1;
        if !control.enabled {
            return Ok(());
        }
        let Some(mut acting) = control.controller.take() else { return Ok(()) };
        self.world.list(Event { time, kind: EventKind::Controlled { controller: id, count } });
        let result = acting.update(self.world);
        if let Ok(control) = self.world.slot_mut(id) {
            control.controller = Some(acting);
        }
        result
    }
}
