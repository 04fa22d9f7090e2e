/// How far a migration has come.
public struct MigrationProgress: Sendable {
  /// The type whose records are being changed.
  public let typeName: String
  /// The version they will have.
  public let version: Int
  /// Records done so far.
  public let completedCount: Int
  /// Records in all.
  public let totalCount: Int
}
