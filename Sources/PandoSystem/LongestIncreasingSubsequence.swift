/// Finds a longest subsequence in which each value is greater than the one before (patience sorting).
///
/// If at most one of several values may be chosen, the caller appends these in descending order. So the algorithm of
/// Hunt and Szymanski (*A fast algorithm for computing longest common subsequences*, 1977) finds the elements that
/// two lists have in common. Public for inlining, as ``Locked``.
public struct LongestIncreasingSubsequence {
  @usableFromInline
  struct Link {
    @usableFromInline let tag: Int32
    @usableFromInline let value: Int32
    @usableFromInline let previous: Int32

    @inlinable
    init(tag: Int32, value: Int32, previous: Int32) {
      (self.tag, self.value, self.previous) = (tag, value, previous)
    }
  }

  @usableFromInline var links: [Link] = []
  /// For each length, the index of the last link of the best subsequence; the values of these links ascend.
  @usableFromInline var ends: [Int32] = []

  /// Makes an empty sequence.
  @inlinable
  public init() {}

  /// Appends a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - tag: A number that the caller connects with the value, such as its index.
  /// - Complexity: O(log *n*); O(1) for a value greater than all before it.
  @inlinable
  public mutating func append(_ value: Int32, tag: Int) {
    var length = ends.count
    if let last = ends.last, links[Int(last)].value >= value {
      length = ends.partitioningIndex { links[Int($0)].value >= value }
    }
    let previous = length > 0 ? ends[length - 1] : -1
    let number = Int32(links.count)
    if length == ends.count {
      ends.append(number)
    } else if links[Int(ends[length])].value > value {
      ends[length] = number
    } else {
      return
    }
    links.append(Link(tag: Int32(tag), value: value, previous: previous))
  }

  /// Returns the subsequence, from its last value to its first.
  ///
  /// - Complexity: O(*k*) for *k* values in it.
  @inlinable
  public func reversedElements() -> [(tag: Int, value: Int)] {
    var found: [(tag: Int, value: Int)] = []
    found.reserveCapacity(ends.count)
    var number = ends.last ?? -1
    while number >= 0 {
      let link = links[Int(number)]
      found.append((Int(link.tag), Int(link.value)))
      number = link.previous
    }
    return found
  }
}
