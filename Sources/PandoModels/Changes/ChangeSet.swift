public import FoundationEssentials

/// What one commit did.
///
/// ```swift
/// store.setCommitHandler { changes in
///   print(changes.commitNumber, changes.inserted, changes.updated, changes.deleted)
/// }
/// ```
///
/// Each identifier stands in one of the three lists at most, in the order in which the write came to
/// it. They are lists because a `Set<String>` takes two identifiers for one where Unicode calls them
/// equivalent. A change set can be encoded, so that other
/// processes learn of a commit; only ``context`` stays in the process.
public struct ChangeSet: Sendable {
  /// The number of the commit; each is one more than the one before.
  public private(set) var commitNumber: CommitNumber
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
  /// The records of inserted and updated nodes, where they were asked for; not encoded.
  ///
  /// A node has one for each type it is stored as, and none if it has gone since.
  public private(set) var records: [ChangedRecord] = []

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

  /// Whether the commit changed nothing that anybody can see.
  public var isEmpty: Bool {
    updated.isEmpty && inserted.isEmpty && deleted.isEmpty && collections.isEmpty
  }

  /// The same with records.
  package func with(_ records: [ChangedRecord]) -> ChangeSet {
    var copy = self
    copy.records = records
    return copy
  }

  /// The same with a commit number that names its history.
  package func with(_ number: CommitNumber) -> ChangeSet {
    var copy = self
    copy.commitNumber = number
    return copy
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

/// A record of a node that a commit has changed.
///
/// ```swift
/// for try await changes in store.changes(values: true) {
///   for record in changes.records { print(record.node.identifier, record.node.fields) }
/// }
/// ```
public struct ChangedRecord: Sendable {
  /// The record, its children as references.
  public let node: TreeNode
  /// As of which commit: the one that has changed it, or the newest when it was read.
  public let commitNumber: CommitNumber

  /// Makes a changed record.
  ///
  /// - Parameters:
  ///   - node: The record, its children as references.
  ///   - commitNumber: As of which commit.
  public init(node: TreeNode, commitNumber: CommitNumber) {
    self.node = node
    self.commitNumber = commitNumber
  }
}

/// What one commit did to one ordered list.
///
/// ```swift
/// for update in changes.collections {
///   print(update.cacheKey, update.change)
/// }
/// ```
public struct CollectionUpdate: Hashable, Sendable {
  /// The key of the list.
  public let cacheKey: String
  /// What happened to it.
  public let change: CollectionChange

  /// Makes the change of one list.
  ///
  /// - Parameters:
  ///   - cacheKey: The key of the list.
  ///   - change: What happened to it.
  public init(cacheKey: String, change: CollectionChange) {
    self.cacheKey = cacheKey
    self.change = change
  }
}

/// What happened to an ordered list.
///
/// ```swift
/// func collectionDataProviderHasUpdatedData<T>(
///   _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
///   context: (any Sendable)?
/// ) {
///   rows = rows.applying(collectionChanges, from: data) { Row($0) }
/// }
/// ```
/// The contents come from the list that the change leads to, which is told with it.
public enum CollectionChange: Hashable, Sendable {
  /// It was set as a whole, or removed.
  case reset
  /// It changed at these places, in this order.
  case changes([CollectionChangeInformation])
}

/// One change of an ordered list; several are applied one after another.
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
  /// The element at an index has other contents.
  case update(index: Int)
  /// The element at an index has gone.
  case delete(index: Int)
  /// An element has come in at an index.
  case insert(index: Int)
  /// An element has left one index and come in at another, which counts without it.
  ///
  /// It has the contents it had. If these have changed as well, an ``update(index:)`` of its new place
  /// follows among the changes that are told together.
  case move(from: Int, to: Int)
}
