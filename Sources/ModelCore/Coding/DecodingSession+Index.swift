import Foundation

extension DecodingSession {
  /// How many nested containers of one container stay indexed.
  ///
  /// A model that opens more in a loop is
  /// done with the earlier ones as a rule; if it is not, those search their maps themselves.
  private static let nestedMapCountMaximum = 64

  /// Indexes the fields of a map whose head has been read, and returns where the index is.
  func index(
    _ reader: inout CBORReader, count: Int
  ) throws(CBORError) -> (place: Int, ticket: UInt64) {
    let first = unsafe fieldCount
    if unsafe fieldCapacity - first < count { grow(by: count) }
    var isComplete = false
    defer { if !isComplete { unsafe fieldCount = first } }
    var isSorted = true
    for _ in 0..<count {
      let head = try reader.head()
      guard head.major == .text else {
        // Only a dictionary has keys of other kinds, and it reads them itself.
        try reader.skip(contentsOf: head)
        try reader.skip()
        continue
      }
      let key = unsafe reader.position
      let keyCount = Int(head.argument)
      let prefix = unsafe Self.prefix(key, count: keyCount, end: reader.end)
      reader.advance(by: keyCount)
      let field = unsafe Field(
        prefix: prefix, keyCount: keyCount, key: key, value: reader.position)
      if unsafe isSorted && fieldCount > first {
        isSorted = unsafe Self.precedes(fields[fieldCount - 1], field)
      }
      // There is room for `count` fields from `first` on.
      unsafe (fields + fieldCount).initialize(to: field)
      unsafe fieldCount += 1
      try reader.skip()
    }
    isComplete = true
    let ticket = makeTicket()
    unsafe maps.append(
      Map(ticket: ticket, first: first, count: fieldCount - first, isSorted: isSorted))
    return unsafe (maps.count - 1, ticket)
  }

  /// Drops the indexes made since there were so many.
  func dropIndexes(from count: Int) {
    guard unsafe maps.count > count else { return }
    unsafe fieldCount = unsafe maps[count].first
    unsafe maps.removeSubrange(count...)
  }

  /// Drops the indexes of nested containers when there are very many.
  func makeRoomForNested(above count: Int) {
    if unsafe maps.count > count + Self.nestedMapCountMaximum { dropIndexes(from: count) }
  }

  @inline(never)
  private func grow(by count: Int) {
    unsafe fieldCapacity = unsafe max(fieldCapacity * 2, fieldCount + count)
    let larger = unsafe UnsafeMutablePointer<Field>.allocate(capacity: fieldCapacity)
    // Fields are trivial; both blocks have room for `fieldCount` of them.
    unsafe larger.update(from: fields, count: fieldCount)
    unsafe fields.deallocate()
    unsafe fields = larger
  }

  /// The first eight bytes of a key as a number.
  static func prefix(
    _ key: UnsafeRawPointer, count: Int, end: UnsafeRawPointer
  ) -> UInt64 {
    if unsafe end - key >= 8 {
      // Eight bytes are there, though not all of them may belong to the key.
      let bytes = unsafe UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
      if count >= 8 { return bytes }
      return count == 0 ? 0 : bytes & (UInt64.max << UInt64(64 - 8 * count))
    }
    var prefix: UInt64 = 0
    for index in 0..<min(count, 8) {
      prefix |=
        unsafe UInt64(key.load(fromByteOffset: index, as: UInt8.self))
        << UInt64(56 - 8 * index)
    }
    return prefix
  }

  /// Whether a field's key comes before another's: shorter keys do, for their heads are smaller.
  private static func precedes(_ left: Field, _ right: Field) -> Bool {
    unsafe order(left, right.prefix, right.keyCount, right.key) < 0
  }

  /// Compares a field's key with another key.
  static func order(
    _ field: Field, _ prefix: UInt64, _ count: Int, _ key: UnsafeRawPointer
  ) -> Int {
    if field.keyCount != count { return field.keyCount < count ? -1 : 1 }
    if field.prefix != prefix { return field.prefix < prefix ? -1 : 1 }
    if count <= 8 { return 0 }
    // Both keys have `count` bytes.
    return unsafe Int(memcmp(field.key + 8, key + 8, count - 8))
  }

  /// Finds the value of the field with these bytes as key.
  func value(of key: UnsafeRawBufferPointer, in map: Map) -> UnsafeRawPointer? {
    let start = unsafe key.baseAddress ?? UnsafeRawPointer(fields)
    let prefix = unsafe Self.prefix(start, count: key.count, end: start + key.count)
    let first = unsafe fields + map.first
    guard map.count > 16 && map.isSorted else {
      for index in 0..<map.count {
        let field = unsafe first[index]
        if field.prefix == prefix, unsafe Self.order(field, prefix, key.count, start) == 0 {
          return unsafe field.value
        }
      }
      return nil
    }
    var (low, high) = (0, map.count)
    while low < high {
      let middle = (low + high) / 2
      let order = unsafe Self.order(first[middle], prefix, key.count, start)
      if order == 0 { return unsafe first[middle].value }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }
}

extension CBORReader {
  /// Moves behind an item whose head has been read.
  mutating func skip(contentsOf head: CBORHead) throws(CBORError) {
    switch head.major {
    case .unsigned, .negative, .simple: break
    case .bytes, .text: advance(by: Int(head.argument))
    case .array: for _ in 0..<head.argument { try skip() }
    case .map: for _ in 0..<2 * head.argument { try skip() }
    case .tag: try skip()
    }
  }
}
