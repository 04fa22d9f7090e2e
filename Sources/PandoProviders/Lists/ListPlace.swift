import PandoModels
import PandoStore

/// A place in a list that is known only when the list is.
enum ListPlace<T: SimpleModel>: Sendable {
  /// Where the first element with an identifier is.
  case element(String)
  /// Where a caller's closure says; it may be asked more than once.
  case chosen(@Sendable ([T]) throws -> Int?)

  /// The index in a list; `nil` if the caller wants nothing done.
  ///
  /// - Throws: ``DataProviderError`` `noSuchElement`; what the closure throws.
  func index(in list: [T], _ cacheKey: String) throws -> Int? {
    switch self {
    case .chosen(let choose): return try choose(list)
    case .element(let identifier):
      let place = list.firstIndex { $0.modelIdentifier?.hasSameBytes(as: identifier) ?? false }
      guard let place else { throw DataProviderError.noSuchElement(identifier, cacheKey) }
      return place
    }
  }

  /// The index in a stored list.
  ///
  /// - Throws: As ``index(in:_:)``; what the store throws.
  func index(in list: StoredList<T>, _ snapshot: ModelSnapshot) throws -> Int? {
    switch self {
    case .chosen(let choose):
      let places = try snapshot.places(list.cacheKey, as: T.self) ?? []
      let shown = places.indices.filter { places[$0] != nil }
      guard let index = try choose(places.compactMap { $0 }) else { return nil }
      // Behind the last that can be decoded is the end.
      return shown.indices.contains(index)
        ? shown[index] : index < 0 ? index : index - shown.count + places.count
    case .element(let identifier):
      guard let place = try list.firstPlace(of: identifier, snapshot) else {
        throw DataProviderError.noSuchElement(identifier, list.cacheKey)
      }
      return place
    }
  }
}

extension DataProviderError {
  static func noSuchElement(_ identifier: String, _ cacheKey: String) -> DataProviderError {
    DataProviderError(
      .noSuchElement, cacheKey,
      "there is no element \(identifier) in the collection; nothing was changed")
  }
}
