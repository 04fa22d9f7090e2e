extension Optional: RecordEncodable where Wrapped: Encodable {
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    guard let wrapped = self else {
      unsafe frame.writer.appendNull()
      return .written
    }
    let slot = slot.unwrapped
    let outcome = try frame.encode(wrapped, slot: slot, level: level)
    guard outcome == .lost && slot == .optional else { return outcome }
    unsafe frame.writer.appendNull()
    return .written
  }
}
