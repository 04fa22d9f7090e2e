import Dispatch
import Locking
import ModelCore

/// A store in memory whose entities can be followed.
protocol FollowedMemory<E>: Sendable {
  associatedtype E: Entity

  /// All entities with their places in the natural order, and the place of the last write that they
  /// show.
  func present() -> (entities: [RankedEntity<E>], place: UInt64)
}

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

/// Who follows queries of one entity type in memory, whatever the type is.
private protocol MemoryFollowers: AnyObject, Sendable {
  /// How many queries are followed.
  var count: Int { get }

  /// Takes a query in, if it is of this type.
  func begins(_ query: any AnyObject & Sendable) -> Bool

  /// Reads the present entities of a query.
  func load(_ query: any AnyObject & Sendable)

  /// Holds a write against the queries.
  func take(_ commit: MemoryCommit, _ tally: inout HubTally)
}

private final class MemoryQueryFollowers<Memory: FollowedMemory>: MemoryFollowers {
  typealias E = Memory.E

  private let memory: Memory
  private let followers = QueryFollowers<E>()

  init(_ memory: Memory) { self.memory = memory }

  var count: Int { followers.count }

  func begins(_ query: any AnyObject & Sendable) -> Bool {
    guard let query = query as? LiveQuery<E> else { return false }
    followers.insert(query)
    query.endings.add { [weak followers, number = query.number] in followers?.remove(number) }
    return true
  }

  func load(_ query: any AnyObject & Sendable) {
    guard let query = query as? LiveQuery<E> else { return }
    do {
      let filling = try fill(query.followed)
      let window = QueryWindow(query.followed, filledWith: filling.entities)
      followers.add(nil, in: window, of: query)
      // Writes that it shows and that come behind it on the queue are left out by their places.
      _ = query.state.follow(window, at: filling.number)
      followers.hasLoaded(query)
    } catch {
      fail(query, error)
    }
  }

  func take(_ commit: MemoryCommit, _ tally: inout HubTally) {
    let changes = commit.changes.compactMap { change -> EntityChange<E>? in
      guard EntityIdentifier<E>(modelIdentifier: change.modelIdentifier) != nil else { return nil }
      let entity = (change.entity as? E).map { RankedEntity($0, rank: change.rank) }
      return EntityChange(ByteString(change.modelIdentifier), entity)
    }
    if changes.isEmpty { return }
    for (query, changes) in followers.concerned(by: changes) {
      tally.evaluations += changes.count
      var refills = 0
      do {
        let window = try query.stage(changes, at: commit.place) {
          refills += 1
          return try fill(query.followed)
        }
        tally.refills += refills
        guard let window else { continue }
        let candidates = refills > 0 || changes.count > 4 ? nil : changes
        followers.add(candidates, in: window, of: query)
        followers.remove(candidates, notIn: window, of: query)
        query.state.commit(window, context: nil)
      } catch {
        fail(query, error)
      }
    }
  }

  private func fill(
    _ followed: FollowedQuery<E>
  ) throws -> (entities: [RankedEntity<E>], number: UInt64) {
    let present = memory.present()
    let ranks = Dictionary(present.entities.map { ($0.identifier, $0.rank) }) { first, _ in first }
    let found = try followed.stored.apply(
      to: present.entities.sorted { $0.rank < $1.rank }.map(\.entity))
    let ranked = found.entities.map { entity in
      RankedEntity(entity, rank: ranks[ByteString(entity.id.modelIdentifier)] ?? .max)
    }
    return (followed.accepted(ranked), present.place)
  }

  private func fail(_ query: LiveQuery<E>, _ error: any Error) {
    followers.remove(query.number)
    query.state.fail(error)
  }
}
