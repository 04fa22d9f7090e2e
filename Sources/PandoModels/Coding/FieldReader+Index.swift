import PandoSystem

extension FieldReader {
  /// Finds the value of a field by its name, byte by byte.
  func find(_ name: inout String) -> CBORReader? {
    name.withUTF8 { key in unsafe index.pointee.find(key) }
  }

  /// The names of all fields, in their order in the map.
  var names: [String] {
    guard isValid else { return [] }
    return unsafe (0..<index.pointee.count).compactMap { place in
      let field = unsafe index.pointee.fields[place]
      // The key's bytes were checked to be there.
      return unsafe String(utf8: UnsafeRawBufferPointer(start: field.key, count: field.keyCount))
    }
  }
}

extension FieldIndex {
  /// Finds the value of a field by its name.
  @inline(__always)
  mutating func find(_ name: UnsafeBufferPointer<UInt8>) -> CBORReader? {
    let key = unsafe UnsafeRawPointer(name.baseAddress ?? nil) ?? end
    let question = unsafe askedCount
    unsafe askedCount = question + 1
    // Most values of a type have the same fields and are asked for them in the same order.
    let hints = unsafe owner?.pointee.hints
    var place = unsafe hints?[question] ?? lastFound + 1
    if unsafe place >= count || !fields[place].hasKey(key, count: name.count) {
      guard let found = unsafe search(key, count: name.count) else { return nil }
      hints?[question] = found
      place = found
    }
    unsafe lastFound = place
    let field = unsafe fields[place]
    // The map's values lie before its end.
    return unsafe CBORReader(start: field.key + field.keyCount, end: end)
  }

  @inline(never)
  private mutating func search(_ key: UnsafeRawPointer, count keyCount: Int) -> Int? {
    guard unsafe count > 16, unsafe areKeysSorted() else {
      for place in unsafe 0..<count where unsafe fields[place].hasKey(key, count: keyCount) {
        return place
      }
      return nil
    }
    var (low, high) = unsafe (0, count)
    while low < high {
      let middle = (low + high) / 2
      let order = unsafe fields[middle].order(key, count: keyCount)
      if order == 0 { return middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private mutating func areKeysSorted() -> Bool {
    if let known = unsafe isSorted { return known }
    var found = true
    for place in unsafe 1..<count {
      let field = unsafe fields[place]
      if unsafe fields[place - 1].order(field.key, count: field.keyCount) >= 0 { found = false }
    }
    unsafe isSorted = found
    return found
  }
}

extension FieldIndex.Field {
  /// Whether the key has these bytes.
  @inline(__always)
  func hasKey(_ other: UnsafeRawPointer, count: Int) -> Bool {
    guard keyCount == count else { return false }
    // Both keys have `count` bytes. Loads that overlap are cheaper than a call.
    if count >= 8 && count <= 16 {
      return unsafe key.loadUnaligned(as: UInt64.self) == other.loadUnaligned(as: UInt64.self)
        && key.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
          == other.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
    }
    if count >= 4 && count < 8 {
      return unsafe key.loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
        && key.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
          == other.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
    }
    return unsafe memcmp(key, other, count) == 0
  }

  /// Compares the key with another: shorter ones come first, for their heads are smaller.
  func order(_ other: UnsafeRawPointer, count: Int) -> Int {
    if keyCount != count { return keyCount < count ? -1 : 1 }
    // Both keys have `count` bytes.
    return unsafe Int(memcmp(key, other, count))
  }
}
