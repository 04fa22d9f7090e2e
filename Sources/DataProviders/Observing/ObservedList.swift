import ModelCore

/// A committed list: rows that keep their number as long as they are in it, and their models.
struct ObservedList<T: SimpleModel>: Sendable {
  var rows: [UInt32]
  var models: [T]

  /// What has to be applied to an older list to get this one.
  ///
  /// - Parameters:
  ///   - old: The older list.
  ///   - updated: The rows with other contents; `nil` if they are not known.
  /// - Returns: None if both show the same.
  func changes(
    since old: ObservedList, updated: [UInt32]?
  ) -> [CollectionChangeInformation] {
    RowDifference.changes(
      from: old.rows, to: rows, updated: updated ?? rowsUpdated(since: old))
  }

  private func rowsUpdated(since old: ObservedList) -> [UInt32] {
    var places: [UInt32: Int] = [:]
    for (place, row) in old.rows.enumerated() { places[row] = place }
    var updated: [UInt32] = []
    for (row, model) in zip(rows, models) {
      guard let place = places[row], !model.isEqual(to: old.models[place]) else { continue }
      updated.append(row)
    }
    return updated
  }
}
