/// Counts of changes that are applied in order.
///
/// ```swift
/// if case .changes(let changes) = collectionChanges {
///   header.count += changes.deltaNumberOfElements()
/// }
/// ```
/// An element that is inserted and removed again counts once each.
extension Collection where Element == CollectionChangeInformation {
  /// Returns the number of deletions.
  ///
  /// - Returns: The number of deletions.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfDeletedElements() -> Int { number(of: .delete) }

  /// Returns the number of insertions.
  ///
  /// - Returns: The number of insertions.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfInsertedElements() -> Int { number(of: .insert) }

  /// Returns the number of updates.
  ///
  /// - Returns: The number of updates; a moved element with new contents has one beside its move.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfUpdatedElements() -> Int { number(of: .update) }

  /// Returns the number of moves.
  ///
  /// - Returns: The number of moves.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfMovedElements() -> Int { number(of: .move) }

  /// Returns the change of the list's length.
  ///
  /// - Returns: Insertions minus deletions; negative if the list became shorter.
  /// - Complexity: O(*c*) for *c* changes.
  public func deltaNumberOfElements() -> Int {
    numberOfInsertedElements() - numberOfDeletedElements()
  }

  private func number(of kind: ChangeKind) -> Int { count { $0.kind == kind } }
}

/// The kind of a change, without its positions.
private enum ChangeKind {
  case update
  case delete
  case insert
  case move
}

extension CollectionChangeInformation {
  fileprivate var kind: ChangeKind {
    switch self {
    case .update: .update
    case .delete: .delete
    case .insert: .insert
    case .move: .move
    }
  }
}
