/// Why a benchmark could not be run, or may not be believed.
public struct BenchmarkError: Error, CustomStringConvertible {
  /// The kind of failure.
  public enum Kind: Sendable {
    /// The command line can't be understood.
    case usage
    /// Systems, or runs of one system, came to different results.
    case wrongResult
    /// A system failed.
    case system
  }

  /// The kind of failure.
  public let kind: Kind
  /// The subject, the place and the reason.
  public let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
