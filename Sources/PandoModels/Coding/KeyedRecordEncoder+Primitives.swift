/// The types that have a method of their own in the protocol.
extension KeyedRecordEncoder {
  func encode(_ value: Bool, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: String, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Float, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int8, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int16, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int32, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(Int64(value))
    frame.endEntry()
  }

  func encode(_ value: Int64, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt8, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt16, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt32, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(UInt64(value))
    frame.endEntry()
  }

  func encode(_ value: UInt64, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: Int128, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }

  func encode(_ value: UInt128, forKey key: Key) throws {
    try frame.beginField(key.stringValue)
    unsafe frame.writer.append(value)
    frame.endEntry()
  }
}

/// An absent value is written as null, so that it can be told from a field the type does not know.
extension KeyedRecordEncoder {
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }

  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
  }
}
