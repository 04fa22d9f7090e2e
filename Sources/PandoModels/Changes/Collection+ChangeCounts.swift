/// Counts of changes that are applied one after another.
///
/// ```swift
/// if case .changes(let changes) = collectionChanges {
///   header.count += changes.deltaNumberOfElements()
/// }
/// ```
/// An element that came in and went again counts once each time.
extension Collection where Element == CollectionChangeInformation {
  /// Returns how many elements have gone.
  ///
  /// - Returns: The number of deletions.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfDeletedElements() -> Int { number(of: .delete) }

  /// Returns how many elements have come in.
  ///
  /// - Returns: The number of insertions.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfInsertedElements() -> Int { number(of: .insert) }

  /// Returns how often elements got other contents.
  ///
  /// - Returns: The number of updates; a moved element with other contents has one besides its move.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfUpdatedElements() -> Int { number(of: .update) }

  /// Returns how often elements went to other places.
  ///
  /// - Returns: The number of moves.
  /// - Complexity: O(*c*) for *c* changes.
  public func numberOfMovedElements() -> Int { number(of: .move) }

  /// Returns by how much the list has become longer: its count before and this is its count afterwards.
  ///
  /// - Returns: Insertions minus deletions; negative if the list has become shorter.
  /// - Complexity: O(*c*) for *c* changes.
  public func deltaNumberOfElements() -> Int {
    numberOfInsertedElements() - numberOfDeletedElements()
  }

  private func number(of kind: ChangeKind) -> Int { count { $0.kind == kind } }
}

/// What a change does, without its places.
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
