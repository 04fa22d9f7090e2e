import PandoConsistency
import PandoModels
import PandoSystem

/// The changes of a commit by others to the committed list, with row numbers.
struct ListScript<T: SimpleModel>: Sendable {
  let changes: [CollectionChangeInformation]
  /// The rows after all changes.
  private(set) var rows: [LiveRow]
  /// The inserted rows, in the order of the changes.
  private(set) var inserted: [LiveRow] = []
  private(set) var deleted: Set<LiveRow> = []
  /// The new models of inserted and updated rows that remain in the list.
  private(set) var models: [LiveRow: T] = [:]

  /// The maximum number of changes applied in place; more changes rebuild the list.
  private static var stepsMaximum: Int { 32 }

  /// Computes the rows; returns `nil` if the changes don't fit the committed rows.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - models: The new models, by their positions after all changes.
  ///   - committed: The rows before the changes.
  ///   - newRows: One row number for each inserted element.
  init?(
    _ changes: [CollectionChangeInformation], _ models: [Int: T], on committed: [LiveRow],
    newRows: [LiveRow]
  ) {
    self.changes = changes
    rows = committed
    var fresh = newRows[...]
    for change in changes {
      switch change {
      case .update(let index):
        guard rows.indices.contains(index) else { return nil }
      case .delete(let index):
        guard rows.indices.contains(index) else { return nil }
        deleted.insert(rows.remove(at: index))
      case .insert(let index):
        guard (0...rows.count).contains(index), let row = fresh.popFirst() else { return nil }
        inserted.append(row)
        rows.insert(row, at: index)
      case .move(let from, let to):
        guard rows.indices.contains(from), rows.indices.contains(to) else { return nil }
        rows.insert(rows.remove(at: from), at: to)
      }
    }
    for (place, model) in models {
      guard rows.indices.contains(place) else { return nil }
      self.models[rows[place]] = model
    }
  }

  /// Gives an element that was removed and inserted again its former row.
  ///
  /// Members are then notified of a move instead of a deletion and an insertion.
  ///
  /// - Parameters:
  ///   - models: Returns the models of removed rows.
  ///   - kept: Removed rows that stay in the shown list.
  /// - Returns: The former row for each new one.
  @discardableResult
  mutating func keepRows(
    of models: ([LiveRow]) -> [(row: LiveRow, model: T)], besides kept: Set<LiveRow> = []
  ) -> [LiveRow: LiveRow] {
    if inserted.isEmpty || deleted.isEmpty { return [:] }
    var gone: [ByteString: LiveRow] = [:]
    for (row, model) in models(deleted.subtracting(kept).ordered()) {
      if let identifier = model.modelIdentifier { gone[ByteString(identifier)] = row }
    }
    var returning: [LiveRow: LiveRow] = [:]
    for row in inserted {
      guard let identifier = self.models[row]?.modelIdentifier else { continue }
      returning[row] = gone.removeValue(forKey: ByteString(identifier))
    }
    renumber(returning)
    return returning
  }

  /// Replaces the numbers of inserted rows.
  mutating func renumber(_ numbers: [LiveRow: LiveRow]) {
    if numbers.isEmpty { return }
    rows = rows.map { numbers[$0] ?? $0 }
    inserted = inserted.map { numbers[$0] ?? $0 }
    models = Dictionary(models.map { (numbers[$0] ?? $0, $1) }) { $1 }
  }

  /// Applies the changes to the committed list.
  func carryOut(on list: inout LiveList<T>) {
    if changes.count <= Self.stepsMaximum, inserted.allSatisfy({ models[$0] != nil }) {
      carryOutInPlace(on: &list)
      return
    }
    var old: [LiveRow: Int] = [:]
    for (place, row) in list.rows.enumerated() { old[row] = place }
    let before = list
    list.rows = rows
    list.models = rows.map { row in
      if let model = models[row] { return model }
      guard let place = old[row] else { preconditionFailure("a new row has no model") }
      return before.models[place]
    }
  }

  private func carryOutInPlace(on list: inout LiveList<T>) {
    var fresh = inserted[...]
    for change in changes {
      switch change {
      case .update(let index):
        if let model = models[list.rows[index]] { list.models[index] = model }
      case .delete(let index):
        list.rows.remove(at: index)
        list.models.remove(at: index)
      case .insert(let index):
        guard let row = fresh.popFirst(), let model = models[row] else { continue }
        list.rows.insert(row, at: index)
        list.models.insert(model, at: index)
      case .move(let from, let to):
        list.rows.insert(list.rows.remove(at: from), at: to)
        list.models.insert(list.models.remove(at: from), at: to)
      }
    }
  }
}
