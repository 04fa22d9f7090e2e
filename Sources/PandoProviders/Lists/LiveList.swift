import PandoConsistency
import PandoModels

/// An ordered list whose elements have numbers: rows and models in two arrays of one length.
///
/// A row keeps its number as long as the element is in the list, whatever its place and contents.
struct LiveList<T: SimpleModel>: Sendable {
  var rows: [LiveRow] = []
  var models: [T] = []

  /// Finds the place of a row.
  ///
  /// - Complexity: O(*n*), one comparison of integers a row.
  func position(of row: LiveRow) -> Int? { rows.firstIndex(of: row) }

  /// Whether another list shows the same: as many elements, each equal to its counterpart.
  func isEqual(to models: [T]) -> Bool {
    self.models.count == models.count
      && zip(self.models, models).allSatisfy { $0.isEqual(to: $1) }
  }

  /// Carries out an edit.
  ///
  /// - Returns: How it is undone; its plan is `nothing` if the element it is about has gone.
  mutating func apply(_ edit: ListEdit<T>) -> ListStep<T> {
    carryOut(edit, edit.plan(in: rows))
  }

  /// Carries out an edit at places that are known already.
  mutating func carryOut(_ edit: ListEdit<T>, _ plan: ListPlan) -> ListStep<T> {
    let oldRows = rows.carryOut(plan, edit.rows)
    let oldModels = models.carryOut(plan, edit.models)
    return ListStep(plan: plan, oldRows: oldRows, oldModels: oldModels)
  }

  /// Takes back the newest edit that has not been taken back.
  mutating func undo(_ step: ListStep<T>) {
    rows.undo(step.plan, step.oldRows)
    models.undo(step.plan, step.oldModels)
  }
}

/// What an edit did to a list, and what it takes to undo it.
struct ListStep<T: SimpleModel>: Sendable {
  let plan: ListPlan
  /// The rows that were replaced or removed, in ascending order of their places.
  let oldRows: [LiveRow]
  /// Their models.
  var oldModels: [T]
}
