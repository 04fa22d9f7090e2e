/// Compares each detail of a body with the form that the encoder writes.
///
/// Open items are on a separate stack, so a deep body cannot exhaust the thread's stack.
struct RecordValidator {
  private enum Kind {
    case body
    case array
    case object
    /// An object in an optional slot, which can become null.
    case slot
    /// A dictionary with removable entries.
    case entries
    case tag

    var isMap: Bool { self == .object || self == .slot || self == .entries }
  }

  /// An open item, whose inner items are being read.
  private struct Frame {
    let kind: Kind
    /// The number of items to read; a map has two for each entry.
    var remaining: Int
    /// The range of the last key.
    var key = 0..<0
    var hasReference = false
    var hasOnlyNames = true
  }

  private var cursor: RecordCursor
  private var frames = [Frame(kind: .body, remaining: 1)]

  init(_ cursor: RecordCursor) {
    self.cursor = cursor
  }

  /// Checks the whole body.
  mutating func check() throws(RecordFault) {
    while let frame = frames.last {
      if frame.remaining > 0 { try checkItem(in: frame) } else { try closeLast() }
    }
    try cursor.finish()
  }

  private mutating func checkItem(in frame: Frame) throws(RecordFault) {
    let isKey = frame.kind.isMap && frame.remaining.isMultiple(of: 2)
    let isSlot = (frame.kind == .object || frame.kind == .slot) && !isKey
    let start = cursor.position
    let item = try cursor.item(atDepth: frames.count - 1)
    frames[frames.count - 1].remaining -= 1
    if isKey {
      if cursor[start] >> 5 != CBORHead.Major.text.rawValue {
        frames[frames.count - 1].hasOnlyNames = false
      }
      try checkOrder(of: start, after: frame.key)
    }
    switch item {
    case .scalar(let head):
      try checkScalar(head)
    case .reference(_, let isOptional):
      guard isSlot || !isOptional else {
        throw cursor.damaged("an optional reference without a slot")
      }
      try noteReference(isKey: isKey)
    case .list(let count):
      frames.append(Frame(kind: .array, remaining: count))
    case .fields(let count, let isOptional):
      guard isSlot || !isOptional else {
        throw cursor.damaged("an optional slot outside of an object")
      }
      frames.append(Frame(kind: isOptional ? .slot : .object, remaining: 2 * count))
    case .entries(let count):
      frames.append(Frame(kind: .entries, remaining: 2 * count))
    case .tagged(RecordTag.positiveBignum), .tagged(RecordTag.negativeBignum):
      guard case .scalar(let head) = try cursor.item(atDepth: 0), head.major == .bytes,
        head.argument > 8, unsafe cursor.content(head).first != 0
      else { throw cursor.damaged("a big integer that is not in its shortest form") }
    case .tagged:
      frames.append(Frame(kind: .tag, remaining: 1))
    }
  }

  /// Compares the key at a position with the previous key.
  private mutating func checkOrder(of start: Int, after previous: Range<Int>) throws(RecordFault) {
    var copy = RecordCursor(cursor, at: start)
    let key = try copy.skip()
    frames[frames.count - 1].key = key
    // The bytes outlive the cursor and are read here.
    guard unsafe cursor.slice(previous).lexicographicallyPrecedes(cursor.slice(key)) else {
      throw copy.damaged("keys that are not in the order of their bytes")
    }
  }

  private func checkScalar(_ head: CBORHead) throws(RecordFault) {
    if head.major == .text { return try cursor.checkText(head) }
    guard head.major == .simple else { return }
    guard let number = head.double else {
      guard head.bool != nil || head.information == 22 else {
        throw cursor.damaged("a simple value that is none of false, true and null")
      }
      return
    }
    let isShortest =
      switch number.shortestWidth {
      case .half: head.information == 25
      case .single: head.information == 26
      case .double: head.information == 27
      }
    guard isShortest else {
      throw cursor.damaged("a floating-point number that is not in its shortest form")
    }
  }

  /// Notes that the last item of the innermost frame contains a reference.
  private mutating func noteReference(isKey: Bool) throws(RecordFault) {
    guard !isKey else { throw cursor.damaged("a reference in a key") }
    frames[frames.count - 1].hasReference = true
  }

  private mutating func closeLast() throws(RecordFault) {
    let frame = frames.removeLast()
    switch frame.kind {
    case .slot where !frame.hasReference, .entries where !frame.hasReference:
      throw cursor.damaged("a tag of a removable value around another one")
    case .object where frame.hasReference && !frame.hasOnlyNames,
      .slot where !frame.hasOnlyNames:
      throw cursor.damaged("a field whose name is no text")
    case .tag where frame.hasReference:
      throw cursor.damaged("a reference inside of a tag")
    default:
      break
    }
    guard frame.hasReference, let parent = frames.last else { return }
    try noteReference(isKey: parent.kind.isMap && !parent.remaining.isMultiple(of: 2))
  }
}
