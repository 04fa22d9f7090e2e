import Foundation

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
    for entry in unsafe entries {
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

  /// Sorts the fields by the bytes of their keys; of two with one key the later one stays.
  ///
  /// - Throws: ``ModelError`` if a field that held a child was encoded twice.
  private func sortFields() throws {
    let base = unsafe UnsafeRawPointer(writer.buffer.baseAddress)
    guard let base = unsafe base, unsafe entries.count > 1 else { return }
    if unsafe entries.count > 32 {
      // Stable, so that the last of equal keys is the one written last.
      unsafe entries.sort { unsafe Self.order($0, $1, base) < 0 }
    } else {
      for index in unsafe 1..<entries.count {
        let entry = unsafe entries[index]
        var place = index
        while place > 0, unsafe Self.order(entries[place - 1], entry, base) > 0 {
          unsafe entries[place] = unsafe entries[place - 1]
          place -= 1
        }
        unsafe entries[place] = entry
      }
    }
    var last = 0
    for index in unsafe 1..<entries.count {
      if unsafe Self.order(entries[last], entries[index], base) != 0 { last += 1 }
      unsafe entries[last] = unsafe entries[index]
    }
    guard unsafe last + 1 < entries.count else { return }
    if unsafe referenceCount > 0 {
      throw ModelError(.codingFailed, reason: "encode(to:) encoded a field twice")
    }
    unsafe entries.removeSubrange((last + 1)...)
  }

  /// Compares the bytes of two keys; the shorter never begins the longer, for their heads differ.
  @inline(__always)
  private static func order(_ left: Entry, _ right: Entry, _ base: UnsafeRawPointer) -> Int32 {
    if left.prefix != right.prefix { return left.prefix < right.prefix ? -1 : 1 }
    let count = min(left.value - left.start, right.value - right.start)
    // Entries lie within the bytes that `base` points to.
    return unsafe memcmp(base + left.start, base + right.start, count)
  }
}
