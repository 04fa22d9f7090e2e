/// The types that have a method of their own in the protocol.
extension KeyedRecordDecoder {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try map.decode(type, key.stringValue)
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try map.decode(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try map.decodeIfPresent(type, key.stringValue)
  }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try map.decodeIfPresent(type, key.stringValue)
  }
}
