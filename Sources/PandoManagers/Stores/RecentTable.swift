/// Values by their keys, in the order of their last use.
///
/// The dictionary refers into a list that is linked through an array, so that a step looks a key up once.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Link: Sendable {
    var key: Key
    /// `nil` if the link is free.
    var value: Value?
    /// The indexes of the neighbours; ``nowhere`` if there is none.
    var older = nowhere
    var newer = nowhere
  }

  private static var nowhere: Int { -1 }

  private var places: [Key: Int] = [:]
  private var links: [Link] = []
  private var free: [Int] = []
  private var oldest = nowhere
  private var newest = nowhere

  var count: Int { places.count }

  /// The keys of the table among others.
  func keys(among others: Set<Key>) -> [Key] {
    others.count < count ? others.filter { places[$0] != nil } : places.keys.filter(others.contains)
  }

  /// The value of a key, which becomes the newest; `nil` if the table lacks it.
  mutating func use(_ key: Key) -> Value? {
    guard let place = places[key] else { return nil }
    moveToEnd(place)
    return links[place].value
  }

  /// Sets the value of a key, which becomes the newest.
  ///
  /// - Returns: Its value before.
  @discardableResult
  mutating func put(_ value: Value, forKey key: Key) -> Value? {
    if let place = places[key] {
      moveToEnd(place)
      return exchange(&links[place].value, with: value)
    }
    let place: Int
    if let used = free.popLast() {
      place = used
      links[place] = Link(key: key, value: value)
    } else {
      place = links.count
      links.append(Link(key: key, value: value))
    }
    places[key] = place
    link(place)
    return nil
  }

  /// Removes a key.
  @discardableResult
  mutating func remove(_ key: Key) -> Value? {
    guard let place = places.removeValue(forKey: key) else { return nil }
    unlink(place)
    free.append(place)
    return links[place].value.take()
  }

  /// Removes the key that was used longest ago.
  mutating func removeOldest() -> (key: Key, value: Value)? {
    guard oldest != Self.nowhere else { return nil }
    let key = links[oldest].key
    return remove(key).map { (key, $0) }
  }

  private mutating func moveToEnd(_ place: Int) {
    guard place != newest else { return }
    unlink(place)
    link(place)
  }

  private mutating func link(_ place: Int) {
    links[place].older = newest
    links[place].newer = Self.nowhere
    if newest == Self.nowhere { oldest = place } else { links[newest].newer = place }
    newest = place
  }

  private mutating func unlink(_ place: Int) {
    let (older, newer) = (links[place].older, links[place].newer)
    if older == Self.nowhere { oldest = newer } else { links[older].newer = newer }
    if newer == Self.nowhere { newest = older } else { links[newer].older = older }
  }
}
