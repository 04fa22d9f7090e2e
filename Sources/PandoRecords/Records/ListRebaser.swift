import PandoSystem

/// Applies a caller's changes of a list to the present list.
///
/// Elements that the caller removed are removed. Elements that the caller inserted follow the same
/// element as in the caller's list, or are at the end, as there. Elements that the caller moved are
/// moved, unless another writer removed them.
struct ListRebaser<Element: Hashable> {
  /// The number of an element; in the lower half its number of earlier occurrences in the list.
  private typealias Key = UInt64

  private var elements: [Element] = []
  private var numbers: [Element: Key] = [:]

  /// - Parameters:
  ///   - base: The elements at the caller's read.
  ///   - new: The elements that the caller writes.
  ///   - stored: The present elements.
  /// - Returns: The list with the caller's changes.
  /// - Complexity: O(*n* log *n*).
  static func rebase(
    _ base: [Element], _ new: [Element], _ stored: [Element]
  ) -> [Element] {
    var rebaser = ListRebaser()
    let keys = (rebaser.keys(base), rebaser.keys(new), rebaser.keys(stored))
    return rebase(keys.0, keys.1, keys.2).map { rebaser.elements[Int($0 >> 32)] }
  }

  /// Returns the elements as keys: unique in a list, and equal for the same element of all three.
  private mutating func keys(_ list: [Element]) -> [Key] {
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
    var inOrder = LongestIncreasingSubsequence()
    for (place, key) in new.enumerated() {
      if let old = places[key] { inOrder.append(Int32(old), tag: place) }
    }
    let kept: [Int] = inOrder.reversedElements().reversed().map(\.tag)
    let there = Set(stored)
    // Elements without a kept place were removed or moved.
    var gone = Set(base)
    for place in kept { gone.remove(new[place]) }

    // Whether an element of the caller's list stays: other writers neither removed nor inserted it.
    func comes(_ key: Key) -> Bool { (places[key] == nil) != there.contains(key) }
    // The caller's list in parts, each after an element that kept its place, or after the previous
    // one if another writer removed that. The first part is at the beginning.
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
    // The elements after all kept ones are last.
    if !kept.isEmpty || base.isEmpty {
      result += new[((kept.last ?? -1) + 1)...].filter(comes)
    }
    return result
  }
}
