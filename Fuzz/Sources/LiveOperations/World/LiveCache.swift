import Pando
import Synchronization

/// A cache in memory that takes its time.
final class LiveCache: CacheDelegate {
  private struct State {
    var models: [String: any SimpleModel] = [:]
    var collections: [String: [any SimpleModel]] = [:]
    var callCount = 0
  }

  private let state = Mutex(State())

  /// The elements that it holds.
  func elements<T: SimpleModel>(_ cacheKey: String, as type: T.Type) -> [T]? {
    state.withLock { $0.collections[cacheKey]?.compactMap { $0 as? T } }
  }

  /// The model that it holds.
  func model<T: SimpleModel>(_ cacheKey: String, as type: T.Type) -> T? {
    state.withLock { $0.models[cacheKey] as? T }
  }

  private func pass() async {
    let count = state.withLock { state in
      state.callCount += 1
      return state.callCount % 3
    }
    for _ in 0..<count { await Task.yield() }
  }

  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    await pass()
    return state.withLock { $0.models[cacheKey] as? T }
  }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    await pass()
    state.withLock { $0.models[cacheKey] = model }
  }

  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? {
    await pass()
    return state.withLock { $0.collections[cacheKey] as? [T] }
  }

  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    await pass()
    state.withLock { $0.collections[cacheKey] = models }
  }

  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {
    await pass()
    state.withLock { _ = $0.models.removeValue(forKey: cacheKey) }
  }
}
