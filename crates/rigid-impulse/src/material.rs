//! Materials, and what two of them do when they meet.
//!
//! Friction and restitution belong to pairs; a table of pairs is what measurements give. Where the table has no entry, a rule
//! combines the numbers of both materials. The defaults, friction by geometric mean and restitution, rolling and torsional friction by maximum, are
//! conventions, not physics: the theses say nothing.

use crate::error::BodyError;

/// Surface and bulk of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Material {
    /// Coefficient of friction μ ≥ 0. Default 0.5.
    pub friction: f64,
    /// Coefficient of restitution 0 ≤ e ≤ 1. Default 0.2.
    pub restitution: f64,
    /// Density, kg/m³. Default 1000.
    pub density: f64,
    /// Rolling friction ≥ 0, m: the moment that resists rolling is this length times the normal force. Default 0.
    pub rolling_friction: f64,
    /// Torsional friction ≥ 0, m: the moment that resists spinning about the normal is this length times the normal force. Default 0.
    pub torsional_friction: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            friction: 0.5,
            restitution: 0.2,
            density: 1000.0,
            rolling_friction: 0.0,
            torsional_friction: 0.0,
        }
    }
}

impl Material {
    /// A material of the given friction, restitution and density (kg/m³).
    ///
    /// # Errors
    /// A number that is not finite, a negative coefficient, restitution above 1, or a density that is not positive.
    pub fn new(friction: f64, restitution: f64, density: f64) -> Result<Self, BodyError> {
        check_pair(friction, restitution)?;
        if !density.is_finite() {
            return Err(BodyError::NonFinite { what: "density", value: density });
        }
        if density <= 0.0 {
            return Err(BodyError::NotPositive { what: "density", value: density });
        }
        Ok(Self { friction, restitution, density, ..Self::default() })
    }

    /// The same with friction against rolling and against spinning about the normal, m; see the fields.
    ///
    /// # Errors
    /// A length that is negative or not finite.
    pub fn with_turning_friction(self, rolling: f64, torsional: f64) -> Result<Self, BodyError> {
        check_turning_friction(rolling, torsional)?;
        Ok(Self { rolling_friction: rolling, torsional_friction: torsional, ..self })
    }

    /// The same material, if its numbers can be: fields may have been set one by one.
    ///
    /// # Errors
    /// As [`Material::new`].
    pub fn checked(self) -> Result<Self, BodyError> {
        Self::new(self.friction, self.restitution, self.density)?
            .with_turning_friction(self.rolling_friction, self.torsional_friction)
    }
}

/// `Ok` for lengths (m) that rolling and torsional friction can have.
///
/// # Errors
/// A length that is negative or not finite.
pub fn check_turning_friction(rolling: f64, torsional: f64) -> Result<(), BodyError> {
    for (what, value) in [("rolling friction", rolling), ("torsional friction", torsional)] {
        if !value.is_finite() {
            return Err(BodyError::NonFinite { what, value });
        }
        if value < 0.0 {
            return Err(BodyError::Negative { what, value });
        }
    }
    Ok(())
}

fn check_pair(friction: f64, restitution: f64) -> Result<(), BodyError> {
    for (what, value) in [("friction", friction), ("restitution", restitution)] {
        if !value.is_finite() {
            return Err(BodyError::NonFinite { what, value });
        }
        if value < 0.0 {
            return Err(BodyError::Negative { what, value });
        }
    }
    if restitution > 1.0 {
        return Err(BodyError::AboveOne { what: "restitution", value: restitution });
    }
    Ok(())
}

/// How two coefficients become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Combine {
    /// √(x y): one slippery surface is enough to slip.
    GeometricMean,
    /// (x + y)/2.
    Average,
    /// x y.
    Product,
    /// The smaller.
    Least,
    /// The larger.
    Greatest,
}

impl Combine {
    /// The coefficient of a pair.
    #[must_use]
    pub fn apply(self, x: f64, y: f64) -> f64 {
        match self {
            Self::GeometricMean => (x * y).sqrt(),
            Self::Average => 0.5 * (x + y),
            Self::Product => x * y,
            Self::Least => x.min(y),
            Self::Greatest => x.max(y),
        }
    }
}

/// Name of a material in a [`MaterialTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MaterialId(pub u32);

/// What two surfaces do together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SurfacePair {
    /// Coefficient of friction μ ≥ 0.
    pub friction: f64,
    /// Coefficient of restitution 0 ≤ e ≤ 1.
    pub restitution: f64,
}

/// Materials, combine rules, and exceptions for pairs.
///
/// ```
/// use rigid_impulse::{Material, MaterialTable, SurfacePair};
///
/// let mut table = MaterialTable::default();
/// let steel = table.add(Material::new(0.4, 0.6, 7800.0)?);
/// let ice = table.add(Material::new(0.1, 0.3, 917.0)?);
/// assert_eq!(table.pair(steel, ice), Some(SurfacePair { friction: 0.2, restitution: 0.6 }));
/// table.set_pair(ice, steel, SurfacePair { friction: 0.03, restitution: 0.5 })?;
/// assert_eq!(table.pair(steel, ice).map(|p| p.friction), Some(0.03));
/// # Ok::<(), rigid_impulse::BodyError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MaterialTable {
    materials: Vec<Material>,
    /// Sorted by pair, smaller id first.
    exceptions: Vec<((MaterialId, MaterialId), SurfacePair)>,
    /// Rule for friction. Default geometric mean.
    pub friction: Combine,
    /// Rule for restitution. Default greatest.
    pub restitution: Combine,
    /// Rule for rolling and torsional friction. Default greatest: the softer surface decides. Pairs have no exceptions.
    pub turning: Combine,
}

