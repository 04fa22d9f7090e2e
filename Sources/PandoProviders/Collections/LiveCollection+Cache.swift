import PandoConsistency
import PandoSystem
import PandoModels

extension LiveCollection {
  func writeLoss(to cache: any CacheDelegate, context: (any Sendable)?) async throws {
    let models = state.withLock { state -> [T]? in
      guard exchange(&state.hasUnsavedLoss, with: false), state.isLoaded else { return nil }
      return state.list.models
    }
    guard let models, let cacheKey else { return }
    try await cache.setCollection(models, forKey: cacheKey, context: context)
  }
}
