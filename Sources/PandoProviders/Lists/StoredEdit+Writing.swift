import PandoModels
import PandoStore

extension StoredEdit {
  /// Carries out the edit in a store.
  ///
  /// - Parameters:
  ///   - transaction: The transaction that writes the edit.
  ///   - cacheKey: The key of the collection.
  ///   - makes: True if an insertion creates a missing collection. An append always creates it.
  /// - Returns: The changed positions.
  /// - Throws: ``DataProviderError`` `superseded` if the edited element is missing,
  ///   `noSuchCollection`, `notCodable`; any error of the store.
  func write(
    _ transaction: inout ModelTransaction, _ cacheKey: String, makes: Bool
  ) throws -> ListPlan {
    guard let type = T.self as? any (SimpleModel & Codable).Type else {
      throw DataProviderError.notCodable(T.self)
    }
    return try write(&transaction, cacheKey, makes: makes, as: type)
  }

  private func write<C: SimpleModel & Codable>(
    _ transaction: inout ModelTransaction, _ cacheKey: String, makes: Bool, as type: C.Type
  ) throws -> ListPlan {
    let count = try transaction.snapshot.collectionCount(cacheKey)
    switch self {
    case .set(let models):
      try transaction.setCollection(cacheKey, to: try Self.codable(models, type))
      return .set
    case .append(let models):
      try transaction.append(try Self.codable(models, type), toCollection: cacheKey)
      return .insert((count ?? 0)..<((count ?? 0) + models.count))
    case .insert(let models, let place):
      guard count != nil || makes else { throw DataProviderError.noSuchCollection(cacheKey) }
      guard let count else {
        return try StoredEdit.append(models).write(&transaction, cacheKey, makes: makes)
      }
      let index = try StoredList<T>(cacheKey, count).find(place, nil, transaction.snapshot)
      try transaction.insert(
        try Self.codable(models, type), at: index, inCollection: cacheKey)
      return .insert(index..<(index + models.count))
    case .update(let model, let seen):
      let index = try find(seen, count, cacheKey, transaction.snapshot)
      try transaction.update(
        try Self.codable([model], type)[0], at: index, inCollection: cacheKey)
      return .update(index)
    case .remove(let seen):
      return try remove(seen, count, cacheKey, &transaction)
    case .move(let seen, let place):
      let from = try find(seen, count, cacheKey, transaction.snapshot)
      let list = StoredList<T>(cacheKey, count ?? 0)
      let to = try list.find(place, from, transaction.snapshot)
      try transaction.moveElement(from: from, to: to, inCollection: cacheKey)
      return .move(from: from, to: to)
    }
  }

  private func remove(
    _ seen: [SeenElement<T>], _ count: Int?, _ cacheKey: String,
    _ transaction: inout ModelTransaction
  ) throws -> ListPlan {
    let list = StoredList<T>(cacheKey, count ?? 0)
    let places = try list.find(seen, transaction.snapshot)
    guard !places.isEmpty || seen.isEmpty else { throw DataProviderError.gone(cacheKey) }
    let ranges = places.joinedToRanges()
    for range in ranges.reversed() {
      try transaction.removeElements(in: range, fromCollection: cacheKey)
    }
    return .remove(ranges)
  }

  private func find(
    _ seen: SeenElement<T>, _ count: Int?, _ cacheKey: String, _ snapshot: ModelSnapshot
  ) throws -> Int {
    let list = StoredList<T>(cacheKey, count ?? 0)
    guard let index = try list.find(seen.model, near: seen.place, snapshot) else {
      throw DataProviderError.gone(cacheKey)
    }
    return index
  }

  private static func codable<C: SimpleModel & Codable>(
    _ models: [T], _ type: C.Type
  ) throws -> [C] {
    guard let models = models as? [C] else { throw DataProviderError.notCodable(T.self) }
    return models
  }
}
