import Foundation

extension EncodingFrame {
  /// Writes the complete value into the frame around it.
  func finish(into target: EncodingFrame) throws -> EncodingOutcome {
    if !nested.isEmpty { try settleNested() }
    if let failure { throw failure }
    if unsafe isLost { return .lost }
    switch unsafe layout {
    case .nothing: unsafe target.writer.append(mapHead: 0)
    case .single: unsafe target.writer.append(raw: writer.buffer)
    case .array:
      unsafe target.writer.append(arrayHead: entries.count)
      try copyEntries(to: target)
    case .map:
      try sortFields()
      if unsafe slot == .optional && holdsReference {
        unsafe target.writer.append(tag: RecordTag.optionalSlot)
      }
      unsafe target.writer.append(mapHead: entries.count)
      try copyEntries(to: target)
    }
    if unsafe referenceCount > 0 {
      unsafe target.referenceCount += referenceCount
      unsafe target.edges += edges
    }
    return .written
  }

  /// Finds out what became of the frames that were filled later: a field that was lost takes the value
  /// along, an element is removed.
  private func settleNested() throws {
    for frame in nested {
      if !frame.nested.isEmpty { try frame.settleNested() }
      if let failure = frame.failure { throw failure }
      if unsafe frame.isLost && layout != .array { unsafe isLost = true }
    }
    if unsafe layout == .array {
      unsafe entries.removeAll { unsafe $0.nested >= 0 && nested[$0.nested].isLost }
    }
  }

  private var holdsReference: Bool {
    unsafe referenceCount > 0 || nested.contains { $0.holdsReference }
  }

  private func copyEntries(to target: EncodingFrame) throws {
    for entry in unsafe entries {
      // Entries lie within the bytes written so far.
      unsafe target.writer.append(
        raw: UnsafeRawBufferPointer(rebasing: writer.buffer[entry.start..<entry.end]))
      if entry.nested >= 0 { _ = try nested[entry.nested].finish(into: target) }
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
  private static func order(_ left: Entry, _ right: Entry, _ base: UnsafeRawPointer) -> Int32 {
    let count = min(left.value - left.start, right.value - right.start)
    // Entries lie within the bytes that `base` points to.
    return unsafe memcmp(base + left.start, base + right.start, count)
  }
}
