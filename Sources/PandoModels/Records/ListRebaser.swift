/// What a caller has done to a list, to be done to the list as it is by now.
///
/// What the caller took out goes, what the caller put in comes behind the element that stands before it in
/// the caller's list, and what came last there comes last. What the caller has moved is moved, unless
/// somebody else has taken it out.
struct ListRebaser {
  private typealias Key = ArraySlice<UInt8>

  /// The caller's list without what kept its place, in parts: each stands behind an element that did, the
  /// first one at the beginning.
  private var parts: [(anchor: Key?, keys: [Key])] = []
  /// What came behind all that kept its place.
  private var tail: [Key] = []
  /// What does not stay where it is: taken out, or moved.
  private var gone: Set<Key>
  private let known: Set<Key>

  /// - Parameters:
  ///   - base: The elements that the caller has seen; same bytes are the same element.
  ///   - new: The elements that the caller wants.
  /// - Complexity: O(*n* log *n*).
  init(base: [ArraySlice<UInt8>], new: [ArraySlice<UInt8>]) {
    let base = Self.numbered(base)
    let new = Self.numbered(new)
    let places = Dictionary(uniqueKeysWithValues: base.enumerated().map { ($1, $0) })
    let kept = Self.longestRise(new.map { places[$0] })
    known = Set(base)
    gone = known.subtracting(kept.map { new[$0] })
    let isKept = Set(kept)
    var last: Key?
    var part: [Key] = []
    for (index, key) in new.enumerated() {
      if isKept.contains(index) {
        parts.append((last, part))
        part = []
        last = key
      } else {
        part.append(key)
      }
    }
    if last == nil, !base.isEmpty { parts.append((nil, part)) } else { tail = part }
  }

  /// - Parameter stored: The elements of the list as it is by now.
  /// - Returns: The list with the caller's changes.
  /// - Complexity: O(*n*).
  func rebase(_ stored: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>] {
    let stored = Self.numbered(stored)
    let there = Set(stored)
    var result: [Key] = []
    func insert(_ part: [Key]?) {
      for key in part ?? [] {
        // What both have put in is there once, and what somebody else took out stays out.
        if known.contains(key) ? there.contains(key) : !there.contains(key) { result.append(key) }
      }
    }
    // Behind an element that somebody else took out means behind the one before it.
    var following: [Key?: [Key]] = [:]
    var anchor: Key?
    for part in parts {
      if let key = part.anchor, there.contains(key) { anchor = key }
      following[anchor, default: []] += part.keys
    }
    insert(following[nil])
    for key in stored {
      if !gone.contains(key) { result.append(key) }
      insert(following[key])
    }
    insert(tail)
    return result.map { $0.dropLast(Self.numberByteCount) }
  }

  private static let numberByteCount = 8

  /// The elements with how often each has come before, so that each is there once.
  private static func numbered(_ elements: [ArraySlice<UInt8>]) -> [Key] {
    var counts: [Key: UInt64] = [:]
    return elements.map { element in
      let count = counts[element, default: 0]
      counts[element] = count + 1
      return element
        + (0..<UInt64(numberByteCount)).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    }
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
