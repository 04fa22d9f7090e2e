/// The types that have a method of their own in the protocol.
extension UnkeyedRecordDecoder {
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: String.Type) throws -> String {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Double.Type) throws -> Double {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Float.Type) throws -> Float {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Int.Type) throws -> Int {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try next { try type.decodeRecord(from: &$1, in: $0, level: $2) }
  }
}
