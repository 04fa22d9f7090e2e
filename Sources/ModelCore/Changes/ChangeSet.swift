public import Foundation

/// What one commit did.
///
/// Each identifier stands in one of the three sets at most. A change set can be encoded, so that other
/// processes learn of a commit; only ``context`` stays in the process.
public struct ChangeSet: Sendable {
  /// The number of the commit; each is one more than the one before.
  public let commitNumber: UInt64
  /// Identifiers of nodes whose own data changed.
  public let updated: Set<String>
  /// Identifiers of nodes that are new.
  public let inserted: Set<String>
  /// Identifiers of nodes that have gone.
  public let deleted: Set<String>
  /// What happened to ordered lists, by cache key.
  public let collections: [String: CollectionChange]
  /// Which opened store made the commit; `nil` if it is not known.
  public let author: String?
  /// When the commit was made.
  public let date: Date
  /// What the writer passed along; not encoded.
  public let context: (any Sendable)?

  /// Makes a change set.
  ///
  /// - Parameters:
  ///   - commitNumber: The number of the commit.
  ///   - updated: Identifiers of nodes whose own data changed.
  ///   - inserted: Identifiers of nodes that are new.
  ///   - deleted: Identifiers of nodes that have gone.
  ///   - collections: What happened to ordered lists, by cache key.
  ///   - author: Which opened store made the commit.
  ///   - date: When the commit was made.
  ///   - context: What the writer passed along.
  public init(
    commitNumber: UInt64, updated: Set<String> = [], inserted: Set<String> = [],
    deleted: Set<String> = [], collections: [String: CollectionChange] = [:],
    author: String? = nil, date: Date = Date(), context: (any Sendable)? = nil
  ) {
    self.commitNumber = commitNumber
    self.updated = updated
    self.inserted = inserted
    self.deleted = deleted
    self.collections = collections
    self.author = author
    self.date = date
    self.context = context
  }

  /// Whether the commit changed nothing that anybody can see.
  public var isEmpty: Bool {
    updated.isEmpty && inserted.isEmpty && deleted.isEmpty && collections.isEmpty
  }
}
