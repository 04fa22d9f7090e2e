/// Writes the one value that a value consists of.
struct SingleRecordEncoder: SingleValueEncodingContainer {
  let frame: EncodingFrame

  var codingPath: [any CodingKey] { frame.codingPath }

  func encodeNil() throws {
    try begin()
    unsafe frame.writer.appendNull()
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    try begin()
    do {
      // The place of the inner value is that of the outer one.
      let outcome = unsafe try frame.encode(value, slot: frame.slot, level: frame.level)
      if outcome == .lost { unsafe frame.isLost = true }
    } catch {
      reset()
      throw error
    }
  }

  /// Begins the value; of several the last one counts.
  func begin() throws {
    try frame.use(.single)
    reset()
  }

  private func reset() {
    unsafe frame.writer.truncate(to: 0)
    unsafe frame.edges.removeAll()
    unsafe frame.referenceCount = 0
  }
}
