package import PandoModels
package import PandoStore
import PandoSystem

/// Several commits that are shown in one step.
package final class CommitGroup {
  /// The last of them.
  package let number: UInt64
  /// Nodes that are there and have changed.
  package private(set) var changed: [ByteString] = []
  /// Those among them that were there before.
  package private(set) var updated: [ByteString] = []
  /// Nodes that were there and are not.
  package private(set) var deleted: [ByteString] = []
  /// Those among the changed ones that were gone in between: who showed one lost it, and shows what is
  /// there now if it can be read as its type.
  package private(set) var renewed: [ByteString] = []
  /// What happened to collections, commit by commit.
  package private(set) var collections: [(key: ByteString, changes: [CollectionChange])] = []
  /// The newest change set, with its context where it is of this process.
  package private(set) var newest: ChangeSet?
  /// Whether the change log does not reach back: everything has to be read.
  package private(set) var hasExpired = false
  /// Whether that is because a copy has replaced what was shown.
  let isReplaced: Bool
  /// How many of them are of other processes.
  let othersCount: Int
  /// The writes of this process among them, and the places between them.
  package let writes: [CommitEffects]

  /// The only commit, if this process made it and nothing else has to be shown.
  var only: CommitEffects? {
    guard writes.count == 1, othersCount == 0, !hasExpired, let write = writes.first,
      write.failure == nil, let changeSet = write.changeSet,
      changeSet.commitNumber.value == number
    else { return nil }
    return write
  }

  /// The models that the writes were given for some of the changed nodes, as they are stored now.
  ///
  /// - Parameter identifiers: The wanted nodes.
  /// - Returns: Empty if other processes made some of the commits. A missing node has to be read.
  func given(for identifiers: [ByteString]) -> [ByteString: any SimpleModel] {
    guard othersCount == 0, !hasExpired else { return [:] }
    var wanted = Set(identifiers)
    var found: [ByteString: any SimpleModel] = [:]
    // The nodes that the writes behind the present one have touched.
    var later: Set<ByteString> = []
    for write in writes.reversed() where !wanted.isEmpty && write.failure == nil {
      guard let changeSet = write.changeSet else { continue }
      let touched = (changeSet.updated + changeSet.inserted).map { ByteString($0) }
      let last = touched.filter { wanted.remove($0) != nil }
      if !last.isEmpty, let given = WrittenNodes(last, in: write.content) {
        for identifier in last {
          // A node inside the model may have changed since.
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

  /// Everything that they have touched.
  package var keys: [ByteString] { changed + deleted + collections.map(\.key) }

  /// Beyond so many commits, what happened to lists that nobody shows is not decoded.
  private static let wholeCountMaximum: UInt64 = 1000

  /// Folds the commits after a number; `showsList` says whether anybody shows the list with a cache key.
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
      // Where all are of this process, they are at hand.
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

  /// What commits have done, one after another.
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
