import PandoConsistency
import PandoModels

extension LiveList {
  /// What has to be applied to an older list to get this one.
  ///
  /// - Parameters:
  ///   - old: The older list.
  ///   - updated: The rows that both have and whose contents are others; `nil` if they are not known:
  ///     then elements are compared, so that one that left and came back is the same one.
  /// - Returns: None if both show the same.
  func changes(since old: LiveList, updated: [LiveRow]?) -> [CollectionChangeInformation] {
    if let updated {
      return RowDifference.changes(from: old.rows, to: rows, updated: updated)
    }
    switch CollectionChange.difference(from: old.models, to: models) {
    case .changes(let changes): return changes
    case .reset: preconditionFailure("a difference of two lists is no reset")
    }
  }
}
