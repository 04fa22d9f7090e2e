/// A coding key made from its name.
///
/// The compiler generates about thirty functions for each enum of keys. The types of Pando share
/// this key instead and have hand-written coding of the same form.
package struct TextKey: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }

  /// Makes a key.
  ///
  /// - Parameter name: Its name.
  package init(_ name: String) { stringValue = name }

  package init?(stringValue: String) { self.init(stringValue) }

  package init?(intValue: Int) { nil }
}

extension Decoder {
  /// Opens an object with text keys.
  ///
  /// - Returns: Its fields.
  /// - Throws: The error of the decoder.
  package func row() throws -> KeyedDecodingContainer<TextKey> {
    try container(keyedBy: TextKey.self)
  }
}

extension KeyedDecodingContainer<TextKey> {
  /// Reads a field.
  ///
  /// - Parameter name: Its name.
  /// - Returns: Its value.
  /// - Throws: The error of the decoder, also if there is no such field.
  package func get<Value: Decodable>(_ name: String) throws -> Value {
    try decode(Value.self, forKey: TextKey(name))
  }

  /// Reads a field that may be absent or null.
  ///
  /// - Parameter name: Its name.
  /// - Returns: Its value; `nil` if there is none.
  /// - Throws: The error of the decoder.
  package func find<Value: Decodable>(_ name: String) throws -> Value? {
    try decodeIfPresent(Value.self, forKey: TextKey(name))
  }

  /// Finds the enum case in an object of the form `{"case": {"label": value}}`.
  ///
  /// - Parameters:
  ///   - type: The enum.
  ///   - names: The names of its cases; others are ignored.
  /// - Returns: The name of the case, and its values.
  /// - Throws: `DecodingError` if the object has none or several of them; the error of the decoder.
  func onlyCase(of type: Any.Type, _ names: [String]) throws -> (name: String, values: Self) {
    let known = allKeys.filter { names.contains($0.stringValue) }
    guard known.count == 1 else {
      throw DecodingError.typeMismatch(
        type,
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "Invalid number of keys found, expected one."))
    }
    return (known[0].stringValue, try nestedContainer(keyedBy: TextKey.self, forKey: known[0]))
  }
}
