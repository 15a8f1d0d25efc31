//! Controllers of a world.

use super::{Change, World};
use crate::{
    access::StepperAccess,
    control::{Control, Controller, ControllerId},
    error::WorldError,
    events::{Event, EventKind, Timer},
};

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
        self.add_controller_at(Timer::every(period).starting(first), controller)
    }

    /// Adds a controller with times of its own, such as [`Timer::once`]; a first time in the past counts from the world's time.
    ///
    /// # Errors
    /// As [`World::add_controller`].
    pub fn add_controller_at(
        &mut self,
        times: Timer,
        controller: impl Controller + 'static,
    ) -> Result<ControllerId, WorldError> {
        let timer = self.check_timer(times, ["controller period", "controller start"])?;
        let control = Control { controller: Some(Box::new(controller)), timer, enabled: true };
        let id = self.controllers.insert(control);
        self.note(Change::Controller(id));
        Ok(id)
    }

    /// Removes a controller, which lets go of what it holds, and gives it back.
    ///
    /// # Errors
    /// There is no such controller, or it is the one that is acting.
    pub fn remove_controller(&mut self, id: ControllerId) -> Result<Box<dyn Controller>, WorldError> {
        self.switch_controller(id, false)?;
        let controller = self.control_mut(id)?.controller.take();
        self.controllers.remove(id);
        self.note(Change::Controller(id));
        controller.ok_or(WorldError::ControllerActing { id })
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
        if known { Ok(()) } else { Err(WorldError::UnknownSetting { id, what }) }
    }

    /// A controller, if it is there and not acting.
    #[must_use]
    pub fn controller(&self, id: ControllerId) -> Option<&dyn Controller> {
        self.controllers.get(id)?.controller.as_deref()
    }

    /// True if a controller is there and switched on.
    #[must_use]
    pub fn is_enabled(&self, id: ControllerId) -> bool {
        self.controllers.get(id).is_some_and(|c| c.enabled)
    }

    /// All controllers with their times: for steppers.
    pub fn controllers(&self) -> impl Iterator<Item = (ControllerId, &Timer)> {
        self.controllers.iter().map(|(id, control)| (id, &control.timer))
    }

    /// Times of a controller, if it is there: for steppers.
    #[must_use]
    pub fn controller_timer(&self, id: ControllerId) -> Option<&Timer> {
        Some(&self.controllers.get(id)?.timer)
    }

    fn slot_mut(&mut self, id: ControllerId) -> Result<&mut Control, WorldError> {
        self.controllers.get_mut(id).ok_or(WorldError::UnknownController { id })
    }

    /// A controller that is not acting.
    fn control_mut(&mut self, id: ControllerId) -> Result<&mut Control, WorldError> {
        let control = self.slot_mut(id)?;
        if control.controller.is_some() { Ok(control) } else { Err(WorldError::ControllerActing { id }) }
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
        // What it changed begins now, even if it failed after that.
        let begun = self.world.renew_motions();
        result.and(begun)
    }
}
