/// The types that have a method of their own in the protocol.
extension KeyedRecordDecoder {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    var name = key.stringValue
    return try map.decode(type, &name)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    var name = key.stringValue
    return try map.decodeIfPresent(type, &name)
  }
}
