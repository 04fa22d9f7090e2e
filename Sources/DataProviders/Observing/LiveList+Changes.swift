import Consistency
import ModelCore

extension LiveList {
  /// What has to be applied to an older list to get this one.
  ///
  /// - Parameters:
  ///   - old: The older list, with the same rows.
  ///   - updated: The rows with other contents; `nil` if they are not known.
  /// - Returns: None if both show the same.
  func changes(since old: LiveList, updated: [LiveRow]?) -> [CollectionChangeInformation] {
    RowDifference.changes(from: old.rows, to: rows, updated: updated ?? rowsUpdated(since: old))
  }

  private func rowsUpdated(since old: LiveList) -> [LiveRow] {
    var places: [LiveRow: Int] = [:]
    for (place, row) in old.rows.enumerated() { places[row] = place }
    var updated: [LiveRow] = []
    for (row, model) in zip(rows, models) {
      guard let place = places[row], !model.isEqual(to: old.models[place]) else { continue }
      updated.append(row)
    }
    return updated
  }
}
