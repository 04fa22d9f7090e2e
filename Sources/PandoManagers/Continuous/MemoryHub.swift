import Dispatch
import PandoSystem
import PandoModels

/// Follows the entities of one container that are not on disk.
///
/// Writes are taken in one after another, away from the writer; a query that is filled later than a
/// write leaves that write out.
final class MemoryHub: EntityHub {
  private struct State {
    /// Who follows, by namespace of identifiers.
    var types: [ByteString: [any MemoryFollowers]] = [:]
    var tally = HubTally()
  }

  private let state = Locked(State())
  /// One after another: what is on it stands in the order of the writes of each store.
  private let queue = DispatchQueue(label: "pando.following.memory")

  init(_ feed: MemoryFeed) { feed.addObserver(self) }

  var tally: HubTally { state.withLock { $0.tally } }

  /// Says where the entities of a type are.
  ///
  /// *Precondition:* the type has one store.
  func follow<Memory: FollowedMemory>(_ memory: Memory) {
    let namespace = ByteString(Memory.E.identifierNamespace)
    let followers = MemoryQueryFollowers(memory)
    state.withLock { $0.types[namespace, default: []].append(followers) }
  }

  func begin<E: Entity>(_ query: LiveQuery<E>) {
    let namespace = ByteString(E.identifierNamespace)
    let followers = state.withLock { $0.types[namespace] ?? [] }
    for followers in followers where followers.begins(query) {
      queue.async { [weak query] in
        if let query { followers.load(query) }
      }
      return
    }
    query.state.fail(
      ManagerError(.noStore, E.modelTypeName, "no store in memory tells of changes of this type"))
  }

  /// Waits until all writes so far have been taken in.
  func drain() async {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume() }
    }
  }
}

extension MemoryHub: MemoryObserver {
  func committed(_ commit: MemoryCommit) {
    let types = state.withLock { $0.types }
    guard types.values.contains(where: { $0.contains { $0.count > 0 } }) else { return }
    queue.async { [self] in
      var tally = HubTally()
      for followers in types.values.joined() where followers.count > 0 {
        followers.take(commit, &tally)
      }
      state.withLock { $0.tally.add(tally) }
    }
  }
}
