import ModelCore

/// A committed list: rows that keep their number as long as they are in it, and their models.
struct ObservedList<T: SimpleModel>: Sendable {
  var rows: [UInt32]
  var models: [T]

  /// What has to be applied to an older list to get this one.
  func changes(since old: ObservedList) -> [CollectionChangeInformation] {
    var places: [UInt32: Int] = [:]
    for (place, row) in old.rows.enumerated() { places[row] = place }
    var updated: [UInt32] = []
    for (row, model) in zip(rows, models) {
      guard let place = places[row], !model.isEqual(to: old.models[place]) else { continue }
      updated.append(row)
    }
    return RowDifference.changes(from: old.rows, to: rows, updated: updated)
  }
}
