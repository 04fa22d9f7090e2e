import FoundationEssentials

/// A type that this module encodes itself, because its own `encode(to:)` is slower, not
/// deterministic, or does not describe how children are lost.
protocol RecordEncodable {
  /// Writes one item into a frame, or nothing if the value is lost.
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome
}

/// A ``RecordEncodable`` that is never lost and has no child.
protocol RecordScalar: RecordEncodable {
  func append(to writer: inout CBORWriter)
}

extension RecordScalar {
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    unsafe append(to: &frame.writer)
    return .written
  }
}

/// The types with an encoding of their own in all places.
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

extension RecordScalar where Self: SignedInteger & FixedWidthInteger {
  func append(to writer: inout CBORWriter) { writer.append(Int64(self)) }
}

extension RecordScalar where Self: UnsignedInteger & FixedWidthInteger {
  func append(to writer: inout CBORWriter) { writer.append(UInt64(self)) }
}

extension Int: RecordScalar {}
extension Int8: RecordScalar {}
extension Int16: RecordScalar {}
extension Int32: RecordScalar {}
extension Int64: RecordScalar {}
extension UInt: RecordScalar {}
extension UInt8: RecordScalar {}
extension UInt16: RecordScalar {}
extension UInt32: RecordScalar {}
extension UInt64: RecordScalar {}

extension Int128: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension UInt128: RecordScalar {
  func append(to writer: inout CBORWriter) { writer.append(self) }
}

extension Data: RecordScalar {
  func append(to writer: inout CBORWriter) {
    unsafe withUnsafeBytes { unsafe writer.append(byteString: $0) }
  }
}

extension Date: RecordScalar {
  /// Seconds since 2001-01-01 00:00 UTC, the exact coding of `Date`.
  func append(to writer: inout CBORWriter) { writer.append(timeIntervalSinceReferenceDate) }
}

extension UUID: RecordScalar {
  func append(to writer: inout CBORWriter) {
    writer.append(tag: RecordTag.uuid)
    unsafe withUnsafeBytes(of: uuid) { unsafe writer.append(byteString: $0) }
  }
}

extension Decimal: RecordScalar {
  /// `[exponent, mantissa]`; not-a-number is the float NaN, because the tag has no form for it.
  func append(to writer: inout CBORWriter) {
    guard !isNaN else { return writer.append(Double.nan) }
    writer.append(tag: RecordTag.decimalFraction)
    writer.append(arrayHead: 2)
    let (magnitude, exponent) = parts
    writer.append(Int64(exponent))
    // A negative integer n is stored as −1 − n, so its magnitude is one less there.
    let isNegative = sign == .minus && magnitude > 0
    writer.appendInteger(isNegative: isNegative, magnitude: isNegative ? magnitude - 1 : magnitude)
  }
}

extension URL: RecordEncodable {
  /// A tagged text; a relative URL is a map of both parts, as `URL` codes itself.
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    guard baseURL == nil else {
      return try frame.encodeInline(self, slot: slot, level: level, splits: false)
    }
    unsafe frame.writer.append(tag: RecordTag.url)
    unsafe frame.writer.append(relativeString)
    return .written
  }
}