impl Default for MaterialTable {
    fn default() -> Self {
        Self {
            materials: Vec::new(),
            exceptions: Vec::new(),
            friction: Combine::GeometricMean,
            restitution: Combine::Greatest,
            turning: Combine::Greatest,
        }
    }
}

impl MaterialTable {
    /// Adds a material.
    pub fn add(&mut self, material: Material) -> MaterialId {
        self.materials.push(material);
        MaterialId((self.materials.len() - 1) as u32)
    }

    /// All materials, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (MaterialId, &Material)> {
        self.materials.iter().enumerate().map(|(k, m)| (MaterialId(k as u32), m))
    }

    /// A material by name.
    #[must_use]
    pub fn get(&self, id: MaterialId) -> Option<&Material> {
        self.materials.get(id.0 as usize)
    }

    /// True if a material has rolling or torsional friction.
    #[must_use]
    pub fn has_turning_friction(&self) -> bool {
        self.materials.iter().any(|m| m.rolling_friction > 0.0 || m.torsional_friction > 0.0)
    }

    /// Overrides the rules for a pair, in either order.
    ///
    /// # Errors
    /// A coefficient that is negative or not finite, or restitution above 1.
    pub fn set_pair(&mut self, x: MaterialId, y: MaterialId, pair: SurfacePair) -> Result<(), BodyError> {
        check_pair(pair.friction, pair.restitution)?;
        let key = (x.min(y), x.max(y));
        match self.exceptions.binary_search_by_key(&key, |(k, _)| *k) {
            Ok(n) => self.exceptions[n].1 = pair,
            Err(n) => self.exceptions.insert(n, (key, pair)),
        }
        Ok(())
    }

    /// What two materials do together, the same in either order; `None` if one of them does not exist.
    #[must_use]
    pub fn pair(&self, x: MaterialId, y: MaterialId) -> Option<SurfacePair> {
        let (p, q) = (self.get(x.min(y))?, self.get(x.max(y))?);
        let key = (x.min(y), x.max(y));
        if let Ok(n) = self.exceptions.binary_search_by_key(&key, |(k, _)| *k) {
            return Some(self.exceptions[n].1);
        }
        Some(SurfacePair {
            friction: self.friction.apply(p.friction, q.friction),
            restitution: self.restitution.apply(p.restitution, q.restitution),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_do_what_they_say_in_either_order() {
        for (rule, expected) in [
            (Combine::GeometricMean, 0.4),
            (Combine::Average, 0.5),
            (Combine::Product, 0.16),
            (Combine::Least, 0.2),
            (Combine::Greatest, 0.8),
        ] {
            assert!((rule.apply(0.2, 0.8) - expected).abs() < 1e-15, "{rule:?}");
            assert_eq!(rule.apply(0.2, 0.8), rule.apply(0.8, 0.2));
        }
    }

    #[test]
    fn exceptions_beat_rules_and_bad_numbers_are_refused() {
        let mut table = MaterialTable::default();
        let ids: Vec<MaterialId> = (0..4).map(|_| table.add(Material::default())).collect();
        let odd = SurfacePair { friction: 1.5, restitution: 0.0 };
        table.set_pair(ids[3], ids[1], odd).unwrap();
        table.set_pair(ids[2], ids[0], SurfacePair { friction: 0.1, restitution: 0.9 }).unwrap();
        assert_eq!(table.pair(ids[1], ids[3]), Some(odd));
        assert_eq!(table.pair(ids[0], ids[1]), Some(SurfacePair { friction: 0.5, restitution: 0.2 }));
        assert_eq!(table.pair(ids[0], MaterialId(9)), None);
        let bad = SurfacePair { friction: -1.0, restitution: 0.0 };
        assert_eq!(
            table.set_pair(ids[0], ids[1], bad).unwrap_err().to_string(),
            "friction must not be negative, got -1"
        );
        assert_eq!(
            Material::new(0.1, 1.5, 1.0).unwrap_err().to_string(),
            "restitution must be at most 1, got 1.5"
        );
        assert!(table.set_pair(ids[0], ids[1], SurfacePair { friction: 0.0, restitution: 1.1 }).is_err());
        let soft = Material::default().with_turning_friction(0.01, -0.5).unwrap_err();
        assert_eq!(soft.to_string(), "torsional friction must not be negative, got -0.5");
        let odd = Material { rolling_friction: f64::NAN, ..Material::default() };
        assert_eq!(odd.checked().unwrap_err().to_string(), "rolling friction is not finite: NaN");
        assert!(!table.has_turning_friction());
        table.add(Material::default().with_turning_friction(0.0, 0.01).unwrap());
        assert!(table.has_turning_friction());
        assert!(Material::new(0.1, f64::NAN, 1.0).is_err() && Material::new(0.1, 0.1, 0.0).is_err());
    }
}
