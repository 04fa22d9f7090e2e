public import FoundationEssentials

/// The changes of one commit.
///
/// ```swift
/// store.setCommitHandler { changes in
///   print(changes.commitNumber, changes.inserted, changes.updated, changes.deleted)
/// }
/// ```
///
/// Each identifier is in at most one of the three lists, in the order of the write. They are lists
/// because a `Set<String>` merges identifiers that Unicode considers equivalent. A change set can
/// be encoded for other processes, without its ``context``.
public struct ChangeSet: Sendable {
  /// The number of the commit; each is one higher than the previous one.
  public private(set) var commitNumber: CommitNumber
  /// Identifiers of nodes whose own data changed.
  public let updated: [String]
  /// Identifiers of new nodes.
  public let inserted: [String]
  /// Identifiers of deleted nodes.
  public let deleted: [String]
  /// The changes of ordered lists, sorted by the bytes of their cache keys.
  public let collections: [CollectionUpdate]
  /// The opened store that made the commit; `nil` if unknown.
  public let author: String?
  /// When the commit was made.
  public let date: Date
  /// The context passed by the writer; not encoded.
  public let context: (any Sendable)?
  /// The records of inserted and updated nodes, if requested; not encoded.
  ///
  /// ```swift
  /// for try await changes in store.changes(values: true) {
  ///   for record in changes.records { print(record.node.identifier, record.node.fields) }
  /// }
  /// ```
  ///
  /// A node has one for each of its types, and none if it was deleted since. Children are references.
  /// The commit number is that of the state: the commit itself, or the newest one when it was read.
  public private(set) var records: [(node: TreeNode, commitNumber: CommitNumber)] = []

  /// Makes a change set.
  ///
  /// - Parameters:
  ///   - commitNumber: The number of the commit.
  ///   - updated: Identifiers of nodes whose own data changed.
  ///   - inserted: Identifiers of new nodes.
  ///   - deleted: Identifiers of deleted nodes.
  ///   - collections: The changes of ordered lists.
  ///   - author: The opened store that made the commit.
  ///   - date: When the commit was made.
  ///   - context: The context passed by the writer.
  public init(
    commitNumber: CommitNumber, updated: [String] = [], inserted: [String] = [],
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

  /// Whether the commit has no visible change.
  public var isEmpty: Bool {
    updated.isEmpty && inserted.isEmpty && deleted.isEmpty && collections.isEmpty
  }

  /// A copy with records.
  package func with(_ records: [(node: TreeNode, commitNumber: CommitNumber)]) -> ChangeSet {
    var copy = self
    copy.records = records
    return copy
  }

  /// A copy with another commit number.
  package func with(_ number: CommitNumber) -> ChangeSet {
    var copy = self
    copy.commitNumber = number
    return copy
  }

  /// Returns the change of one ordered list.
  ///
  /// - Parameter cacheKey: The key of the list, compared byte by byte.
  /// - Returns: Its change; `nil` if the commit did not change it.
  /// - Complexity: O(*c*) for *c* changed lists.
  public func change(ofCollection cacheKey: String) -> CollectionChange? {
    collections.first { $0.cacheKey.hasSameBytes(as: cacheKey) }?.change
  }
}

/// The change of one ordered list in one commit.
///
/// ```swift
/// for update in changes.collections {
///   print(update.cacheKey, update.change)
/// }
/// ```
public struct CollectionUpdate: Hashable, Sendable {
  /// The key of the list.
  public let cacheKey: String
  /// The change.
  public let change: CollectionChange

  /// Makes the change of one list.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the list.
  ///   - change: The change.
  public init(cacheKey: String, change: CollectionChange) {
    self.cacheKey = cacheKey
    self.change = change
  }
}

/// A change of an ordered list.
///
/// ```swift
/// func collectionDataProviderHasUpdatedData<T>(
///   _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
///   context: (any Sendable)?
/// ) {
///   rows = rows.applying(collectionChanges, from: data) { Row($0) }
/// }
/// ```
/// The contents come from the resulting list, which is passed along.
public enum CollectionChange: Hashable, Sendable {
  /// The list was set as a whole, or removed.
  case reset
  /// The list changed at these positions, in this order.
  case changes([CollectionChangeInformation])
}

/// One change of an ordered list; several are applied in order.
///
/// ```swift
/// switch change {
/// case .update(let index): table.reload(index)
/// case .delete(let index): table.delete(index)
/// case .insert(let index): table.insert(index)
/// case .move(let from, let to): table.move(from, to)
/// }
/// ```
public enum CollectionChangeInformation: Hashable, Sendable {
  /// The element at an index has new contents.
  case update(index: Int)
  /// The element at an index was removed.
  case delete(index: Int)
  /// An element was inserted at an index.
  case insert(index: Int)
  /// An element was moved from an index to another one, which is counted without it.
  ///
  /// It keeps its contents. If these changed as well, an ``update(index:)`` at its new position
  /// follows in the same change.
  case move(from: Int, to: Int)
}
