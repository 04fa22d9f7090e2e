import Foundation

extension FieldReader {
  /// Indexes the fields of a map whose head has been read.
  func index(_ reader: inout CBORReader, count fieldCount: Int) throws(CBORError) {
    unsafe count = 0
    unsafe isSorted = true
    unsafe end = reader.end
    if unsafe capacity < fieldCount { grow(to: fieldCount) }
    for _ in 0..<fieldCount {
      guard let keyCount = try reader.textCount() else {
        // Only a dictionary has keys of other kinds, and it reads them itself.
        try reader.skip()
        try reader.skip()
        continue
      }
      let key = unsafe reader.position
      let prefix = unsafe Self.prefix(key, count: keyCount, end: reader.end)
      reader.advance(by: keyCount)
      let field = unsafe Field(
        prefix: prefix, keyCount: keyCount, key: key, value: reader.position)
      // There is room for `fieldCount` fields, which are trivial.
      if unsafe isSorted && count > 0 {
        unsafe isSorted = unsafe Self.order(fields[count - 1], prefix, keyCount, key) < 0
      }
      unsafe fields[count] = field
      unsafe count += 1
      try reader.skip()
    }
  }

  @inline(never)
  private func grow(to fieldCount: Int) {
    unsafe fields.deallocate()
    unsafe capacity = unsafe max(capacity * 2, fieldCount)
    unsafe fields = .allocate(capacity: capacity)
  }

  /// The first eight bytes of a key as a number.
  private static func prefix(
    _ key: UnsafeRawPointer, count: Int, end: UnsafeRawPointer
  ) -> UInt64 {
    if unsafe end - key >= 8 {
      // Eight bytes are there, though not all of them may belong to the key.
      let bytes = unsafe UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))
      if count >= 8 { return bytes }
      return count == 0 ? 0 : bytes & (UInt64.max &<< UInt64(64 &- 8 &* count))
    }
    var prefix: UInt64 = 0
    for index in 0..<min(count, 8) {
      let byte = unsafe key.load(fromByteOffset: index, as: UInt8.self)
      prefix |= UInt64(byte) &<< UInt64(56 &- 8 &* index)
    }
    return prefix
  }

  /// Compares a field's key with another key: shorter ones come first, for their heads are smaller.
  private static func order(
    _ field: Field, _ prefix: UInt64, _ count: Int, _ key: UnsafeRawPointer
  ) -> Int {
    if field.keyCount != count { return field.keyCount < count ? -1 : 1 }
    if field.prefix != prefix { return field.prefix < prefix ? -1 : 1 }
    if count <= 8 { return 0 }
    // Both keys have `count` bytes.
    return unsafe Int(memcmp(field.key + 8, key + 8, count - 8))
  }

  /// Finds the value of a field by its name, byte by byte.
  func find(_ name: String) -> CBORReader? {
    var name = name
    return name.withUTF8 { key -> CBORReader? in
      let start = unsafe UnsafeRawPointer(key.baseAddress ?? nil) ?? end
      let value = unsafe value(of: start, count: key.count)
      // The map's values lie before its end.
      return unsafe value.map { unsafe CBORReader(start: $0, end: end) }
    }
  }

  private func value(of key: UnsafeRawPointer, count keyCount: Int) -> UnsafeRawPointer? {
    let prefix = unsafe Self.prefix(key, count: keyCount, end: key + keyCount)
    guard unsafe count > 16 && isSorted else {
      for index in unsafe 0..<count {
        let field = unsafe fields[index]
        if field.prefix == prefix, unsafe Self.order(field, prefix, keyCount, key) == 0 {
          return unsafe field.value
        }
      }
      return nil
    }
    var (low, high) = unsafe (0, count)
    while low < high {
      let middle = (low + high) / 2
      let order = unsafe Self.order(fields[middle], prefix, keyCount, key)
      if order == 0 { return unsafe fields[middle].value }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The names of all fields, in their order in the map.
  var names: [String] {
    unsafe (0..<count).compactMap { index in
      let field = unsafe fields[index]
      // The key's bytes were checked to be there.
      return unsafe String(utf8: UnsafeRawBufferPointer(start: field.key, count: field.keyCount))
    }
  }
}
