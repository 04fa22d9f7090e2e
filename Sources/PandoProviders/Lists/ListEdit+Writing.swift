import PandoModels
import PandoStore

extension ListEdit {
  /// Returns the positions that the edit changes in a stored list.
  ///
  /// - Throws: Any error of the store.
  func plan(
    in cacheKey: String, count: Int, _ transaction: borrowing ModelTransaction
  ) throws -> ListPlan {
    let list = StoredList<T>(cacheKey, count)
    return try plan(count: count) { element, place, others in
      try list.find(element.model, near: place, besides: others, transaction.snapshot)
    }
  }

  /// Returns the positions that the edit changes in the list of a custom cache.
  func plan(in list: [T]) -> ListPlan {
    plan(count: list.count) { element, near, others in
      list.indices.filter { !others.contains($0) && LiveList.isSame(list[$0], element.model) }
        .min { abs($0 - near) < abs($1 - near) }
    }
  }
}

extension ModelTransaction {
  /// Carries out a planned change of a collection.
  ///
  /// - Parameters:
  ///   - plan: The change.
  ///   - new: The inserted or replacing elements.
  ///   - cacheKey: The key of the collection.
  ///   - appends: True if new elements go behind all others.
  /// - Throws: ``DataProviderError`` `notCodable`; any error of the store.
  mutating func carryOut<T: SimpleModel>(
    _ plan: ListPlan, _ new: [T], inCollection cacheKey: String, appends: Bool
  ) throws {
    guard let type = T.self as? any (SimpleModel & Codable).Type else {
      throw DataProviderError.notCodable(T.self)
    }
    try carryOut(plan, new, cacheKey, appends, as: type)
  }

  private mutating func carryOut<T: SimpleModel, C: SimpleModel & Codable>(
    _ plan: ListPlan, _ new: [T], _ cacheKey: String, _ appends: Bool, as type: C.Type
  ) throws {
    guard let new = new as? [C] else { throw DataProviderError.notCodable(T.self) }
    switch plan {
    case .nothing: break
    case .set: try setCollection(cacheKey, to: new)
    case .insert where appends: try append(new, toCollection: cacheKey)
    case .insert(let range): try insert(new, at: range.lowerBound, inCollection: cacheKey)
    case .update(let index): try update(new[0], at: index, inCollection: cacheKey)
    case .remove(let ranges):
      for range in ranges.reversed() { try removeElements(in: range, fromCollection: cacheKey) }
    case .move(let from, let to): try moveElement(from: from, to: to, inCollection: cacheKey)
    }
  }
}
