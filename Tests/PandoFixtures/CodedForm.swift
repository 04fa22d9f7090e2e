import Foundation

/// The JSON of a value, its names in the order of the alphabet.
///
/// - Parameter value: Anything that can be encoded.
/// - Returns: The JSON, without spaces.
/// - Throws: What the value throws.
public func sortedJSON(_ value: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// Reads a value from JSON.
///
/// - Parameters:
///   - type: What is read.
///   - json: Its JSON.
/// - Returns: The value.
/// - Throws: `DecodingError`.
public func fromJSON<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
  try JSONDecoder().decode(type, from: Data(json.utf8))
}

/// The names that a value writes into its own object, in the order of writing.
///
/// Most encoders sort them or lose their order; those of others may not.
///
/// - Parameter value: A value that encodes itself as an object.
/// - Returns: The names, those of values that are `nil` left out where the value leaves them out.
/// - Throws: What the value throws.
public func writtenNames(of value: some Encodable) throws -> [String] {
  let recorder = NameRecorder()
  try value.encode(to: recorder)
  return recorder.names
}

private final class NameRecorder: Encoder {
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]
  var names: [String] = []

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(NameContainer(recorder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { preconditionFailure("not an object") }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    preconditionFailure("not an object")
  }
}

private struct NameContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let codingPath: [any CodingKey] = []
  let recorder: NameRecorder

  func encodeNil(forKey key: Key) { recorder.names.append(key.stringValue) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) {
    recorder.names.append(key.stringValue)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    preconditionFailure("the object is nested")
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    preconditionFailure("the object is nested")
  }

  func superEncoder() -> any Encoder { preconditionFailure("the object has a parent") }

  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}
