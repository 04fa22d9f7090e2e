/// A type of a module above this one that reads itself from one item of a record.
///
/// Its `init(from:)` must give the same; this one is asked first, for the containers of `Codable` cost
/// more than reading a small item.
package protocol RecordItemDecodable: Decodable {
  /// Reads the next item.
  ///
  /// - Parameter reader: Before the item; where it is left does not matter.
  /// - Throws: Anything: the item is then read by `init(from:)`, whose error counts.
  init(item reader: inout CBORReader) throws
}

/// Thrown by a ``RecordItemDecodable`` for an item that is left to its `init(from:)`.
package struct OtherRecordItem: Error {
  package init() {}
}
