/// Overloads for types that this module knows, so that no generic code runs for a small field.
extension FieldReader {
  func decode(_ type: Bool.Type, _ name: inout String) throws -> Bool {
    try decodeKnown(type, &name)
  }

  func decode(_ type: String.Type, _ name: inout String) throws -> String {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Double.Type, _ name: inout String) throws -> Double {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Float.Type, _ name: inout String) throws -> Float {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Int.Type, _ name: inout String) throws -> Int {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Int8.Type, _ name: inout String) throws -> Int8 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Int16.Type, _ name: inout String) throws -> Int16 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Int32.Type, _ name: inout String) throws -> Int32 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Int64.Type, _ name: inout String) throws -> Int64 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: UInt.Type, _ name: inout String) throws -> UInt {
    try decodeKnown(type, &name)
  }

  func decode(_ type: UInt8.Type, _ name: inout String) throws -> UInt8 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: UInt16.Type, _ name: inout String) throws -> UInt16 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: UInt32.Type, _ name: inout String) throws -> UInt32 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: UInt64.Type, _ name: inout String) throws -> UInt64 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: Int128.Type, _ name: inout String) throws -> Int128 {
    try decodeKnown(type, &name)
  }

  func decode(_ type: UInt128.Type, _ name: inout String) throws -> UInt128 {
    try decodeKnown(type, &name)
  }

  func decodeIfPresent(_ type: Bool.Type, _ name: inout String) throws -> Bool? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: String.Type, _ name: inout String) throws -> String? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Double.Type, _ name: inout String) throws -> Double? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Float.Type, _ name: inout String) throws -> Float? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int.Type, _ name: inout String) throws -> Int? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int8.Type, _ name: inout String) throws -> Int8? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int16.Type, _ name: inout String) throws -> Int16? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int32.Type, _ name: inout String) throws -> Int32? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int64.Type, _ name: inout String) throws -> Int64? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt.Type, _ name: inout String) throws -> UInt? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt8.Type, _ name: inout String) throws -> UInt8? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt16.Type, _ name: inout String) throws -> UInt16? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt32.Type, _ name: inout String) throws -> UInt32? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt64.Type, _ name: inout String) throws -> UInt64? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: Int128.Type, _ name: inout String) throws -> Int128? {
    try decodeKnownIfPresent(type, &name)
  }

  func decodeIfPresent(_ type: UInt128.Type, _ name: inout String) throws -> UInt128? {
    try decodeKnownIfPresent(type, &name)
  }
}
