import PandoModels

/// Who follows queries of one entity type in memory, whatever the type is.
protocol MemoryFollowers: AnyObject, Sendable {
  /// How many queries are followed.
  var count: Int { get }

  /// Takes a query in, if it is of this type.
  func begins(_ query: any AnyObject & Sendable) -> Bool

  /// Reads the present entities of a query.
  func load(_ query: any AnyObject & Sendable)

  /// Holds a write against the queries.
  func take(_ commit: MemoryCommit, _ tally: inout HubTally)
}

/// Who follows queries of one entity type in memory.
final class MemoryQueryFollowers<Memory: FollowedMemory>: MemoryFollowers {
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
      _ = query.state.follow(window, at: filling.number) { followers.hasLoaded(query) }
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
