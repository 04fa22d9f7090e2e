import PandoModels
import PandoSystem

/// The local stores before the deciding one, which follow it.
///
/// A write that the deciding store has taken stands, also if a nearer store then fails. Reads pass over
/// such a store until it has taken the values that it missed; each later write sends them again.
struct NearerStores<E: Entity>: Sendable {
  /// The entities whose newest value a store has refused.
  private struct Gap {
    var identifiers: Set<EntityIdentifier<E>> = []
    /// Whether there were too many of them to send them again; the store is then left out for good.
    var isTooLarge = false

    var isEmpty: Bool { identifiers.isEmpty && !isTooLarge }
  }

  /// The most entities that are sent again, which bounds the memory that a dead store costs.
  private static var missedCountMaximum: Int { 10_000 }

  private let stores: [any LocalStoring<E>]
  private let gaps: Locked<[Gap]>
  private let events: ManagerEventHandler?

  init(_ stores: [any LocalStoring<E>], events: ManagerEventHandler?) {
    self.stores = stores
    self.events = events
    gaps = Locked(stores.map { _ in Gap() })
  }

  var isEmpty: Bool { stores.isEmpty }

  /// The stores that have missed nothing, the nearest first.
  var current: [any LocalStoring<E>] {
    gaps.withLock { gaps in stores.indices.filter { gaps[$0].isEmpty } }.map { stores[$0] }
  }

  /// Writes to the stores what the deciding one has stored and removed; calls must not overlap.
  ///
  /// - Parameters:
  ///   - stored: The stored values.
  ///   - gone: The entities that it does not hold.
  ///   - unsure: Entities whose values are read from it.
  ///   - last: The deciding store.
  func follow(
    _ stored: [E] = [], gone: [EntityIdentifier<E>] = [], unsure: [EntityIdentifier<E>] = [],
    from last: any LocalStoring<E>
  ) async {
    for index in stores.indices {
      let gap = gaps.withLock { $0[index] }
      guard !gap.isTooLarge else { continue }
      do {
        var (stored, gone) = (stored, gone)
        let unread = gap.identifiers.union(unsure)
        if !unread.isEmpty {
          let due = unread.union(stored.map(\.id)).union(gone)
          stored = try await last.get(withQuery: Query(ids: Array(due)), in: .local).entities
          gone = Array(due.subtracting(stored.map(\.id)))
        }
        if !stored.isEmpty { _ = try await stores[index].set(stored, in: .local) }
        if !gone.isEmpty { try await stores[index].remove(gone, in: .local) }
        if !gap.isEmpty { gaps.withLock { $0[index] = Gap() } }
      } catch {
        note(stored.map(\.id) + gone + unsure, at: index)
        events?(ManagerEvent(.failedStore, E.modelTypeName, error))
      }
    }
  }

  /// Notes entities that a store has refused.
  private func note(_ missed: [EntityIdentifier<E>], at index: Int) {
    gaps.withLock { gaps in
      gaps[index].identifiers.formUnion(missed)
      guard gaps[index].identifiers.count > Self.missedCountMaximum else { return }
      gaps[index] = Gap(isTooLarge: true)
    }
  }
}
