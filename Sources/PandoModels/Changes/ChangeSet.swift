public import FoundationEssentials

/// What one commit did.
///
/// Each identifier stands in one of the three lists at most, in the order in which the write came to
/// it. They are lists because a `Set<String>` takes two identifiers for one where Unicode calls them
/// equivalent. A change set can be encoded, so that other
/// processes learn of a commit; only ``context`` stays in the process.
public struct ChangeSet: Sendable {
  /// The number of the commit; each is one more than the one before.
  public let commitNumber: UInt64
  /// Identifiers of nodes whose own data changed.
  public let updated: [String]
  /// Identifiers of nodes that are new.
  public let inserted: [String]
  /// Identifiers of nodes that have gone.
  public let deleted: [String]
  /// What happened to ordered lists, sorted by the bytes of their cache keys.
  public let collections: [CollectionUpdate]
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
  ///   - collections: What happened to ordered lists.
  ///   - author: Which opened store made the commit.
  ///   - date: When the commit was made.
  ///   - context: What the writer passed along.
  public init(
    commitNumber: UInt64, updated: [String] = [], inserted: [String] = [],
    deleted: [String] = [], collections: [CollectionUpdate] = [],
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

  /// What happened to one ordered list.
  ///
  /// - Parameter cacheKey: The key of the list, compared byte by byte.
  /// - Returns: Its change, or `nil` if the commit did not touch it.
  /// - Complexity: O(*c*) for *c* changed lists.
  public func change(ofCollection cacheKey: String) -> CollectionChange? {
    collections.first { $0.cacheKey.hasSameBytes(as: cacheKey) }?.change
  }
}
