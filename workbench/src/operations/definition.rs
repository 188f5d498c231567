//! The papers' definition of each operation, as a formula.

use super::formula::{Operation, Term};
use super::task::{Kind, Task};
use super::{baxter, exchange, tower};

impl Task {
    /// The papers' definition of the task.
    pub(super) fn definition(self) -> Operation {
        let n = self.n();
        match self.kind() {
            Kind::T => tower::t(n),
            Kind::TBar => tower::t_bar(n),
            Kind::S => tower::s(n),
            Kind::SBar => tower::s_bar(n),
            Kind::Four => tower::four_word(),
            Kind::C => exchange::c(n),
            Kind::X => exchange::x(n),
            Kind::Y => exchange::y(),
            Kind::YBar => exchange::y_bar(),
            Kind::Z => exchange::z(),
            Kind::W => exchange::w(),
            Kind::V => exchange::v(n),
            Kind::BaxterT => baxter::t(n),
            Kind::BaxterS => baxter::s(n),
            Kind::BaxterZ => baxter::z(n),
            Kind::BaxterU => baxter::u(n),
            Kind::BaxterZImproved => baxter::z_improved(n),
            Kind::BaxterUImproved => baxter::u_improved(n),
        }
    }
}

impl Operation {
    /// The operations of which this one consists, in their order: those of a sequence, or those by
    /// which the papers define a task. Empty for a word, a part of an operation, and a task that is
    /// defined by its word.
    pub fn parts(&self) -> Vec<Operation> {
        let definition;
        let term = match &self.term {
            Term::Task(task) => {
                definition = task.definition();
                &definition.term
            }
            term => term,
        };
        let Term::Sequence(parts) = term else { return Vec::new() };
        let mut parts: Vec<Operation> =
            parts.iter().map(|part| part.clone().transformed(self.transform)).collect();
        if self.transform.inverse {
            parts.reverse();
        }
        parts
    }
}
