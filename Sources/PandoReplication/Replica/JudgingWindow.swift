import PandoModels
import PandoStore

/// What the last commits have changed, by node and by list.
struct JudgingWindow {
  /// The commit behind which all is known.
  private var start: UInt64?
  /// The last commit of which it is known.
  private var last: UInt64 = 0
  private var nodes: [ByteString: UInt64] = [:]
  private var lists: [ByteString: UInt64] = [:]

  /// Learns all that came after a commit.
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

  /// With so many names it begins anew.
  private static let countMaximum = 100_000

  mutating func note(_ changeSet: ChangeSet) {
    // Others between are read when the next entry asks.
    guard start != nil, changeSet.commitNumber.value == last + 1 else { return }
    last += 1
    for names in [changeSet.updated, changeSet.inserted, changeSet.deleted] {
      for name in names { nodes[ByteString(name)] = changeSet.commitNumber.value }
    }
    for list in changeSet.collections {
      lists[ByteString(list.cacheKey)] = changeSet.commitNumber.value
    }
  }

  /// Tells whether something that a write has changed was changed by others after a commit.
  ///
  /// - Parameters:
  ///   - keys: What the write has changed.
  ///   - base: The last commit that it has seen of others.
  ///   - own: The first commit of its own entry: that and later ones it has seen too.
  /// - Returns: Whether the write has to be refused.
  func conflicts(_ keys: WriteKeys, after base: UInt64, before own: UInt64) -> Bool {
    func isLater(_ commit: UInt64?) -> Bool { commit.map { $0 > base && $0 < own } ?? false }
    return keys.nodes.contains { isLater(nodes[$0]) } || keys.lists.contains { isLater(lists[$0]) }
  }

  /// Tells whether a migration has not seen a record of its type, because others have changed it after a commit.
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

/// What a write has changed, by name.
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
