import PandoModels
import PandoProviders
import PandoSystem

/// A cache in memory that remembers its calls.
final class DictionaryCache: CacheDelegate {
  private struct State {
    var models: [String: any SimpleModel] = [:]
    var collections: [String: [any SimpleModel]] = [:]
    var calls: [String] = []
    var contexts: [String?] = []
  }

  private let state = Locked(State())

  /// The calls that it got, in order.
  var calls: [String] { state.withLock { $0.calls } }
  /// The contexts of these calls.
  var contexts: [String?] { state.withLock { $0.contexts } }

  /// The models in it, read and set without a call.
  subscript(cacheKey: String) -> (any SimpleModel)? {
    get { state.withLock { $0.models[cacheKey] } }
    set { state.withLock { $0.models[cacheKey] = newValue } }
  }

  private func note(_ call: String, _ context: (any Sendable)?) {
    state.withLock { state in
      state.calls.append(call)
      state.contexts.append(context as? String)
    }
  }

  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    note("get \(cacheKey)", context)
    return self[cacheKey] as? T
  }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    note("set \(cacheKey)", context)
    self[cacheKey] = model
  }

  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? {
    note("get collection \(cacheKey)", context)
    return state.withLock { $0.collections[cacheKey] as? [T] }
  }

  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {
    note("set collection \(cacheKey)", context)
    state.withLock { $0.collections[cacheKey] = models }
  }

  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {
    note("delete \(cacheKey)", context)
    self[cacheKey] = nil
  }
}
