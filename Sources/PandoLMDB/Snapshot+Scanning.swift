extension Snapshot {
  /// Calls `body` for each key in a range, in key order.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - lower: The first key, if it is there; `nil` starts at the beginning.
  ///   - upper: The key to stop before; `nil` goes to the end.
  ///   - reversed: Whether to go from the end of the range to its beginning.
  ///   - body: Gets key and value, which live during the call; returns `false` to stop.
  /// - Throws: ``LMDBError``, or what `body` throws.
  /// - Complexity: O(log *n* + *m*) for *m* keys visited; one allocation, for the cursor.
  public func scan(
    _ table: RawTable, from lower: [UInt8]? = nil, upTo upper: [UInt8]? = nil,
    reversed: Bool = false, _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var cursor = try CursorHandle(handle, table)
    if reversed {
      try cursor.visitReversed(from: lower, upTo: upper, body)
    } else {
      try cursor.visit(from: lower, upTo: upper, body)
    }
  }

  /// Calls `body` for each key with a prefix, in key order.
  ///
  /// - Parameters:
  ///   - table: A table opened in this environment.
  ///   - prefix: What the keys begin with; an empty one means all keys.
  ///   - reversed: Whether to begin with the last key.
  ///   - body: Gets key and value, which live during the call; returns `false` to stop.
  /// - Throws: ``LMDBError``, or what `body` throws.
  /// - Complexity: O(log *n* + *m*) for *m* keys visited; one allocation, for the cursor.
  public func scan(
    _ table: RawTable, prefix: [UInt8], reversed: Bool = false,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    let upper = keyAfterPrefix(prefix)
    try scan(
      table, from: prefix.isEmpty ? nil : prefix, upTo: upper, reversed: reversed, body)
  }
}

/// The first key that is above every key with a prefix; `nil` if there is none.
func keyAfterPrefix(_ prefix: [UInt8]) -> [UInt8]? {
  var key = prefix
  while let last = key.popLast() {
    if last < .max {
      key.append(last + 1)
      return key
    }
  }
  return nil
}

extension CursorHandle {
  /// Visits the keys of a range, upwards.
  fileprivate mutating func visit(
    from lower: [UInt8]?, upTo upper: [UInt8]?,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var isFound = try lower.map { try seek($0.span) } ?? moveToFirst()
    while isFound {
      if let upper, !place.keySpan.isLess(than: upper.span) { return }
      guard try body(place.keySpan, place.valueSpan) else { return }
      isFound = try moveToNext()
    }
  }

  /// Visits the keys of a range, downwards.
  fileprivate mutating func visitReversed(
    from lower: [UInt8]?, upTo upper: [UInt8]?,
    _ body: (Span<UInt8>, Span<UInt8>) throws -> Bool
  ) throws {
    var isFound = try seekLast(below: upper?.span)
    while isFound {
      if let lower, place.keySpan.isLess(than: lower.span) { return }
      guard try body(place.keySpan, place.valueSpan) else { return }
      isFound = try moveToPrevious()
    }
  }
}
