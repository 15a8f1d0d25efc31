//! Chainable setters for parameters.

/// Writes a setter for each field of a struct: it takes the struct and gives it back with another value. `name @optional: T` is a field of type `Option<T>`,
/// set by a `T` or by `None`.
macro_rules! setters {
    ($($name:ident $(@$optional:tt)?: $kind:ty),+ $(,)?) => { $( $crate::setters::setters!(one $($optional)? $name: $kind); )+ };
    (one $name:ident: $kind:ty) => {
        #[doc = concat!("With another [`", stringify!($name), "`](Self#structfield.", stringify!($name), ").")]
        #[must_use]
        pub fn $name(mut self, $name: $kind) -> Self {
            self.$name = $name;
            self
        }
    };
    (one optional $name:ident: $kind:ty) => {
        #[doc = concat!("With another [`", stringify!($name), "`](Self#structfield.", stringify!($name), "), or `None`.")]
        #[must_use]
        pub fn $name(mut self, $name: impl Into<Option<$kind>>) -> Self {
            self.$name = $name.into();
            self
        }
    };
}

pub(crate) use setters;
