extension TreeValue {
  /// Reads a value from JSON.
  ///
  /// Numbers are kept exactly: integers as integers (also `UInt64` ones; up to 38 digits as a
  /// decimal number), numbers with a fraction or an exponent as the nearest double. A name that
  /// occurs twice in one object is refused, because only one of the two could be kept.
  ///
  /// - Parameters:
  ///   - json: A JSON text.
  ///   - form: ``JSONForm/plain`` takes JSON as it stands, ``JSONForm/lossless`` understands the
  ///     objects that stand for other values.
  /// - Throws: ``JSONError`` with line, column and reason.
  /// - Complexity: O(*n*) for *n* bytes. Depth is limited to 512 containers.
  public init(json: String, form: JSONForm = .plain) throws(JSONError) {
    var json = json
    json.makeContiguousUTF8()
    try self.init(json: json.utf8Span.span, form: form)
  }

  /// Reads a value from the UTF-8 bytes of a JSON text.
  ///
  /// The same as for a text; a byte order mark at the beginning is skipped.
  ///
  /// - Parameters:
  ///   - json: The bytes of a JSON text.
  ///   - form: ``JSONForm/plain`` takes JSON as it stands, ``JSONForm/lossless`` understands the
  ///     objects that stand for other values.
  /// - Throws: ``JSONError`` with line, column and reason.
  /// - Complexity: O(*n*) for *n* bytes. Depth is limited to 512 containers.
  public init(json: Span<UInt8>, form: JSONForm = .plain) throws(JSONError) {
    var parser = JSONParser(json, form: form)
    self = try parser.parse()
  }

  /// Returns the value as JSON.
  ///
  /// The same value gives the same text on every machine: names are sorted by their bytes, doubles
  /// are the shortest text that reads back exactly, and show that they are no integers (`1.0`).
  ///
  /// - Parameters:
  ///   - form: How a value that JSON has no word for is written.
  ///   - isPretty: Whether to write one element or field a line, indented by two spaces.
  /// - Returns: The text, without a line break at the end.
  public func json(_ form: JSONForm = .plain, isPretty: Bool = false) -> String {
    var writer = JSONWriter(form: form, isPretty: isPretty)
    writer.write(self)
    return String(decoding: writer.output, as: UTF8.self)
  }
}

extension TreeValue: CustomStringConvertible {
  /// The value as JSON in one line, in its lossless form.
  public var description: String { json(.lossless) }
}
