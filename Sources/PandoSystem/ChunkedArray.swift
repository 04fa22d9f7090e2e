/// An array in chunks: a changed copy shares the chunks that have not changed.
///
/// For long sequences of which one thread changes elements while another still reads the previous version. Public for
/// inlining, as ``Locked``.
///
/// - Complexity: A change of one element copies at most 256 elements, and one reference for each chunk if the array is
///   shared. O(log *n*) for ``partitioningIndex(where:)``; O(1) for a step and for access.
public struct ChunkedArray<Element> {
  /// The position of an element.
  public typealias Index = ChunkedArrayIndex

  /// A chunk that grows beyond this number of elements is split in halves.
  @inlinable static var chunkMaximum: Int { 256 }

  /// The chunks, none of them empty.
  @usableFromInline var chunks: [[Element]] = []
  @usableFromInline var elementCount = 0

  /// Makes an array of elements.
  ///
  /// - Complexity: O(*n*).
  @inlinable
  public init(_ elements: some Collection<Element>) {
    elementCount = elements.count
    var rest = elements[...]
    while !rest.isEmpty {
      chunks.append(Array(rest.prefix(Self.chunkMaximum / 2)))
      rest = rest.dropFirst(Self.chunkMaximum / 2)
    }
  }

  /// Inserts an element in front of the one at an index, or at the end.
  @inlinable
  public mutating func insert(_ element: Element, at index: Index) {
    elementCount += 1
    var place = index
    if place.offset == 0, place.chunk > 0 {
      // An element between two chunks is appended to the first.
      place.chunk -= 1
      place.offset = chunks[place.chunk].count
    } else if chunks.isEmpty {
      chunks.append([])
    }
    chunks[place.chunk].insert(element, at: place.offset)
    let size = chunks[place.chunk].count
    if size > Self.chunkMaximum {
      chunks.insert(Array(chunks[place.chunk][(size / 2)...]), at: place.chunk + 1)
      chunks[place.chunk].removeSubrange((size / 2)...)
    }
  }

  /// Removes and returns an element.
  @inlinable
  public mutating func remove(at index: Index) -> Element {
    elementCount -= 1
    let element = chunks[index.chunk].remove(at: index.offset)
    let size = chunks[index.chunk].count
    if size == 0 {
      chunks.remove(at: index.chunk)
    } else if size < Self.chunkMaximum / 8, index.chunk > 0,
      chunks[index.chunk - 1].count < Self.chunkMaximum / 2
    {
      // A chunk of few elements is merged into the one before, so that chunks stay few.
      chunks[index.chunk - 1] += chunks.remove(at: index.chunk)
    }
    return element
  }

  /// Returns the first index whose element belongs to the second part of a partitioned array.
  @inlinable
  public func partitioningIndex(where belongsInSecondPartition: (Element) -> Bool) -> Index {
    // The border is in the last chunk that begins in the first part, or at its end.
    let chunk = chunks.partitioningIndex { belongsInSecondPartition($0[0]) } - 1
    if chunk < 0 { return startIndex }
    let offset = chunks[chunk].partitioningIndex(where: belongsInSecondPartition)
    return offset == chunks[chunk].count
      ? Index(chunk: chunk + 1, offset: 0) : Index(chunk: chunk, offset: offset)
  }
}

extension ChunkedArray: BidirectionalCollection {
  /// The number of elements.
  @inlinable
  public var count: Int { elementCount }
  /// The first index.
  @inlinable
  public var startIndex: Index { Index(chunk: 0, offset: 0) }
  /// The index behind the last.
  @inlinable
  public var endIndex: Index { Index(chunk: chunks.count, offset: 0) }

  /// The element at an index.
  @inlinable
  public subscript(index: Index) -> Element {
    get { chunks[index.chunk][index.offset] }
    set { chunks[index.chunk][index.offset] = newValue }
  }

  /// The next index.
  @inlinable
  public func index(after index: Index) -> Index {
    index.offset + 1 < chunks[index.chunk].count
      ? Index(chunk: index.chunk, offset: index.offset + 1)
      : Index(chunk: index.chunk + 1, offset: 0)
  }

  /// The index before another.
  @inlinable
  public func index(before index: Index) -> Index {
    index.offset > 0
      ? Index(chunk: index.chunk, offset: index.offset - 1)
      : Index(chunk: index.chunk - 1, offset: chunks[index.chunk - 1].count - 1)
  }

  /// Returns a value for each element in a range of positions, counted from 0.
  ///
  /// - Complexity: O(*c* + *k*) for *c* chunks and *k* elements.
  @inlinable
  public func elements<Value>(
    in range: Range<Int>, _ value: (Element) -> Value
  ) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(range.count)
    var start = 0
    for chunk in chunks where start < range.upperBound {
      let end = start + chunk.count
      for place in range.clamped(to: start..<end) { values.append(value(chunk[place - start])) }
      start = end
    }
    return values
  }
}

extension ChunkedArray where Element: AnyObject {
  /// The parts in which this array differs from a former version of it, in ascending order.
  ///
  /// Outside of the parts both have the same objects. Each part lies between chunks that both share, and neither begins nor
  /// ends with an object of both. Arrays that share no chunk differ in one part.
  ///
  /// - Parameter former: A former version.
  /// - Returns: The positions of each part in the former version and in this one.
  /// - Complexity: O(*c* + *m*) for *c* chunks and *m* elements in chunks that differ.
  @inlinable
  public func changedParts(since former: ChunkedArray) -> [(old: Range<Int>, new: Range<Int>)] {
    // The end of the last part: in chunks of this version, and in elements.
    var end = 0
    var (oldCount, newCount) = (0, 0)
    var parts: [(old: Range<Int>, new: Range<Int>)] = []
    for part in changedChunks(since: former) {
      let shared = chunks[end..<part.new.lowerBound].reduce(0) { $0 + $1.count }
      let (oldStart, newStart) = (oldCount + shared, newCount + shared)
      oldCount = former.chunks[part.old].reduce(oldStart) { $0 + $1.count }
      newCount = chunks[part.new].reduce(newStart) { $0 + $1.count }
      end = part.new.upperBound
      let common = commonEnds(of: part, in: former)
      let old = (oldStart + common.first)..<(oldCount - common.last)
      let new = (newStart + common.first)..<(newCount - common.last)
      if !old.isEmpty || !new.isEmpty { parts.append((old, new)) }
    }
    return parts
  }

