/// A place in a table, to walk from key to key in both directions.
///
/// It begins nowhere: move it before asking what it points to. Like the snapshot it was made from
/// it can't leave the closure; what it points to lives as long as that snapshot.
///
/// - Note: One cursor serves one thread at a time.
public struct Cursor: ~Copyable, ~Escapable {
  private var handle: CursorHandle
  /// What it points to; nowhere if a move found nothing, or before the first move.
  ///
  /// The bytes stay in the map as long as the snapshot that the cursor was made from.
  @usableFromInline internal private(set) var place = CursorPlace.nowhere

  @_lifetime(copy snapshot)
  init(_ snapshot: Snapshot, _ table: RawTable) throws(LMDBError) {
    handle = try CursorHandle(snapshot.handle, table)
  }

  /// The key it points to; `nil` if a move found nothing, or before the first move.
  @inlinable
  public var key: Span<UInt8>? {
    @_lifetime(copy self)
    get {
      guard place.isSomewhere else { return nil }
      // The bytes outlive `self`, as said above.
      return unsafe _overrideLifetime(Span(_unsafeBytes: place.key), copying: self)
    }
  }

  /// The value it points to; `nil` if a move found nothing, or before the first move.
  @inlinable
  public var value: Span<UInt8>? {
    @_lifetime(copy self)
    get {
      guard place.isSomewhere else { return nil }
      // As for `key`.
      return unsafe _overrideLifetime(Span(_unsafeBytes: place.value), copying: self)
    }
  }

  /// Moves to the first key.
  ///
  /// - Returns: `false` if the table is empty.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func moveToFirst() throws(LMDBError) -> Bool {
    defer { place = handle.place }
    return try handle.moveToFirst()
  }

  /// Moves to the last key.
  ///
  /// - Returns: `false` if the table is empty.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func moveToLast() throws(LMDBError) -> Bool {
    defer { place = handle.place }
    return try handle.moveToLast()
  }

  /// Moves to the next key; from nowhere to the first one.
  ///
  /// - Returns: `false` if there is no further key.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(1) on average.
  @_lifetime(self: copy self)
  public mutating func moveToNext() throws(LMDBError) -> Bool {
    defer { place = handle.place }
    return try handle.moveToNext()
  }

  /// Moves to the key before; from nowhere to the last one.
  ///
  /// - Returns: `false` if there is no key before.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(1) on average.
  @_lifetime(self: copy self)
  public mutating func moveToPrevious() throws(LMDBError) -> Bool {
    defer { place = handle.place }
    return try handle.moveToPrevious()
  }

  /// Moves to a key, or to the first one above it.
  ///
  /// - Parameter key: Any bytes; empty ones mean the first key.
  /// - Returns: `false` if the table has no key at or above it.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func move(toFirstNotBelow key: Span<UInt8>) throws(LMDBError) -> Bool {
    defer { place = handle.place }
    return try handle.seek(key)
  }

  /// Moves to the last key below another.
  ///
  /// - Parameter key: Any bytes.
  /// - Returns: `false` if the table has no key below it.
  /// - Throws: ``LMDBError`` if the file is damaged.
  /// - Complexity: O(log *n*) for *n* keys in the table.
  @_lifetime(self: copy self)
  public mutating func move(toLastBelow key: Span<UInt8>) throws(LMDBError) -> Bool {
    defer { place = handle.place }
    return try handle.seekLast(below: key)
  }
}

extension Snapshot {
  /// Makes a cursor in a table.
  ///
  /// - Parameter table: A table opened in this environment.
  /// - Returns: A cursor that points nowhere yet.
  /// - Throws: ``LMDBError`` with code `badTable` if the table was opened after this snapshot.
  /// - Complexity: O(1), one allocation.
  @_lifetime(copy self)
  public func cursor(in table: RawTable) throws(LMDBError) -> Cursor {
    try Cursor(self, table)
  }
}
