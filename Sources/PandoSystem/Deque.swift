/// A double-ended queue: an array with room in front of its first element.
///
/// Indexes count from the first element. The queue releases an element when it removes it. Public for inlining, as
/// ``Locked``.
///
/// - Complexity: O(1) on average for an element at either end, O(*n*) for one elsewhere; O(1) for access.
public struct Deque<Element> {
  /// The elements from `head` on; `nil` before it.
  @usableFromInline var storage: [Element?] = []
  @usableFromInline var head = 0

  /// Makes an empty queue.
  @inlinable
  public init() {}

  /// A queue that becomes empty keeps its memory if `storage` has at most this many entries.
  @inlinable static var keptCountMaximum: Int { 64 }

  /// Removes and returns the first element.
  ///
  /// - Returns: `nil` if the queue is empty.
  @inlinable
  public mutating func popFirst() -> Element? {
    guard head < storage.count else { return nil }
    let element = exchange(&storage[head], with: nil)
    head += 1
    removeRoom()
    return element
  }

  /// Inserts an element in front of all others.
  @inlinable
  public mutating func prepend(_ element: Element) {
    if head == 0 {
      // Room for as many elements as there are, so that each element moves once on average.
      head = storage.count + 1
      storage.insert(contentsOf: repeatElement(nil, count: head), at: 0)
    }
    head -= 1
    storage[head] = element
  }

  /// Removes the room in front once it is twice as large as the rest; ``prepend(_:)`` makes less.
  @inlinable
  mutating func removeRoom() {
    if head == storage.count {
      storage.removeAll(keepingCapacity: storage.count <= Self.keptCountMaximum)
      head = 0
    } else if head > 64, head > 2 * (storage.count - head) {
      storage.removeFirst(head)
      head = 0
    }
  }
}

extension Deque: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// Always 0.
  @inlinable
  public var startIndex: Int { 0 }

  /// The number of elements.
  @inlinable
  public var endIndex: Int { storage.count - head }

  /// The element at a position, counted from the first one.
  ///
  /// *Precondition:* `position` is in `0..<count`.
  @inlinable
  public subscript(position: Int) -> Element {
    get {
      precondition(position >= 0, "the position \(position) is in front of the queue")
      guard let element = storage[head + position] else {
        preconditionFailure("an element that has left the queue")
      }
      return element
    }
    set {
      precondition(position >= 0, "the position \(position) is in front of the queue")
      storage[head + position] = newValue
    }
  }

  /// Appends an element.
  @inlinable
  public mutating func append(_ element: Element) { storage.append(element) }

  /// Replaces a range of elements.
  ///
  /// - Complexity: O(*n* + *m*) for *n* elements and *m* new ones; O(*k*) to remove the first *k*.
  @inlinable
  public mutating func replaceSubrange(
    _ range: Range<Int>, with elements: some Collection<Element>
  ) {
    precondition(range.lowerBound >= 0, "the range \(range) begins in front of the queue")
    if range.lowerBound == 0, elements.isEmpty {
      for index in head..<head + range.count { storage[index] = nil }
      head += range.count
      removeRoom()
      return
    }
    storage.replaceSubrange(
      head + range.lowerBound..<head + range.upperBound, with: elements.lazy.map(Optional.some))
  }
}

extension Deque: Sendable where Element: Sendable {}
