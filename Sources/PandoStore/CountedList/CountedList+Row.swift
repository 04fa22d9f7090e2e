extension CountedList {
  /// A row in the table, with a checked header.
  ///
  /// The value of a row:
  ///
  /// | offset | size | type | meaning |
  /// |---|---|---|---|
  /// | 0 | 8 | `UInt64`, little endian | XXH64 of what follows, seeded with the key's XXH64 |
  /// | 8 | 8 | `UInt64`, little endian | elements beneath this row, never 0 |
  /// | 16 | 8 | `UInt64`, little endian | in the root the next unused block, elsewhere 0 |
  /// | 24 | 2 | `UInt16`, little endian | items of this row |
  /// | 26 | 1 | `UInt8` | level: 0 for a leaf, whose items are elements; above it entries |
  /// | 27 | 1 | `UInt8` | form of the row: 1 |
  /// | 28 | … | | the items, one after the other |
  ///
  /// The root is a leaf while all items fit in one row, so a short list is one row.
  /// See "Ordered lists" in `docs/format.md`.
  struct Row: ~Escapable {
    let list: UInt64
    let block: UInt64
    let level: Int
    let itemCount: Int
    let elementCount: Int

    /// The next unused block; 0 unless this is the root.
    let nextBlock: UInt64

    /// The items, not checked yet.
    let payload: Span<UInt8>

    /// Reads the header of a row.
    ///
    /// - Throws: ``CountedListError/damaged(list:block:reason:)``.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, list: UInt64, block: UInt64) throws(CountedListError) {
      func damaged(_ reason: String) -> CountedListError {
        .damaged(list: list, block: block, reason: reason)
      }
      guard bytes.count >= Self.headerByteCount else {
        throw damaged("\(bytes.count) bytes are too few for a row")
      }
      let sum = CountedList.checksum(of: bytes.extracting(8...), list: list, block: block)
      guard CountedList.word(in: bytes, at: 0) == sum else { throw damaged("wrong checksum") }
      guard bytes[27] == Self.form else { throw damaged("unknown form \(bytes[27])") }

      self.list = list
      self.block = block
      level = Int(bytes[26])
      itemCount = Int(bytes[24]) | Int(bytes[25]) << 8
      nextBlock = CountedList.word(in: bytes, at: 16)
      payload = bytes.extracting(Self.headerByteCount...)
      let count = CountedList.word(in: bytes, at: 8)
      guard count > 0, count <= CountedList.Limits.elementCountMax else {
        throw damaged("\(count) elements")
      }
      elementCount = Int(count)
      guard level <= CountedList.Limits.levelMax else { throw damaged("level \(level)") }
      guard block == CountedList.rootBlock || (block >= CountedList.leafBit) == (level == 0) else {
        throw damaged("level \(level) does not belong here")
      }
      guard (nextBlock > 0) == (block == CountedList.rootBlock),
        nextBlock <= CountedList.Limits.blockMax
      else {
        throw damaged("next block is \(nextBlock)")
      }
      guard itemCount > 0 else { throw damaged("no items") }
      guard payload.count <= CountedList.Limits.payloadByteCountMax || itemCount == 1 else {
        throw damaged("\(payload.count) bytes of items")
      }
      guard
        level == 0
          ? itemCount == elementCount : payload.count == itemCount * CountedList.entryByteCount
      else { throw damaged("\(itemCount) items for \(count) elements, \(payload.count) bytes") }
    }
  }
}

extension CountedList.Row {
  static let headerByteCount = 28
  static let form: UInt8 = 1

