import PandoModels
import PandoSystem

extension StoredEdit {
  /// Loads a collection from a custom cache, changes it and stores it.
  ///
  /// - Parameters:
  ///   - cache: The cache. The caller ensures that no other write runs meanwhile.
  ///   - cacheKey: The key of the collection.
  ///   - makes: True if inserted elements create a missing collection.
  ///   - mayBeAbsent: True if the edit of a missing element does nothing instead of throwing.
  ///   - context: Passed to the cache.
  /// - Throws: ``DataProviderError`` `superseded` if the edited element is missing,
  ///   `noSuchCollection`; any error of the cache.
  func write(
    to cache: any CacheDelegate, _ cacheKey: String, makes: Bool, mayBeAbsent: Bool,
    context: (any Sendable)?
  ) async throws {
    if case .set(let models) = self {
      return try await cache.setCollection(models, forKey: cacheKey, context: context)
    }
    let stored = try await cache.collection(forKey: cacheKey, as: T.self, context: context)
    guard var list = stored ?? (makes ? [] : nil) else {
      throw DataProviderError.noSuchCollection(cacheKey)
    }
    let (plan, new) = plan(in: list)
    if plan == .nothing {
      if mayBeAbsent { return }
      throw DataProviderError.gone(cacheKey)
    }
    _ = list.carryOut(plan, new)
    try await cache.setCollection(list, forKey: cacheKey, context: context)
  }

  /// Returns the positions that the edit changes, and the new elements.
  private func plan(in list: [T]) -> (ListPlan, [T]) {
    switch self {
    case .set(let models): return (.set, models)
    case .append(let models): return (.insert(list.count..<(list.count + models.count)), models)
    case .insert(let models, let place):
      let index = Self.find(place, nil, in: list)
      return (.insert(index..<(index + models.count)), models)
    case .update(let model, let seen):
      return (Self.find(seen, in: list).map { .update($0) } ?? .nothing, [model])
    case .remove(let seen):
      let ranges = Set(seen.compactMap { Self.find($0, in: list) }).ordered().joinedToRanges()
      return (ranges.isEmpty && !seen.isEmpty ? .nothing : .remove(ranges), [])
    case .move(let seen, let place):
      guard let from = Self.find(seen, in: list) else { return (.nothing, []) }
      return (.move(from: from, to: Self.find(place, from, in: list)), [])
    }
  }

  private static func find(_ seen: SeenElement<T>, in list: [T]) -> Int? {
    find(seen.model, near: seen.place, in: list)
  }

  private static func find(
    _ model: T, near place: Int, besides hidden: Int? = nil, in list: [T]
  ) -> Int? {
    list.indices.filter { $0 != hidden && LiveList.isSame(list[$0], model) }
      .min { abs($0 - place) < abs($1 - place) }
  }

  private static func find(_ seen: SeenPlace<T>, _ hidden: Int?, in list: [T]) -> Int {
    let hiding = Hiding(hidden)
    let (behind, ahead) = (hiding.actual(seen.place), hiding.actual(seen.place - 1))
    if let after = seen.after, let place = find(after, near: behind, besides: hidden, in: list) {
      return hiding.visible(place)
    }
    if let before = seen.before, let place = find(before, near: ahead, besides: hidden, in: list) {
      return hiding.visible(place) + 1
    }
    return min(seen.place, hidden == nil ? list.count : list.count - 1)
  }
}
