import PandoModels
import PandoStore

/// The position of an element that is looked up in the list when the request runs.
enum ListPlace<T: SimpleModel>: Sendable {
  /// The position of the first element with an identifier.
  case element(String)
  /// The position that a caller's closure returns. The closure may run more than once.
  case chosen(@Sendable ([T]) throws -> Int?)

  /// Returns the index in a list; `nil` if the caller's closure cancels the request.
  ///
  /// - Throws: ``DataProviderError`` `noSuchElement`; any error of the closure.
  func index(in list: [T], _ cacheKey: String) throws -> Int? {
    switch self {
    case .chosen(let choose): return try choose(list)
    case .element(let identifier):
      let place = list.firstIndex { $0.modelIdentifier?.hasSameBytes(as: identifier) ?? false }
      guard let place else { throw DataProviderError.noSuchElement(identifier, cacheKey) }
      return place
    }
  }

  /// Returns the index in a stored list; `nil` if the caller's closure cancels the request.
  ///
  /// - Throws: As ``index(in:_:)``; any error of the store.
  func index(in list: StoredList<T>, _ snapshot: ModelSnapshot) throws -> Int? {
    switch self {
    case .chosen(let choose):
      let places = try snapshot.places(list.cacheKey, as: T.self) ?? []
      let shown = places.indices.filter { places[$0] != nil }
      guard let index = try choose(places.compactMap { $0 }) else { return nil }
      // The index behind the last decodable element stands for the end of the list.
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
