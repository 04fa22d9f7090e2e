/// A type that this module encodes itself, because its own `encode(to:)` would be slower, or not the
/// same every time, or would not tell how children are lost.
protocol RecordEncodable {
  /// Writes one item into a frame, or nothing if the value is lost.
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome
}

/// A ``RecordEncodable`` that is never lost and holds no child.
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
