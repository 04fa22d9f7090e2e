extension RecordBody {
  /// Checks that bytes are a record body as the encoder writes it, in every detail.
  ///
  /// So two bodies with the same content have the same bytes: lengths and numbers in their shortest
  /// form, keys in order and each once, texts that are UTF-8, and the tags for slots and references
  /// where they belong and nowhere else. The order of the elements of a set is not checked, because
  /// a body does not tell a set from an array.
  ///
  /// - Parameter body: The bytes to check; read during the call only.
  /// - Throws: ``ModelError`` that says what is wrong and at which byte.
  /// - Complexity: O(*n*) for *n* bytes.
  package static func validate(_ body: UnsafeRawBufferPointer) throws(ModelError) {
    // Read during the call only.
    var validator = RecordValidator(RecordCursor(unsafe Span(_unsafeBytes: body)))
    _ = try validator.check(.root, depth: 0)
    guard validator.cursor.isAtEnd else { throw validator.cursor.damaged("more than one item") }
  }
}

/// Walks a body and compares each detail with what the encoder would have written.
struct RecordValidator: ~Escapable {
  private(set) var cursor: RecordCursor

  @_lifetime(copy cursor)
  init(_ cursor: consuming RecordCursor) {
    self.cursor = cursor
  }

  /// Checks the next item.
  ///
  /// - Returns: Whether it holds a reference.
  mutating func check(_ place: RecordPlace, depth: Int) throws(ModelError) -> Bool {
    guard depth <= RecordBody.maximumNestingDepth else { throw RecordCursor.tooDeep }
    let head = try shortHead()
    switch head.major {
    case 2:
      _ = try cursor.content(head)
    case 3:
      _ = try cursor.text(at: cursor.content(head))
    case 4:
      var hasReference = false
      for _ in 0..<(try cursor.count(head)) {
        if try check(.element, depth: depth + 1) { hasReference = true }
      }
      return hasReference
    case 5:
      return try checkMap(cursor.count(head), .field, depth: depth)
    case 6:
      return try check(tag: head.argument, place, depth: depth)
    case 7:
      try checkSimple(head)
    default:
      break
    }
    return false
  }

  /// Reads a head that is as short as it can be.
  private mutating func shortHead() throws(ModelError) -> RecordCursor.Head {
    let head = try cursor.head()
    let isShortest =
      switch head.information {
      case 24: head.argument >= 24
      case 25: head.argument > 0xff
      case 26: head.argument > 0xffff
      case 27: head.argument > 0xffff_ffff
      default: true
      }
    guard isShortest || head.major == 7 else {
      throw cursor.damaged("a number or length that is not in its shortest form")
    }
    return head
  }

  private func checkSimple(_ head: RecordCursor.Head) throws(ModelError) {
    switch head.information {
    case 20, 21, 22, 25:
      return
    case 26 where Float(bitPattern: UInt32(head.argument)).fitsFloat16,
      27 where Double(bitPattern: head.argument).fitsFloat:
      throw cursor.damaged("a floating-point number that is not in its shortest form")
    case 26, 27:
      return
    default:
      throw cursor.damaged("a simple value that is none of false, true and null")
    }
  }

  private mutating func check(
    tag: UInt64, _ place: RecordPlace, depth: Int
  ) throws(ModelError) -> Bool {
    switch tag {
    case RecordTag.requiredReference:
      return try checkReference()
    case RecordTag.optionalReference:
      guard place == .field else { throw cursor.damaged("an optional reference without a slot") }
      return try checkReference()
    case RecordTag.optionalSlot:
      let head = try shortHead()
      guard place == .field, head.major == 5,
        try checkMap(cursor.count(head), .field, depth: depth)
      else { throw cursor.damaged("an optional slot without an object that can be lost") }
      return true
    case RecordTag.entries:
      let head = try shortHead()
      guard head.major == 5, try checkMap(cursor.count(head), .entry, depth: depth) else {
        throw cursor.damaged("entries without one that can be lost")
      }
      return true
    case 2, 3:
      let head = try shortHead()
      guard head.major == 2, head.argument > 8,
        try cursor.bytes[cursor.content(head).lowerBound] != 0
      else { throw cursor.damaged("a big integer that is not in its shortest form") }
      return false
    default:
      guard try !check(.element, depth: depth + 1) else {
        throw cursor.damaged("a reference inside of a tag")
      }
      return false
    }
  }

  private mutating func checkReference() throws(ModelError) -> Bool {
    let start = cursor.position
    _ = try cursor.reference()
    let end = cursor.position
    cursor.position = start
    for _ in 0..<3 { _ = try shortHead() }
    guard cursor.position == end else { throw cursor.damaged("a reference that is no pair") }
    return true
  }

  private mutating func checkMap(
    _ count: Int, _ place: RecordPlace, depth: Int
  ) throws(ModelError) -> Bool {
    var hasReference = false
    var previous = 0..<0
    for _ in 0..<count {
      let start = cursor.position
      let isText = try cursor.nextHead().major == 3
      guard try !check(.element, depth: depth + 1) else {
        throw cursor.damaged("a reference in a key")
      }
      let key = start..<cursor.position
      guard isOrdered(previous, key) else {
        throw cursor.damaged("keys that are not in the order of their bytes")
      }
      previous = key
      guard try check(place, depth: depth + 1) else { continue }
      guard isText || place == .entry else {
        throw cursor.damaged("a field whose name is no text")
      }
      hasReference = true
    }
    return hasReference
  }

  private func isOrdered(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
    for offset in 0..<min(first.count, second.count) {
      let left = cursor.bytes[first.lowerBound + offset]
      let right = cursor.bytes[second.lowerBound + offset]
      if left != right { return left < right }
    }
    return first.count < second.count
  }
}
