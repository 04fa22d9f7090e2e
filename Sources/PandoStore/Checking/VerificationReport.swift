/// What a verification found.
public struct VerificationReport: Sendable, Hashable, Codable {
  /// Something that is not as it must be.
  public struct Problem: Sendable, Hashable, Codable, CustomStringConvertible {
    /// What it is about: a page, a table, an identifier, a collection.
    public let subject: String
    /// What is wrong with it.
    public let reason: String

    /// Both in one line.
    public var description: String { "\(subject): \(reason)" }
  }

  /// The most problems that a report lists; a check goes no further.
  ///
  /// Damage comes in heaps, and nobody reads the thousandth line.
  public static var problemCountMaximum: Int { 100 }

  /// The problems found, at most ``problemCountMaximum``; empty if the store is sound.
  public internal(set) var problems: [Problem] = []
  /// The commit that was checked.
  public internal(set) var commitNumber: UInt64 = 0
  /// Pages of the file that were walked.
  public internal(set) var pageCount = 0
  /// Nodes that were checked.
  public internal(set) var nodeCount = 0
  /// Records that were checked.
  public internal(set) var recordCount = 0
  /// Edges that were found on both sides: in a record or collection, and in the dependency index.
  public internal(set) var edgeCount = 0
  /// Collections that were checked.
  public internal(set) var collectionCount = 0
  /// Elements of collections that were checked.
  public internal(set) var elementCount = 0

  /// Whether nothing was found.
  public var isClean: Bool { problems.isEmpty }
}
