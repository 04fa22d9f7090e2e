import FoundationEssentials
import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// What the managers of one container share: what is followed through them, so that it ends with the
/// container's `close()`, and each other.
package final class ContinuousScope: Sendable {
  private struct State {
    var managers: [ObjectIdentifier: WeakReference<any AnyObject & Sendable>] = [:]
    var entries: [UInt64: WeakReference<any Followed>] = [:]
    var isClosed = false
  }

  /// Shows entities in memory in step with those who follow them.
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

  /// Begins with nothing.
  ///
  /// - Parameters:
  ///   - providers: Those of the container; of their own for a manager without one.
  ///   - store: The store on disk.
  init(_ providers: DataModelManager = DataModelManager(), store: ModelStore? = nil) {
    self.providers = providers
    self.store = store
  }

  /// Notes the manager of a type.
  func add(_ manager: any AnyObject & Sendable, of type: any Entity.Type) {
    state.withLock { $0.managers[ObjectIdentifier(type)] = WeakReference(manager) }
  }

  /// The manager of a type, while the container is there.
  func manager(of type: any Entity.Type) -> (any AnyObject & Sendable)? {
    state.withLock { $0.managers[ObjectIdentifier(type)]?.object }
  }

  /// Notes something that is followed from now on.
  func insert(_ followed: any Followed) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.entries[followed.number] = WeakReference(followed) }
      return state.isClosed
    }
    if isClosed { followed.finish() }
  }

  func remove(_ number: UInt64) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

  /// How many queries and graphs somebody follows.
  var count: Int { state.withLock { $0.entries.count } }

  /// Ends all iterations, also those to come; each still gets the last state first.
  func close() {
    let entries = state.withLock { state in
      state.isClosed = true
      defer { state.entries = [:] }
      return state.entries
    }
    for entry in entries.values { entry.object?.finish() }
  }
}
