//! Commands that run scenes.
//!
//! | module | command |
//! |---|---|
//! | [`run`] | `sim run` |
//! | [`batch`] | `sim run --repeat` |
//! | [`check`] | `sim check`, `sim list` |
//! | [`compare`] | `sim compare` |
//! | [`view`] | `sim view` |
//! | [`merge`] | `sim merge` |
//! | [`evolve`] | `sim evolve` |
//! | [`profile`] | where the time goes, for `--report` |
//! | [`film`], [`touches`], [`lookout`] | the recording of a run; its contacts; boxes and pairs of the broad phase |
//! | [`table`] | tables of a run |
//! | [`clock`], [`stability`], [`depths`] | what a run took; how still bodies stood; how deep they overlap |
//! | [`source`] | scenes from files, or built in by name |

pub mod batch;
pub mod check;
pub mod clock;
pub mod compare;
pub mod depths;
pub mod evolve;
pub mod film;
pub mod lookout;
pub mod merge;
pub mod profile;
pub mod run;
pub mod source;
pub mod stability;
pub mod table;
pub mod touches;
pub mod view;
