import FoundationEssentials
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// The shared state of one container's managers: the managers by type, and their followed queries and graphs, which
/// `close()` ends.
package final class FollowedScope: Sendable {
  private struct State {
    var managers: [ObjectIdentifier: WeakReference<any AnyObject & Sendable>] = [:]
    var entries: [UInt64: WeakReference<any LiveView>] = [:]
    var isClosed = false
  }

  /// Publishes changes of entities in memory in step with their followers.
  let providers: DataModelManager
  /// The store on disk; `nil` for a manager without a container.
  let store: ModelStore?
  private let state = Locked(State())
  private let clock = Locked<@Sendable () -> Int64> {
    Int64(Date().timeIntervalSince1970 * 1000)
  }

  /// Milliseconds since 1970.
  var now: Int64 { clock.withLock { $0 }() }

  func setClock(_ now: @escaping @Sendable () -> Int64) { clock.withLock { $0 = now } }

  /// Makes a scope without followers.
  ///
  /// - Parameters:
  ///   - providers: The manager of the container's providers; a new one without a container.
  ///   - store: The store on disk.
  init(_ providers: DataModelManager = DataModelManager(), store: ModelStore? = nil) {
    self.providers = providers
    self.store = store
  }

  /// Adds the manager of a type.
  func add(_ manager: any AnyObject & Sendable, of type: any Entity.Type) {
    state.withLock { $0.managers[ObjectIdentifier(type)] = WeakReference(manager) }
  }

  /// The manager of a type; `nil` after the end of the container.
  func manager(of type: any Entity.Type) -> (any AnyObject & Sendable)? {
    state.withLock { $0.managers[ObjectIdentifier(type)]?.object }
  }

  /// Adds a followed query or graph.
  func insert(_ followed: any LiveView) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.entries[followed.number] = WeakReference(followed) }
      return state.isClosed
    }
    if isClosed { followed.finish() }
  }

  func remove(_ number: UInt64) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

  /// The number of followed queries and graphs.
  var count: Int { state.withLock { $0.entries.count } }

  /// Ends all iterations, also later ones; each gets the last state first.
  func close() {
    let entries = state.withLock { state in
      state.isClosed = true
      defer { state.entries = [:] }
      return state.entries
    }
    for entry in entries.values { entry.object?.finish() }
  }
}