  /// Encodes the value of a row.
  static func bytes(
    of piece: CountedList.Piece, in run: CountedList.Run, list: UInt64, block: UInt64,
    nextBlock: UInt64
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerByteCount + piece.bytes.count)
    bytes.append(contentsOf: repeatElement(0, count: 8))
    bytes.append(littleEndian: UInt64(piece.elementCount))
    bytes.append(littleEndian: nextBlock)
    bytes.append(littleEndian: UInt64(piece.itemCount), width: 2)
    bytes.append(UInt8(run.level))
    bytes.append(form)
    bytes.append(contentsOf: run.bytes[piece.bytes])
    let sum = CountedList.checksum(of: bytes.span.extracting(8...), list: list, block: block)
    for index in 0..<8 {
      bytes[index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index))
    }
    return bytes
  }

  /// A copy of the items, all checked.
  ///
  /// - Throws: ``CountedListError/damaged(list:block:reason:)``.
  func run() throws(CountedListError) -> CountedList.Run {
    let run = CountedList.Run(
      level: level, bytes: [UInt8](copying: payload), itemCount: itemCount,
      elementCount: elementCount)
    guard run.isConsistent else { throw damaged("items and counts disagree") }
    return run
  }

  /// The child at a position, counted from the first element below this row.
  ///
  /// - Returns: The item's index, its entry, and the number of elements before it.
  /// - Throws: ``CountedListError/damaged(list:block:reason:)``.
  func child(at position: Int) throws(CountedListError) -> (
    index: Int, entry: CountedList.Entry, start: Int
  ) {
    var start = 0
    for index in 0..<itemCount {
      let entry = try entry(at: index)
      if position - start < entry.elementCount { return (index, entry, start) }
      start += entry.elementCount
    }
    throw damaged("no child holds position \(position)")
  }

  /// The first child, from an index on, whose block is in a list.
  ///
  /// - Returns: The item's index (`itemCount` if there is none), and the elements between.
  /// - Throws: ``CountedListError/damaged(list:block:reason:)``.
  func nextChild(
    in blocks: [UInt64], from index: Int
  ) throws(CountedListError) -> (index: Int, start: Int) {
    var start: UInt64 = 0
    let only = blocks.count == 1 ? blocks[0] : nil
    for index in index..<itemCount {
      let offset = index * CountedList.entryByteCount
      let block = CountedList.word(in: payload, at: offset)
      if only.map({ $0 == block }) ?? blocks.contains(block) { return (index, Int(start)) }
      start &+= CountedList.word(in: payload, at: offset + 8)
      guard start <= CountedList.Limits.elementCountMax else {
        throw damaged("item \(index) is no entry")
      }
    }
    return (itemCount, Int(start))
  }

  /// The entry of a child.
  ///
  /// - Throws: ``CountedListError/damaged(list:block:reason:)``.
  func entry(at index: Int) throws(CountedListError) -> CountedList.Entry {
    guard let entry = CountedList.Entry(in: payload, at: index * CountedList.entryByteCount) else {
      throw damaged("item \(index) is no entry")
    }
    return entry
  }

  /// The range of the element whose item begins at an offset of a leaf.
  ///
  /// - Throws: ``CountedListError/damaged(list:block:reason:)``.
  func elementRange(at offset: Int) throws(CountedListError) -> Range<Int> {
    guard let range = CountedList.elementRange(in: payload, at: offset) else {
      throw damaged("no element at byte \(offset) of the items")
    }
    return range
  }

  func damaged(_ reason: String) -> CountedListError {
    .damaged(list: list, block: block, reason: reason)
  }
}

extension CountedList {
  /// The size of an item of an inner row.
  static let entryByteCount = 16

  /// An item of an inner row: a child and its number of elements.
  ///
  /// It has 16 bytes:
  ///
  /// | offset | size | type | meaning |
  /// |---|---|---|---|
  /// | 0 | 8 | `UInt64`, little endian | block of the child, never 0 |
  /// | 8 | 8 | `UInt64`, little endian | elements beneath the child, never 0 |
  struct Entry: Equatable {
    let block: UInt64
    let elementCount: Int

    init(block: UInt64, elementCount: Int) {
      self.block = block
      self.elementCount = elementCount
    }

    /// The entry at an offset; `nil` if it is out of bounds or impossible.
    init?(in payload: Span<UInt8>, at offset: Int) {
      guard offset >= 0, offset &+ entryByteCount <= payload.count else { return nil }
      block = CountedList.word(in: payload, at: offset)
      let count = CountedList.word(in: payload, at: offset &+ 8)
      guard block != rootBlock, count > 0, count <= Limits.elementCountMax else { return nil }
      elementCount = Int(count)
    }

    func append(to payload: inout [UInt8]) {
      payload.append(littleEndian: block)
      payload.append(littleEndian: UInt64(elementCount))
    }
  }

  /// The range of the element whose item begins at an offset; `nil` if it is impossible.
  ///
  /// An item of a leaf is the length of the element and its bytes. The length has one to five bytes
  /// of seven bits, the lowest first; the top bit is set if more follow (shortest LEB128).
  ///
  /// The item ends at the end of the element.
  static func elementRange(in payload: Span<UInt8>, at offset: Int) -> Range<Int>? {
    guard offset >= 0, offset < payload.count else { return nil }
    let byte = payload[offset]
    let start = offset &+ 1
    guard byte < 0x80 else { return longElementRange(in: payload, at: offset) }
    let end = start &+ Int(byte)
    return end <= payload.count ? start..<end : nil
  }

  private static func longElementRange(in payload: Span<UInt8>, at offset: Int) -> Range<Int>? {
    var length = 0
    for index in 0..<5 {
      guard offset + index < payload.count else { return nil }
      let byte = payload[offset + index]
      length |= Int(byte & 0x7F) << (7 * index)
      guard byte < 0x80 else { continue }
      let start = offset + index + 1
      let isShortest = byte != 0 || index == 0
      guard isShortest, length <= Limits.elementByteCountMax, start + length <= payload.count
      else { return nil }
      return start..<(start + length)
    }
    return nil
  }

  /// Appends the item of an element to the items of a leaf.
  static func append(_ element: Span<UInt8>, to payload: inout [UInt8]) throws(CountedListError) {
    guard element.count <= Limits.elementByteCountMax else {
      throw .elementTooLarge(byteCount: element.count)
    }
    var length = element.count
    while length >= 0x80 {
      payload.append(UInt8(truncatingIfNeeded: length) | 0x80)
      length >>= 7
    }
    payload.append(UInt8(length))
    payload.append(copying: element)
  }
}
