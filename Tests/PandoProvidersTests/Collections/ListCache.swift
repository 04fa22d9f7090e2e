import PandoModels
import PandoProviders
import PandoSystem

/// A cache that remembers each list that it was given, and fails when it is told to.
final class ListCache: CacheDelegate {
  struct Failure: Error {}

  private struct State {
    var lists: [String: [any SimpleModel]] = [:]
    var given: [[Contact]] = []
    var readCount = 0
    var failures: Set<Int> = []
    var writeCount = 0
  }

  private let state = Locked(State())

  /// The lists that were written, one after another.
  var given: [[Contact]] { state.withLock { $0.given } }
  /// How often a list was read.
  var readCount: Int { state.withLock { $0.readCount } }

  subscript(key: String) -> [Contact]? {
    get { state.withLock { $0.lists[key] as? [Contact] } }
    set { state.withLock { $0.lists[key] = newValue } }
  }

  /// Lets the write of a list fail.
  ///
  /// - Parameter number: Which one from now on; 0 is the next.
  func failWrite(_ number: Int) {
    state.withLock { _ = $0.failures.insert($0.writeCount + number) }
  }

  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? { nil }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? {
    state.withLock { state in
      state.readCount += 1
      return state.lists[cacheKey] as? [T]
    }
  }

  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    let fails = state.withLock { state in
      defer { state.writeCount += 1 }
      if state.failures.contains(state.writeCount) { return true }
      state.lists[cacheKey] = models
      if let contacts = models as? [Contact] { state.given.append(contacts) }
      return false
    }
    if fails { throw Failure() }
  }

  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {}
}
