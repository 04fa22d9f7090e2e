import PandoModels
import PandoStore

/// Finds elements in a stored list by identifier, or by equality if they have none.
struct StoredList<T: SimpleModel> {
  let cacheKey: String
  let count: Int

  /// The maximum distance searched around the earlier position before the whole list is read.
  private static var nearby: Int { 64 }
  /// The count of elements that a search through the whole list reads at once.
  private static var atOnce: Int { 1_024 }

  init(_ cacheKey: String, _ count: Int) {
    self.cacheKey = cacheKey
    self.count = count
  }

  /// Returns the position of the nearest matching element, except those at other positions.
  ///
  /// - Complexity: O(log *n*) if the element is at its earlier position, else up to O(*n*).
  func find(
    _ model: T, near place: Int, besides others: Set<Int>, _ snapshot: ModelSnapshot
  ) throws -> Int? {
    let middle = max(0, min(place, count))
    for reach in [0, Self.nearby, count] {
      let range = (middle - reach)..<(middle + reach + 1)
      let places = try matches(model, in: range, snapshot).filter { !others.contains($0) }
      if let found = places.min(by: { abs($0 - place) < abs($1 - place) }) { return found }
    }
    return nil
  }

  /// Returns the position of the first element with an identifier.
  ///
  /// No element is decoded.
  func firstPlace(of identifier: String, _ snapshot: ModelSnapshot) throws -> Int? {
    for start in stride(from: 0, to: count, by: Self.atOnce) {
      let range = start..<min(count, start + Self.atOnce)
      let elements = try snapshot.collectionTrees(cacheKey, in: range, depth: 0) ?? []
      for (place, element) in zip(range, elements) {
        if case .reference(let found, _) = element, found.hasSameBytes(as: identifier) {
          return place
        }
      }
    }
    return nil
  }

  /// Returns the positions of matching elements in the part of a range that is inside the list.
  private func matches(
    _ model: T, in range: Range<Int>, _ snapshot: ModelSnapshot
  ) throws -> [Int] {
    let range = range.clamped(to: 0..<count)
    if range.isEmpty { return [] }
    if let identifier = model.modelIdentifier {
      let elements = try snapshot.collectionTrees(cacheKey, in: range, depth: 0) ?? []
      return zip(range, elements).compactMap { place, element in
        guard case .reference(let found, _) = element else { return nil }
        return found.hasSameBytes(as: identifier) ? place : nil
      }
    }
    let elements = try snapshot.places(cacheKey, as: T.self, in: range) ?? []
    return zip(range, elements).compactMap { $1?.isEqual(to: model) ?? false ? $0 : nil }
  }
}
