/// Copies of stores in a log: parts, and a record that makes each copy valid.
package protocol LogCopies: ReplicationLog {
  associatedtype Copy: LogCopy

  /// The complete copies, the newest first.
  func copies() throws -> [Copy]
  /// Calls a closure with each part; stops at a missing or damaged part.
  ///
  /// - Returns: Whether all parts were found undamaged.
  func forEachPart(of copy: Copy, _ body: ([UInt8]) throws -> Void) throws -> Bool
}

/// A complete copy of a store.
package protocol LogCopy {
  /// The position that the store had applied.
  var position: UInt64 { get }
}

extension LogCopies {
  /// The number of copies that a log keeps.
  package static var keptCopyCount: Int { 2 }

  /// Reads the newest undamaged copy: twice, because parts passed to the closure can't be revoked.
  ///
  /// - Parameter body: Receives the parts in order.
  /// - Returns: The position that the store had applied; `nil` if there is no copy.
  /// - Throws: ``LogFault``, and errors of `body`.
  package func readNewestCopy(_ body: ([UInt8]) throws -> Void) throws -> UInt64? {
    for copy in try copies() {
      guard try forEachPart(of: copy, { _ in }) else { continue }
      guard try forEachPart(of: copy, body) else {
        throw LogFault.unavailable("a copy was removed while it was read")
      }
      return copy.position
    }
    return nil
  }

  /// Splits the parts of a copy into parts of a limited size.
  ///
  /// - Parameters:
  ///   - byteCount: The limit.
  ///   - nextPart: Returns the parts of the copy, then `nil`.
  ///   - body: Receives the parts in order.
  /// - Throws: The errors of the closures.
  package func split(
    _ byteCount: Int, _ nextPart: () throws -> [UInt8]?, _ body: ([UInt8]) throws -> Void
  ) throws {
    while let whole = try nextPart() {
      for start in stride(from: 0, to: max(1, whole.count), by: byteCount) {
        try body(Array(whole[start..<min(start + byteCount, whole.count)]))
      }
    }
  }
}
