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

  /// Returns the position of the nearest matching element, except the element at `hidden`.
  ///
  /// - Complexity: O(log *n*) if the element is at its earlier position, else up to O(*n*).
  func find(
    _ model: T, near place: Int, besides hidden: Int? = nil, _ snapshot: ModelSnapshot
  ) throws -> Int? {
    let middle = max(0, min(place, count))
    for reach in [0, Self.nearby, count] {
      let range = (middle - reach)..<(middle + reach + 1)
      let places = try matches(model, in: range, snapshot).filter { $0 != hidden }
      if let found = Self.nearest(to: place, in: places) { return found }
    }
    return nil
  }

  /// Returns the positions of several elements, each position once.
  ///
  /// Missing elements are left out.
  func find(_ seen: [SeenElement<T>], _ snapshot: ModelSnapshot) throws -> [Int] {
    var taken: Set<Int> = []
    for element in seen {
      guard let place = try find(element.model, near: element.place, snapshot) else { continue }
      if taken.insert(place).inserted { continue }
      let others = try matches(element.model, in: 0..<count, snapshot)
        .filter { !taken.contains($0) }
      if let other = Self.nearest(to: element.place, in: others) { taken.insert(other) }
    }
    return Array(taken)
  }

  /// Returns the current position of a place between two elements.
  ///
  /// Neither the place nor the result counts the element at `hidden`.
  func find(_ seen: SeenPlace<T>, _ hidden: Int?, _ snapshot: ModelSnapshot) throws -> Int {
    let hiding = Hiding(hidden)
    let (behind, ahead) = (hiding.actual(seen.place), hiding.actual(seen.place - 1))
    if let after = seen.after,
      let place = try find(after, near: behind, besides: hidden, snapshot)
    {
      return hiding.visible(place)
    }
    if let before = seen.before,
      let place = try find(before, near: ahead, besides: hidden, snapshot)
    {
      return hiding.visible(place) + 1
    }
    return min(seen.place, hidden == nil ? count : count - 1)
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

  private static func nearest(to place: Int, in places: [Int]) -> Int? {
    places.min { abs($0 - place) < abs($1 - place) }
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
