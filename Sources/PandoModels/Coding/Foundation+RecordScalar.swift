import FoundationEssentials

extension Data: RecordScalar {
  func append(to writer: inout CBORWriter) {
    unsafe withUnsafeBytes { unsafe writer.append(byteString: $0) }
  }
}

extension Date: RecordScalar {
  /// Seconds since 2001-01-01 00:00 UTC, as `Date` codes itself, so that every bit survives.
  func append(to writer: inout CBORWriter) { writer.append(timeIntervalSinceReferenceDate) }
}

extension UUID: RecordScalar {
  func append(to writer: inout CBORWriter) {
    writer.append(tag: RecordTag.uuid)
    unsafe withUnsafeBytes(of: uuid) { unsafe writer.append(byteString: $0) }
  }
}

extension Decimal: RecordScalar {
  /// `[exponent, mantissa]`; not a number is the float that says so, for the tag has no form for it.
  func append(to writer: inout CBORWriter) {
    guard !isNaN else { return writer.append(Double.nan) }
    writer.append(tag: RecordTag.decimalFraction)
    writer.append(arrayHead: 2)
    let (exponent, magnitude) = parts
    writer.append(Int64(exponent))
    // A negative integer n is held as −1 − n, so its magnitude is one less there.
    let isNegative = sign == .minus && magnitude > 0
    writer.appendInteger(isNegative: isNegative, magnitude: isNegative ? magnitude - 1 : magnitude)
  }
}

extension URL: RecordEncodable {
  /// A tagged text; a URL relative to another is a map of both, as `URL` codes itself.
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
