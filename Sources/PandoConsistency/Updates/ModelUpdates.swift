/// The changes of one update to one tree.
///
/// ```swift
/// func modelUpdated(_ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?) {
///   if updates.changedModelIdentifiers.contains("Person:7") { redrawAuthor() }
/// }
/// ```
///
/// Each identifier occurs once, in one of the two lists only. They are arrays, because a
/// `Set<String>` treats identifiers as equal if they are equivalent in Unicode.
public struct ModelUpdates: Sendable, Equatable {
  /// The identifiers of changed nodes of the old tree and all their ancestors, parents first.
  public var changedModelIdentifiers: [String]
  /// The identifiers of deleted nodes, and of ancestors deleted because they require one.
  public var deletedModelIdentifiers: [String]

  /// Creates a description of changes.
  ///
  /// - Parameters:
  ///   - changedModelIdentifiers: The identifiers of changed nodes of the old tree.
  ///   - deletedModelIdentifiers: The identifiers of deleted nodes.
  public init(changedModelIdentifiers: [String] = [], deletedModelIdentifiers: [String] = []) {
    self.changedModelIdentifiers = changedModelIdentifiers
    self.deletedModelIdentifiers = deletedModelIdentifiers
  }
}
