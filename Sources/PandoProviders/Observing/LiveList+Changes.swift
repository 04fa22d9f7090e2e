import PandoConsistency
import PandoModels

extension LiveList {
  /// Returns the changes from an older list to this one.
  ///
  /// - Parameters:
  ///   - old: The older list.
  ///   - updated: The rows of both lists whose contents differ. If `nil`, elements are compared, so
  ///     that an element that was removed and inserted again is unchanged.
  /// - Returns: An empty array if both lists show the same.
  func changes(since old: LiveList, updated: [LiveRow]?) -> [CollectionChangeInformation] {
    if let updated {
      return RowDifference.changes(from: old.rows, to: rows, updated: updated)
    }
    switch CollectionChange.difference(from: old.models, to: models) {
    case .changes(let changes): return changes
    case .reset: preconditionFailure("the difference of two lists is never a reset")
    }
  }
}
