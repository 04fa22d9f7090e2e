import FoundationEssentials
import PandoModels
import PandoSystem

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

extension Array: RecordEncodable where Element: Encodable {
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    // Not a cast of the value: an empty array casts to an array of any type.
    if Element.self == UInt8.self {
      unsafe frame.writer.append(byteString: unsafeBitCast(self, to: [UInt8].self))
      return .written
    }
    try frame.encodeElements(self, level: level)
    return .written
  }
}

extension Set: RecordEncodable where Element: Encodable {
  /// Sets are unordered: elements are written in the order of their bytes.
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
    _ = unsafe scratch.content.pointee.sortEntries()
    unsafe frame.writer.append(arrayHead: scratch.entries.count)
    frame.appendSorted(scratch)
    unsafe frame.session.recycle(scratch)
    return .written
  }

  /// The elements; those that are nodes in a deterministic order, so that of two with one
  /// identifier the same one counts.
  private func inTraversalOrder() throws -> [Element] {
    guard Element.self is any Model.Type else { return Array(self) }
    return try map { (try RecordEncoder.encodeValue($0).body, $0) }
      .ordered { $0.0.lexicographicallyPrecedes($1.0) }
      .map(\.1)
  }
}

extension EncodingFrame {
  /// Writes a list.
  func encodeElements<Element: Encodable>(_ elements: [Element], level: Int) throws {
    guard unsafe level < session.levelLimit else { throw EncodingSession.nestingTooDeep }
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
    // The head had the number of elements before some were removed.
    unsafe writer.replaceHead(.array, elements.count, by: elements.count - lostCount, at: start)
  }

  /// Appends elements from `start` to `value` of their entries, in entry order.
  func appendSorted(_ scratch: EncodingFrame) {
    for index in unsafe 0..<scratch.entries.count {
      let entry = unsafe scratch.entries[index]
      // Entries lie within the written bytes.
      unsafe writer.append(
        raw: UnsafeRawBufferPointer(rebasing: scratch.writer.buffer[entry.start..<entry.value]))
    }
    unsafe referenceCount += scratch.referenceCount
    unsafe edges += scratch.edges
  }
}

extension Dictionary: RecordEncodable where Key: Encodable, Value: Encodable {
  /// Entries are written in the order of their encoded keys; children are visited in that order,
  /// too.
  func encodeRecord(
    to frame: EncodingFrame, slot: EncodingSlot, level: Int
  ) throws -> EncodingOutcome {
    guard unsafe level < frame.session.levelLimit else { throw EncodingSession.nestingTooDeep }
    let keys = try unsafe frame.session.makeFrame(
      in: frame, slot: .entry, level: level, splits: false)
    let values = try encodeKeys(to: keys, level: level)
    let traits = unsafe TypeTable.traits(of: Value.self)
    let start = unsafe frame.writer.count
    let referenceCount = unsafe frame.referenceCount
    var count = 0
    for index in unsafe 0..<keys.entries.count {
      let entry = unsafe keys.entries[index]
      let before = unsafe frame.writer.count
      // The entry lies within the written bytes.
      unsafe frame.writer.append(
        raw: UnsafeRawBufferPointer(rebasing: keys.writer.buffer[entry.start..<entry.value]))
      do {
        let outcome = try unsafe frame.encode(
          values[entry.end], traits, slot: .entry, level: level + 1)
        if outcome == .written { count += 1 } else { unsafe frame.writer.truncate(to: before) }
      } catch {
        throw ModelError.located(error, inside: keys.keyText(entry))
      }
    }
    unsafe frame.writer.insertHead(.map, UInt64(count), at: start)
    if unsafe frame.referenceCount > referenceCount {
      unsafe frame.writer.insertHead(.tag, RecordTag.entries, at: start)
    }
    unsafe frame.session.recycle(keys)
    return .written
  }

  /// Writes all keys into a frame and sorts them.
  ///
  /// - Returns: The values; the `end` of each of the frame's entries is the index of its value.
  private func encodeKeys(to keys: EncodingFrame, level: Int) throws -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    unsafe keys.entries.reserveCapacity(count)
    for (key, value) in self {
      let start = unsafe keys.writer.count
      if let text = DictionaryKey.text(key) {
        unsafe keys.writer.append(text)
      } else {
        _ = try keys.encode(key, slot: .required, level: level + 1)
      }
      unsafe keys.entries.append(
        EncodingFrame.Entry(
          start: start, value: keys.writer.count, end: values.count, nested: -1))
      values.append(value)
    }
    if unsafe keys.content.pointee.sortEntries() { try keys.refuseEqualNeighbours() }
    return values
  }
}

/// The form of dictionary keys: the text of their coding key, or the key itself.
enum DictionaryKey {
  /// The text of a key; `nil` if its type has none.
  static func text<Key>(_ key: Key) -> String? {
    switch key {
    case let text as String: text
    case let number as Int: String(number)
    case let key as any CodingKeyRepresentable: key.codingKey.stringValue
    default: nil
    }
  }

  /// Whether keys of a type are texts.
  static func isText<Key>(_ type: Key.Type) -> Bool { type is any CodingKeyRepresentable.Type }
}

extension EncodingFrame {
  /// Checks that no two adjacent keys have the same bytes.
  fileprivate func refuseEqualNeighbours() throws {
    for index in unsafe 1..<Swift.max(1, entries.count) {
      let (left, right) = unsafe (entries[index - 1], entries[index])
      let bytes = unsafe writer.buffer
      // Entries lie within the written bytes.
      let isEqual = unsafe bytes[left.start..<left.value].elementsEqual(
        bytes[right.start..<right.value])
      if isEqual {
        throw ModelError(
          .duplicateKey,
          reason: "two keys of the dictionary are both stored as \(keyText(left))")
      }
    }
  }

  /// The key of an entry, for messages.
  fileprivate func keyText(_ entry: Entry) -> String {
    // The entry lies within the written bytes.
    var reader = unsafe CBORReader(
      UnsafeRawBufferPointer(rebasing: writer.buffer[entry.start..<entry.value]))
    return (try? reader.text()) ?? "[key]"
  }
}
