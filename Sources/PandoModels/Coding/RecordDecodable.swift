/// A type that this module decodes itself.
protocol RecordDecodable {
  /// Reads one item.
  ///
  /// - Throws: ``CBORError`` or ``ModelError``.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Self
}

/// A ``RecordDecodable`` that holds no other value, so that it needs nothing but its bytes.
protocol RecordScalarDecodable: RecordDecodable {
  /// Reads one item.
  ///
  /// - Throws: ``CBORError`` or ``ModelError``.
  static func decodeScalar(from reader: inout CBORReader) throws -> Self
}

extension RecordScalarDecodable {
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Self {
    try decodeScalar(from: &reader)
  }
}
