extension EncodingFrame {
  /// Writes the complete value into the frame around it.
  func finish(into target: EncodingFrame) throws -> EncodingOutcome {
    let outcome = try unsafe finish(into: &target.writer)
    if unsafe outcome == .written && referenceCount > 0 {
      unsafe target.referenceCount += referenceCount
      unsafe target.edges += edges
    }
    return outcome
  }

  /// Writes the complete value.
  ///
  /// Afterwards this frame has the edges of all that is inside.
  func finish(into writer: inout CBORWriter) throws -> EncodingOutcome {
    if unsafe !nested.isEmpty { try settleNested() }
    if let failure = unsafe failure { throw failure }
    if unsafe isLost { return .lost }
    switch unsafe layout {
    case .nothing: writer.append(mapHead: 0)
    case .single: unsafe writer.append(raw: self.writer.buffer)
    case .array:
      unsafe writer.append(arrayHead: entries.count)
      try copyEntries(to: &writer)
    case .map:
      try sortFields()
      if unsafe slot == .optional && holdsReference {
        writer.append(tag: RecordTag.optionalSlot)
      }
      unsafe writer.append(mapHead: entries.count)
      try copyEntries(to: &writer)
    }
    return .written
  }

  /// Finds out what became of the frames that were filled later: a field that was lost takes the value
  /// along, an element is removed.
  private func settleNested() throws {
    for frame in unsafe nested {
      if unsafe !frame.nested.isEmpty { try frame.settleNested() }
      if let failure = unsafe frame.failure { throw failure }
      if unsafe frame.isLost && layout != .array { unsafe isLost = true }
    }
    if unsafe layout == .array {
      unsafe entries.removeAll { unsafe $0.nested >= 0 && nested[$0.nested].isLost }
    }
  }

  private var holdsReference: Bool {
    unsafe referenceCount > 0 || nested.contains { $0.holdsReference }
  }

  private func copyEntries(to writer: inout CBORWriter) throws {
    if unsafe nested.isEmpty { return copyPlainEntries(to: &writer) }
    for index in unsafe 0..<entries.count {
      let entry = unsafe entries[index]
      // Entries lie within the bytes written so far.
      unsafe writer.append(
        raw: UnsafeRawBufferPointer(
          start: self.writer.base + entry.start, count: entry.end - entry.start))
      guard entry.nested >= 0 else { continue }
      let frame = unsafe nested[entry.nested]
      _ = try frame.finish(into: &writer)
      unsafe referenceCount += frame.referenceCount
      unsafe edges += frame.edges
    }
  }

  /// Does the same where all entries are complete.
  private func copyPlainEntries(to writer: inout CBORWriter) {
    let base = unsafe self.writer.base
    // Entries lie within the bytes written so far and don't overlap.
    var room = unsafe writer.beginAppending(upTo: self.writer.count)
    for index in unsafe 0..<entries.count {
      let entry = unsafe entries[index]
      let count = entry.end - entry.start
      unsafe CBORWriter.copy(base + entry.start, to: room, count)
      unsafe room += count
    }
    unsafe writer.endAppending(at: room)
  }

  /// Sorts the fields by the bytes of their keys; of two with one key the later one stays.
  ///
  /// - Throws: ``ModelError`` if a field that held a child was encoded twice.
  private func sortFields() throws {
    guard unsafe content.pointee.sortFields() else { return }
    if unsafe referenceCount > 0 {
      throw ModelError(.codingFailed, reason: "encode(to:) encoded a field twice")
    }
    unsafe content.pointee.dropEarlierDuplicates()
  }
}
