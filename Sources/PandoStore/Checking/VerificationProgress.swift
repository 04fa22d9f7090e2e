/// How far a verification has come.
public struct VerificationProgress: Sendable {
  /// What is being checked.
  public enum Stage: String, Sendable {
    /// The pages of the file.
    case pages
    /// Nodes and their records.
    case records
    /// The dependency index.
    case edges
    /// Collections and their elements.
    case collections
  }

  /// What is being checked.
  public let stage: Stage
  /// How many rows or pages of this stage are done.
  public let completedCount: Int
  /// How many there are.
  public let totalCount: Int
}
