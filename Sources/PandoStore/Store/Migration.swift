public import PandoModels

/// A change of the stored records of one type, done once when a store is opened.
///
/// Most changes need none: a new optional field reads as nil, a new required one takes the default
/// that the type declares, and a renamed one is found by its former name.
public struct Migration: Sendable {
  /// The type whose records are changed.
  public let typeName: String
  /// The schema version that the records have afterwards, at least 1; the store remembers it.
  public let version: Int
  let transform: @Sendable (inout TreeNode) throws -> Void

  /// Declares a migration.
  ///
  /// - Parameters:
  ///   - typeName: The type whose records are changed.
  ///   - version: The version that the records have afterwards; migrations of a type run in the
  ///     order of their versions, each only if the store has not reached its version.
  ///   - transform: Changes the fields of one record. Children appear as `.reference`. It can't
  ///     change identifier or type. Throwing leaves the store as it was and fails the opening.
  public init(
    typeName: String, version: Int, transform: @escaping @Sendable (inout TreeNode) throws -> Void
  ) {
    precondition(version >= 1, "a migration to version \(version); versions begin at 1")
    self.typeName = typeName
    self.version = version
    self.transform = transform
  }
}
