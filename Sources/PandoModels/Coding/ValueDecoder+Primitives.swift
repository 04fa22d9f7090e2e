/// The types that have a method of their own in the protocol.
extension ValueDecoder {
  func decode(_ type: Bool.Type) throws -> Bool {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: String.Type) throws -> String {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Double.Type) throws -> Double {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Float.Type) throws -> Float {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Int.Type) throws -> Int {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Int8.Type) throws -> Int8 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Int16.Type) throws -> Int16 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Int32.Type) throws -> Int32 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Int64.Type) throws -> Int64 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: UInt.Type) throws -> UInt {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: UInt8.Type) throws -> UInt8 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: UInt16.Type) throws -> UInt16 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: UInt32.Type) throws -> UInt32 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: UInt64.Type) throws -> UInt64 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: Int128.Type) throws -> Int128 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }

  func decode(_ type: UInt128.Type) throws -> UInt128 {
    var reader = try reader()
    return try type.decodeScalar(from: &reader)
  }
}