  /// The numbers of objects with which a part begins and ends in both versions.
  @inlinable
  func commonEnds(
    of part: (old: Range<Int>, new: Range<Int>), in former: ChunkedArray
  ) -> (first: Int, last: Int) {
    var common = (first: 0, last: 0)
    var old = Index(chunk: part.old.lowerBound, offset: 0)
    var new = Index(chunk: part.new.lowerBound, offset: 0)
    var oldEnd = Index(chunk: part.old.upperBound, offset: 0)
    var newEnd = Index(chunk: part.new.upperBound, offset: 0)
    while old < oldEnd, new < newEnd, former[old] === self[new] {
      (old, new) = (former.index(after: old), index(after: new))
      common.first += 1
    }
    while old < oldEnd, new < newEnd {
      let (lastOld, lastNew) = (former.index(before: oldEnd), index(before: newEnd))
      guard former[lastOld] === self[lastNew] else { break }
      (oldEnd, newEnd) = (lastOld, lastNew)
      common.last += 1
    }
    return common
  }
}

extension ChunkedArray {
  /// Returns a value for each element, in the same chunks, and shares the chunks of the values of a former version
  /// where both versions do.
  ///
  /// - Parameters:
  ///   - former: A former version.
  ///   - values: Its values, made by this function.
  ///   - make: Makes the values of the new elements of a changed part. It gets the former elements of the part with
  ///     their values.
  /// - Returns: The values.
  /// - Complexity: O(*c*) for *c* chunks, without the calls.
  @inlinable
  public func mapped<Value>(
    since former: ChunkedArray, _ values: ChunkedArray<Value>,
    _ make: (_ old: [(Element, Value)], _ new: [Element]) throws -> [Value]
  ) rethrows -> ChunkedArray<Value> {
    var mapped: [[Value]] = []
    mapped.reserveCapacity(chunks.count)
    var old = 0
    for part in changedChunks(since: former) {
      mapped += values.chunks[old..<part.old.lowerBound]
      old = part.old.upperBound
      let before = zip(former.chunks[part.old].joined(), values.chunks[part.old].joined())
      var made = try make(Array(before), Array(chunks[part.new].joined()))[...]
      for chunk in chunks[part.new] {
        mapped.append(Array(made.prefix(chunk.count)))
        made = made.dropFirst(chunk.count)
      }
    }
    mapped += values.chunks[old...]
    return ChunkedArray<Value>(chunks: mapped, count: count)
  }

  @inlinable
  init(chunks: [[Element]], count: Int) { (self.chunks, elementCount) = (chunks, count) }

  /// The chunks that differ from those of a former version.
  @inlinable
  func changedChunks(since former: ChunkedArray) -> [(old: Range<Int>, new: Range<Int>)] {
    var parts: [(old: Range<Int>, new: Range<Int>)] = []
    var (old, new) = (0, 0)
    while old < former.chunks.count || new < chunks.count {
      if old < former.chunks.count, new < chunks.count,
        Self.areShared(former.chunks[old], chunks[new])
      {
        (old, new) = (old + 1, new + 1)
        continue
      }
      let next = nextShared(former, old, new)
      parts.append((old..<next.old, new..<next.new))
      (old, new) = next
    }
    return parts
  }

  /// The next chunk that both versions share, from given chunks on; the ends if there is none.
  ///
  /// Most changes replace chunks. Few split one or join two, so it is looked for among the next few places.
  @inlinable
  func nextShared(_ former: ChunkedArray, _ old: Int, _ new: Int) -> (old: Int, new: Int) {
    let most = Swift.max(former.chunks.count - old, chunks.count - new)
    for distance in 0..<most {
      for shift in 0...Self.shiftMaximum {
        for (old, new) in [
          (old + distance, new + distance + shift), (old + distance + shift, new + distance),
        ]
        where old < former.chunks.count && new < chunks.count {
          if Self.areShared(former.chunks[old], chunks[new]) { return (old, new) }
        }
      }
    }
    return (former.chunks.count, chunks.count)
  }

  /// How many more chunks of one version than of the other are left out together.
  @inlinable static var shiftMaximum: Int { 4 }

  @inlinable
  static func areShared(_ left: [Element], _ right: [Element]) -> Bool {
    left.span.isIdentical(to: right.span)
  }
}

extension ChunkedArray: Sendable where Element: Sendable {}

/// The position of an element of a ``ChunkedArray``; one of any array with the same chunks.
public struct ChunkedArrayIndex: Comparable, Sendable {
  @usableFromInline var chunk: Int
  @usableFromInline var offset: Int

  @inlinable
  init(chunk: Int, offset: Int) { (self.chunk, self.offset) = (chunk, offset) }

  /// Whether an index comes before another of the same array.
  @inlinable
  public static func < (left: ChunkedArrayIndex, right: ChunkedArrayIndex) -> Bool {
    (left.chunk, left.offset) < (right.chunk, right.offset)
  }
}
