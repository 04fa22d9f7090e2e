import PandoConsistency
import PandoModels

/// An ordered list with a row number for each element, kept in two arrays of equal length.
///
/// An element keeps its row number while it is in the list, also if it moves or its model changes.
struct LiveList<T: SimpleModel>: Sendable {
  var rows: [LiveRow] = []
  var models: [T] = []

  /// The element at a position.
  func element(at place: Int) -> ListElement<T> {
    ListElement(row: rows[place], place: place, model: models[place])
  }

  mutating func append(_ row: LiveRow, _ model: T) {
    rows.append(row)
    models.append(model)
  }

  /// Returns the position of a row; `nil` if the row is not in the list.
  ///
  /// - Complexity: O(*n*), one comparison of integers a row.
  func position(of row: LiveRow) -> Int? { rows.firstIndex(of: row) }

  /// Returns true if both lists have the same count and equal models at each position.
  func isEqual(to models: [T]) -> Bool {
    self.models.count == models.count
      && zip(self.models, models).allSatisfy { $0.isEqual(to: $1) }
  }

  /// Carries out an edit.
  ///
  /// - Returns: The step, which can be undone. Its plan is `nothing` if the element was removed before.
  mutating func apply(_ edit: ListEdit<T>) -> ListStep<T> {
    carryOut(edit, edit.plan(in: rows))
  }

  /// Carries out an edit at positions that the caller has computed.
  mutating func carryOut(_ edit: ListEdit<T>, _ plan: ListPlan) -> ListStep<T> {
    let oldRows = rows.carryOut(plan, edit.rows)
    let oldModels = models.carryOut(plan, edit.models)
    return ListStep(plan: plan, oldRows: oldRows, oldModels: oldModels)
  }

  /// Undoes the last step.
  mutating func undo(_ step: ListStep<T>) {
    rows.undo(step.plan, step.oldRows)
    models.undo(step.plan, step.oldModels)
  }
}

/// The effect of an edit on a list, with the data to undo it.
struct ListStep<T: SimpleModel>: Sendable {
  let plan: ListPlan
  /// The replaced or removed rows, in ascending order of their positions.
  let oldRows: [LiveRow]
  /// The models of `oldRows`, in the same order.
  var oldModels: [T]
}
