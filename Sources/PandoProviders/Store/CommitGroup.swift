package import PandoModels
package import PandoStore
import PandoSystem

/// Several commits that are shown in one step.
package final class CommitGroup {
  /// The number of the last commit.
  package let number: UInt64
  /// Inserted and updated nodes that exist after the last commit.
  package private(set) var changed: [ByteString] = []
  /// The nodes among `changed` that existed before.
  package private(set) var updated: [ByteString] = []
  /// Nodes that do not exist after the last commit.
  package private(set) var deleted: [ByteString] = []
  /// The nodes among `changed` that were deleted in between.
  ///
  /// Live trees lose such a node. They show the new one if it can be read as their type.
  package private(set) var renewed: [ByteString] = []
  /// The changes of collections, in the order of the commits.
  package private(set) var collections: [(key: ByteString, changes: [CollectionChange])] = []
  /// The newest change set.
  ///
  /// It has a context if this process made it.
  package private(set) var newest: ChangeSet?
  /// True if the change log does not reach back, so that everything has to be read.
  package private(set) var hasExpired = false
  /// True if a copy has replaced the shown data.
  package let isReplaced: Bool
  /// The count of commits by other processes.
  let othersCount: Int
  /// The writes of this process in the group, with writes that changed nothing.
  package let writes: [CommitEffects]

  /// The only write, if this process made it and nothing else has to be shown.
  var only: CommitEffects? {
    guard writes.count == 1, othersCount == 0, !hasExpired, let write = writes.first,
      write.failure == nil, let changeSet = write.changeSet,
      changeSet.commitNumber.value == number
    else { return nil }
    return write
  }

  /// Returns models that were passed to the writes, if they equal the stored ones.
  ///
  /// - Parameter identifiers: The wanted nodes.
  /// - Returns: The models found. A missing node has to be read. Empty if other processes made some
  ///   of the commits.
  func given(for identifiers: [ByteString]) -> [ByteString: any SimpleModel] {
    guard othersCount == 0, !hasExpired else { return [:] }
    var wanted = Set(identifiers)
    var found: [ByteString: any SimpleModel] = [:]
    // The nodes that the writes after the current one have changed.
    var later: Set<ByteString> = []
    for write in writes.reversed() where !wanted.isEmpty && write.failure == nil {
      guard let changeSet = write.changeSet else { continue }
      let touched = (changeSet.updated + changeSet.inserted).map { ByteString($0) }
      let last = touched.filter { wanted.remove($0) != nil }
      if !last.isEmpty, let given = WrittenNodes(last, in: write.content) {
        for identifier in last {
          // A later write may have changed a node inside the model.
          guard let model = given[identifier],
            later.isEmpty || later.isDisjoint(with: model.nodeIdentifiers)
          else { continue }
          found[identifier] = model
        }
      }
      later.formUnion(touched)
      later.formUnion(changeSet.deleted.map { ByteString($0) })
    }
    return found
  }

  /// All changed keys.
  package var keys: [ByteString] { changed + deleted + collections.map(\.key) }

  /// The maximum number of commits whose changes of all lists are decoded.
  ///
  /// Beyond it, only changes of shown lists are decoded.
  private static let wholeCountMaximum: UInt64 = 1000

  /// Combines the commits after a number; `showsList` returns true for a cache key with a live
  /// list.
  init(
    _ writes: [CommitEffects], since shown: UInt64, upTo number: UInt64, in snapshot: ModelSnapshot,
    isReplaced: Bool = false, showsList: (ByteString) -> Bool
  ) throws {
    self.writes = writes
    self.number = number
    self.isReplaced = isReplaced
    let own = writes.compactMap(\.changeSet)
    othersCount = max(Int(number - min(shown, number)) - own.count, 0)
    if isReplaced {
      hasExpired = true
      return
    }
    do {
      // The change sets of own writes are in memory; others are read from the change log.
      let count = number - min(shown, number)
      if own.count == count {
        fold(own)
      } else if count <= Self.wholeCountMaximum {
        fold(try snapshot.changes(since: CommitNumber(value: min(shown, number))))
      } else {
        var folding = Folding()
        try snapshot.forEachChangeSet(since: shown, wanting: showsList) { folding.add($0) }
        end(folding)
      }
    } catch let error as StoreError where error.code == .changesExpired {
      hasExpired = true
    }
    if let last = own.last, last.commitNumber.value == number { newest = last }
  }

  private func fold(_ changeSets: [ChangeSet]) {
    newest = changeSets.last
    if changeSets.count == 1, let only = changeSets.last {
      updated = only.updated.map { ByteString($0) }
      changed = updated + only.inserted.map { ByteString($0) }
      deleted = only.deleted.map { ByteString($0) }
      collections = only.collections.map { (ByteString($0.cacheKey), [$0.change]) }
      return
    }
    var folding = Folding()
    for changeSet in changeSets { folding.add(changeSet) }
    end(folding)
  }

  private func end(_ folding: Folding) {
    let isThere = folding.isThere
    newest = folding.newest
    changed = isThere.filter(\.value).map(\.key).ordered()
    updated = changed.filter { folding.wasUpdated.contains($0) }
    deleted = isThere.filter { !$0.value }.map(\.key).ordered()
    renewed = folding.wasDeleted.filter { isThere[$0] == true }.ordered()
    collections = folding.changes.keys.ordered().map { ($0, folding.changes[$0] ?? []) }
  }

  /// Combines change sets, one after another.
  private struct Folding {
    var newest: ChangeSet?
    var isThere: [ByteString: Bool] = [:]
    var wasUpdated: Set<ByteString> = []
    var wasDeleted: Set<ByteString> = []
    var changes: [ByteString: [CollectionChange]] = [:]

    mutating func add(_ set: ChangeSet) {
      newest = set
      for identifier in set.updated {
        isThere[ByteString(identifier)] = true
        wasUpdated.insert(ByteString(identifier))
      }
      for identifier in set.inserted { isThere[ByteString(identifier)] = true }
      for identifier in set.deleted {
        isThere[ByteString(identifier)] = false
        wasDeleted.insert(ByteString(identifier))
      }
      for entry in set.collections {
        changes[ByteString(entry.cacheKey), default: []].append(entry.change)
      }
    }
  }
}
