/// A type that this module decodes itself.
protocol RecordDecodable {
  /// Reads one item.
  ///
  /// - Throws: ``CBORError`` or ``ModelError``.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Self
}
