import PandoModels
import PandoStore

/// The nodes and lists that recent commits changed, each with its last commit.
struct JudgingWindow {
  /// The commit after which the window is complete.
  private var start: UInt64?
  /// The last commit of the window.
  private var last: UInt64 = 0
  private var nodes: [ByteString: UInt64] = [:]
  private var lists: [ByteString: UInt64] = [:]

  /// Extends the window to all commits after a given one.
  mutating func open(after commit: UInt64, _ transaction: borrowing ModelTransaction) throws {
    let newest = transaction.commitValue
    // The window ignores earlier commits: the change log may have dropped them.
    if start.map({ $0 > commit }) ?? true || last < commit
      || nodes.count + lists.count > Self.countMaximum
    {
      self = JudgingWindow()
      (start, last) = (commit, commit)
    }
    guard last < newest else { return }
    for changeSet in try transaction.snapshot.changes(since: CommitNumber(value: last)) {
      note(changeSet)
    }
    last = newest
  }

  /// The number of names at which the window starts again.
  private static let countMaximum = 100_000

  mutating func note(_ changeSet: ChangeSet) {
    // A later entry reads the commits in between.
    guard start != nil, changeSet.commitNumber.value == last + 1 else { return }
    last += 1
    for names in [changeSet.updated, changeSet.inserted, changeSet.deleted] {
      for name in names { nodes[ByteString(name)] = changeSet.commitNumber.value }
    }
    for list in changeSet.collections {
      lists[ByteString(list.cacheKey)] = changeSet.commitNumber.value
    }
  }

  /// Whether another machine changed something after a commit that a write has changed too.
  ///
  /// - Parameters:
  ///   - keys: The nodes and lists that the write has changed.
  ///   - base: The last commit of other machines that the write had seen.
  ///   - own: The first commit of the write's own entry; the write had seen this and later ones too.
  /// - Returns: Whether the write must be refused.
  func conflicts(_ keys: WriteKeys, after base: UInt64, before own: UInt64) -> Bool {
    func isLater(_ commit: UInt64?) -> Bool { commit.map { $0 > base && $0 < own } ?? false }
    return keys.nodes.contains { isLater(nodes[$0]) } || keys.lists.contains { isLater(lists[$0]) }
  }

  /// Whether a migration had not seen a record of its type, because another machine changed it after a commit.
  func conflicts(
    _ schemas: [WriteEffects.Schema], after base: UInt64,
    _ transaction: borrowing ModelTransaction
  ) throws -> Bool {
    for schema in schemas where schema.migratedFrom != nil {
      for (name, commit) in nodes where commit > base {
        if try transaction.hasRecord(ofType: schema.typeName, name.text) { return true }
      }
    }
    return false
  }
}

/// The nodes and lists that a write has changed.
struct WriteKeys {
  private(set) var nodes: Set<ByteString> = []
  private(set) var lists: Set<ByteString> = []

  init() {}

  init(_ write: WriteEffects) {
    for name in write.removed { nodes.insert(ByteString(name)) }
    for node in write.nodes { nodes.insert(ByteString(node.identifier)) }
    for list in write.lists { lists.insert(ByteString(list.cacheKey)) }
  }

  func meets(_ other: WriteKeys) -> Bool {
    !nodes.isDisjoint(with: other.nodes) || !lists.isDisjoint(with: other.lists)
  }

  mutating func formUnion(_ other: WriteKeys) {
    nodes.formUnion(other.nodes)
    lists.formUnion(other.lists)
  }
}
