import PandoSystem

extension Array: RecordEncodable where Element: Encodable {
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    // Not a cast of the value: an empty array casts to an array of anything.
    if Element.self == UInt8.self {
      unsafe frame.writer.append(byteString: unsafeBitCast(self, to: [UInt8].self))
      return .written
    }
    try frame.encodeElements(self, level: level)
    return .written
  }
}

extension Set: RecordEncodable where Element: Encodable {
  /// Sets have no order of their own: elements are written in the order of their bytes.
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    let scratch = try unsafe frame.session.makeFrame(
      in: frame, slot: .element, level: level + 1, splits: frame.splits)
    for element in try inTraversalOrder() {
      let start = unsafe scratch.writer.count
      guard try scratch.encode(element, slot: .element, level: level + 1) == .written else {
        continue
      }
      unsafe scratch.entries.append(
        EncodingFrame.Entry(start: start, value: scratch.writer.count, end: 0, nested: -1))
    }
    scratch.sortElements()
    unsafe frame.writer.append(arrayHead: scratch.entries.count)
    frame.appendSorted(scratch)
    unsafe frame.session.recycle(scratch)
    return .written
  }

  /// The elements in an order that is the same every time if they are nodes, so that of two with one
  /// identifier the same one counts.
  private func inTraversalOrder() throws -> [Element] {
    guard Element.self is any Model.Type else { return Array(self) }
    return try map { (try RecordEncoder.encodeValue($0).body, $0) }
      .sorted { $0.0.lexicographicallyPrecedes($1.0) }
      .map(\.1)
  }
}

extension EncodingFrame {
  /// Writes a list.
  func encodeElements<Element: Encodable>(_ elements: [Element], level: Int) throws {
    guard level < RecordLimits.maximumNestingDepth else { throw EncodingSession.nestingTooDeep }
    let traits = unsafe TypeTable.traits(of: Element.self)
    let start = unsafe writer.count
    unsafe writer.append(arrayHead: elements.count)
    var lostCount = 0
    for index in elements.indices {
      do {
        let outcome = try unsafe encode(elements[index], traits, slot: .element, level: level + 1)
        if outcome == .lost { lostCount += 1 }
      } catch {
        throw ModelError.located(error, inside: "[\(index)]")
      }
    }
    guard lostCount > 0 else { return }
    // The head said how many there were before some were removed.
    unsafe writer.replaceHead(.array, elements.count, by: elements.count - lostCount, at: start)
  }

  /// Sorts the elements in this frame by their bytes.
  func sortElements() {
    guard let base = unsafe writer.buffer.baseAddress else { return }
    unsafe entries.sort { left, right in
      let (leftCount, rightCount) = (left.value - left.start, right.value - right.start)
      // Entries lie within the bytes written so far.
      let order = unsafe memcmp(base + left.start, base + right.start, min(leftCount, rightCount))
      return order == 0 ? leftCount < rightCount : order < 0
    }
  }

  /// Takes over elements that lie from `start` to `value` of their entries, in the order of those.
  func appendSorted(_ scratch: EncodingFrame) {
    for index in unsafe 0..<scratch.entries.count {
      let entry = unsafe scratch.entries[index]
      // Entries lie within the bytes written so far.
      unsafe writer.append(
        raw: UnsafeRawBufferPointer(rebasing: scratch.writer.buffer[entry.start..<entry.value]))
    }
    unsafe referenceCount += scratch.referenceCount
    unsafe edges += scratch.edges
  }
}
