//! Time that a run takes: on the wall, and of the processor, which a busy machine does not change.

use std::time::{Duration, Instant};

/// Wall and processor time of this thread.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { wall: Instant::now(), processor: processor() }
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Taken {
        let wall = self.wall.elapsed();
        let spent = self.processor.and_then(|start| processor()?.checked_sub(start));
        Taken { wall, processor: spent.unwrap_or(wall) }
    }
}

/// How long something took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Taken {
    /// On the wall.
    pub wall: Duration,
    /// Of the processor; the same as on the wall where the system does not tell.
    pub processor: Duration,
}

impl Taken {
    /// Without what something else took.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self {
            wall: self.wall.saturating_sub(other.wall),
            processor: self.processor.saturating_sub(other.processor),
        }
    }
}

impl std::ops::AddAssign for Taken {
    fn add_assign(&mut self, other: Self) {
        self.wall += other.wall;
        self.processor += other.processor;
    }
}

/// Processor time of this thread so far, to the microsecond or better, where the system tells.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn processor() -> Option<Duration> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(now.tv_sec.try_into().ok()?, now.tv_nsec.try_into().ok()?))
}

/// The system does not tell.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn processor() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_takes_wall_time_only_and_work_takes_both() {
        let clock = Clock::start();
        std::thread::sleep(Duration::from_millis(60));
        let asleep = clock.elapsed();
        assert!(asleep.wall >= Duration::from_millis(60));
        if clock.processor.is_none() {
            return;
        }
        assert!(asleep.processor < Duration::from_millis(40), "{asleep:?}");
        let mut x = 1.0_f64;
        while clock.elapsed().without(asleep).processor < Duration::from_millis(20) {
            x = (x * 1.000_1).sqrt();
        }
        assert!(clock.elapsed().without(asleep).wall >= Duration::from_millis(15), "{x}");
    }

    #[test]
    fn a_short_stretch_of_work_is_seen() {
        let clock = Clock::start();
        if clock.processor.is_none() {
            return;
        }
        for k in 1..=20_u64 {
            let before = clock.elapsed();
            let mut x = k;
            for _ in 0..100_000 {
                x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
            }
            assert!(clock.elapsed().without(before).processor > Duration::from_micros(5), "{k}: {x}");
        }
    }
}
