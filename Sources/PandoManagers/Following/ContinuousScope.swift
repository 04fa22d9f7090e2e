import PandoProviders
import PandoSystem
import PandoModels

/// What is followed through one container, so that it ends with the container's `close()`.
package final class ContinuousScope: Sendable {
  /// Something followed that is not kept alive.
  private struct Entry: Sendable {
    weak let followed: (any Followed)?
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var isClosed = false
  }

  /// Shows entities in memory in step with those who follow them.
  let providers: DataModelManager
  private let state = Locked(State())

  /// Begins with nothing.
  ///
  /// - Parameter providers: Those of the container; of their own for a manager without one.
  init(_ providers: DataModelManager = DataModelManager()) { self.providers = providers }

  /// Notes something that is followed from now on.
  func insert(_ followed: any Followed) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.entries[followed.number] = Entry(followed: followed) }
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
    for entry in entries.values { entry.followed?.finish() }
  }
}
