import PandoModels
import PandoStore

/// What all commits since a known one have touched.
struct CommitFold {
  /// The last of these commits.
  private(set) var number: UInt64
  /// The nodes that have changed or are new.
  private(set) var changed: [ByteString] = []
  /// The nodes that have gone.
  private(set) var deleted: [ByteString] = []
  /// Those of ``changed`` that were there before, and so may be inside other nodes.
  private(set) var updated: [ByteString] = []
  /// Whether all of it is unknown: the change log does not reach back so far, or can't be read.
  private(set) var isUnknown = false

  /// Looks at one commit, and at those that other processes have made before it.
  ///
  /// - Parameters:
  ///   - known: The last commit that is known.
  ///   - changeSet: What this process has committed; `nil` if it was nothing.
  ///   - snapshot: The store after it.
  init(since known: UInt64, _ changeSet: ChangeSet?, _ snapshot: ModelSnapshot) {
    number = max(known, changeSet?.commitNumber ?? known)
    do {
      number = try max(known, snapshot.commitNumber)
      if number == known { return }
      if let changeSet, number == known + 1 {
        add(changeSet)
      } else {
        join(try snapshot.changes(since: known))
      }
    } catch {
      isUnknown = true
    }
  }

  private mutating func add(_ changeSet: ChangeSet) {
    updated = changeSet.updated.map { ByteString($0) }
    changed = updated + changeSet.inserted.map { ByteString($0) }
    deleted = changeSet.deleted.map { ByteString($0) }
  }

  private mutating func join(_ changeSets: [ChangeSet]) {
    var isThere: [ByteString: Bool] = [:]
    var wasUpdated: Set<ByteString> = []
    for set in changeSets {
      for identifier in set.updated {
        isThere[ByteString(identifier)] = true
        wasUpdated.insert(ByteString(identifier))
      }
      for identifier in set.inserted { isThere[ByteString(identifier)] = true }
      for identifier in set.deleted { isThere[ByteString(identifier)] = false }
    }
    changed = isThere.filter(\.value).map(\.key)
    deleted = isThere.filter { !$0.value }.map(\.key)
    updated = changed.filter { wasUpdated.contains($0) }
  }
}
