/// What a caller has done to a list, to be done to the list as it is by now.
///
/// What the caller took out goes, what the caller put in comes behind the element that stands before it in
/// the caller's list, and what came last there comes last. What the caller has moved is moved, unless
/// somebody else has taken it out.
struct ListRebaser {
  /// A number of an element, and in the lower half how often the element has come before in its list.
  private typealias Key = UInt64

  private var elements: [RecordReference] = []
  private var numbers: [RecordReference: Key] = [:]

  /// - Parameters:
  ///   - base: The elements that the caller has seen.
  ///   - new: The elements that the caller wants.
  ///   - stored: The elements of the list as it is by now.
  /// - Returns: The list with the caller's changes.
  /// - Complexity: O(*n* log *n*).
  static func rebase(
    _ base: [RecordReference], _ new: [RecordReference], _ stored: [RecordReference]
  ) -> [RecordReference] {
    var rebaser = ListRebaser()
    let keys = (rebaser.keys(base), rebaser.keys(new), rebaser.keys(stored))
    return rebase(keys.0, keys.1, keys.2).map { rebaser.elements[Int($0 >> 32)] }
  }

  /// Each element under a key that no other one in the list has, and that it has in all three.
  private mutating func keys(_ list: [RecordReference]) -> [Key] {
    var counts: [Key: Int] = [:]
    return list.map { element in
      var number = numbers[element]
      if number == nil {
        number = Key(elements.count) << 32
        numbers[element] = number
        elements.append(element)
      }
      let count = counts[number ?? 0] ?? 0
      counts[number ?? 0] = count + 1
      return (number ?? 0) | Key(count)
    }
  }

  private static func rebase(_ base: [Key], _ new: [Key], _ stored: [Key]) -> [Key] {
    var places: [Key: Int] = [:]
    for (place, key) in base.enumerated() { places[key] = place }
    let kept = longestRise(new.map { places[$0] })
    let there = Set(stored)
    // What does not stay where it is, was taken out or moved.
    var gone = Set(base)
    for place in kept { gone.remove(new[place]) }

    // Whether somebody else has left an element in, and not put it in, too.
    func comes(_ key: Key) -> Bool { (places[key] == nil) != there.contains(key) }
    // The caller's list in parts, each behind an element that kept its place, or of that the one before
    // it where somebody else has taken it out; the first part is that of the beginning.
    var parts: [[Key]] = [[]]
    var partOfAnchor: [Key: Int] = [:]
    var next = 0
    for (place, key) in new.enumerated() {
      if next < kept.count, kept[next] == place {
        next += 1
        if there.contains(key) {
          partOfAnchor[key] = parts.count
          parts.append([])
        }
      } else if comes(key), next < kept.count || kept.isEmpty && !base.isEmpty {
        parts[parts.count - 1].append(key)
      }
    }
    var result = parts[0]
    for key in stored {
      if !gone.contains(key) { result.append(key) }
      if let part = partOfAnchor[key] { result += parts[part] }
    }
    // What the caller has behind all that kept its place comes last.
    if !kept.isEmpty || base.isEmpty {
      result += new[((kept.last ?? -1) + 1)...].filter(comes)
    }
    return result
  }

  /// The places of as many values as possible that rise (patience sorting).
  private static func longestRise(_ values: [Int?]) -> [Int] {
    var ends: [Int] = []
    var previous = Array(repeating: -1, count: values.count)
    for (place, value) in values.enumerated() {
      guard let value else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if values[ends[middle]] ?? 0 < value { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[place] = ends[low - 1] }
      if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var rise: [Int] = []
    var place = ends.last ?? -1
    while place >= 0 {
      rise.append(place)
      place = previous[place]
    }
    return rise.reversed()
  }
}
