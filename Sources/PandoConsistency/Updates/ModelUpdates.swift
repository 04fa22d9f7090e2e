/// What one update changed in one tree.
///
/// ```swift
/// func modelUpdated(_ model: (any Model)?, updates: ModelUpdates, context: (any Sendable)?) {
///   if updates.changedModelIdentifiers.contains("Person:7") { redrawAuthor() }
/// }
/// ```
///
/// Each identifier is named once, in one of the two lists only. They are lists and no sets because a
/// `Set<String>` takes two identifiers for one where Unicode calls them equivalent.
public struct ModelUpdates: Sendable, Equatable {
  /// Identifiers of the old tree whose node changed, and all their ancestors; a parent before its
  /// children.
  public var changedModelIdentifiers: [String]
  /// Identifiers that were deleted, with every ancestor that could not be without them.
  public var deletedModelIdentifiers: [String]

  /// Makes a description of what changed.
  ///
  /// - Parameters:
  ///   - changedModelIdentifiers: Identifiers of the old tree whose node changed.
  ///   - deletedModelIdentifiers: Identifiers that were deleted.
  public init(changedModelIdentifiers: [String] = [], deletedModelIdentifiers: [String] = []) {
    self.changedModelIdentifiers = changedModelIdentifiers
    self.deletedModelIdentifiers = deletedModelIdentifiers
  }
}
