/// The types that have a method of their own in the protocol.
extension UnkeyedRecordEncoder {
  func encode(_ value: Bool) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: String) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Double) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Float) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int8) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int16) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int32) throws {
    try frame.beginElement()
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int64) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt8) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt16) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt32) throws {
    try frame.beginElement()
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt64) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int128) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt128) throws {
    try frame.beginElement()
    unsafe frame.writer.append(value)
    frame.endEntry()
  }
}
