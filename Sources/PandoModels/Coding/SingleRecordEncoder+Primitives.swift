/// The types that have a method of their own in the protocol.
extension SingleRecordEncoder {
  func encode(_ value: Bool) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: String) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Double) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Float) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Int) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int8) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int16) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int32) throws {
    try begin()
    unsafe frame.writer.append(Int64(value))
  }

  func encode(_ value: Int64) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: UInt) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt8) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt16) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt32) throws {
    try begin()
    unsafe frame.writer.append(UInt64(value))
  }

  func encode(_ value: UInt64) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: Int128) throws {
    try begin()
    unsafe frame.writer.append(value)
  }

  func encode(_ value: UInt128) throws {
    try begin()
    unsafe frame.writer.append(value)
  }
}
