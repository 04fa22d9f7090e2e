/// Types with an encoding of their own wherever they stand.
extension Bool: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension String: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension Double: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension Float: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension Int: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(Int64(self)) }
}

extension Int8: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(Int64(self)) }
}

extension Int16: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(Int64(self)) }
}

extension Int32: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(Int64(self)) }
}

extension Int64: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension UInt: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(UInt64(self)) }
}

extension UInt8: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(UInt64(self)) }
}

extension UInt16: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(UInt64(self)) }
}

extension UInt32: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(UInt64(self)) }
}

extension UInt64: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension Int128: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension UInt128: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}
