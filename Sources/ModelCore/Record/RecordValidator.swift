/// Walks a body and compares each detail with what the encoder would have written.
struct RecordValidator {
  private var cursor: RecordCursor

  init(_ cursor: RecordCursor) {
    self.cursor = cursor
  }

  /// Checks the whole body.
  mutating func check() throws(RecordFault) {
    _ = try check(.root, depth: 0)
    try cursor.finish()
  }

  /// Checks the next item.
  ///
  /// - Returns: Whether it holds a reference.
  private mutating func check(_ place: RecordPlace, depth: Int) throws(RecordFault) -> Bool {
    guard depth <= RecordBody.maximumNestingDepth else { throw .nestingTooDeep }
    let head = try shortHead()
    switch head.major {
    case .bytes:
      unsafe cursor.content(head)
    case .text:
      _ = try cursor.text(head)
    case .array:
      var hasReference = false
      for _ in 0..<head.argument {
        if try check(.element, depth: depth + 1) { hasReference = true }
      }
      return hasReference
    case .map:
      return try checkMap(Int(head.argument), .field, depth: depth)
    case .tag:
      return try check(tag: head.argument, place, depth: depth)
    case .simple:
      try checkSimple(head)
    case .unsigned, .negative:
      break
    }
    return false
  }

  /// Reads a head that is as short as it can be.
  private mutating func shortHead() throws(RecordFault) -> CBORHead {
    let head = try cursor.head()
    guard head.isShortest else {
      throw cursor.damaged("a number or length that is not in its shortest form")
    }
    return head
  }

  private func checkSimple(_ head: CBORHead) throws(RecordFault) {
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

  private mutating func check(
    tag: UInt64, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) -> Bool {
    switch tag {
    case RecordTag.requiredReference:
      return try checkReference()
    case RecordTag.optionalReference:
      guard place == .field else { throw cursor.damaged("an optional reference without a slot") }
      return try checkReference()
    case RecordTag.optionalSlot:
      let head = try shortHead()
      guard place == .field, head.major == .map,
        try checkMap(Int(head.argument), .field, depth: depth)
      else { throw cursor.damaged("an optional slot without an object that can be lost") }
      return true
    case RecordTag.entries:
      let head = try shortHead()
      guard head.major == .map, try checkMap(Int(head.argument), .entry, depth: depth) else {
        throw cursor.damaged("entries without one that can be lost")
      }
      return true
    case RecordTag.positiveBignum, RecordTag.negativeBignum:
      let head = try shortHead()
      guard head.major == .bytes, head.argument > 8, unsafe cursor.content(head).first != 0 else {
        throw cursor.damaged("a big integer that is not in its shortest form")
      }
      return false
    default:
      guard try !check(.element, depth: depth + 1) else {
        throw cursor.damaged("a reference inside of a tag")
      }
      return false
    }
  }

  private mutating func checkReference() throws(RecordFault) -> Bool {
    var copy = cursor
    for _ in 0..<3 { _ = try shortHead() }
    _ = try copy.reference()
    return true
  }

  private mutating func checkMap(
    _ count: Int, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) -> Bool {
    var hasReference = false
    var hasOnlyNames = true
    var previous = 0..<0
    for _ in 0..<count {
      let start = cursor.position
      if try cursor.nextHead().major != .text { hasOnlyNames = false }
      guard try !check(.element, depth: depth + 1) else {
        throw cursor.damaged("a reference in a key")
      }
      let key = start..<cursor.position
      // The bytes outlive the cursor, and are read at once.
      guard unsafe cursor.slice(previous).lexicographicallyPrecedes(cursor.slice(key)) else {
        throw cursor.damaged("keys that are not in the order of their bytes")
      }
      previous = key
      if try check(place, depth: depth + 1) { hasReference = true }
    }
    guard hasOnlyNames || place == .entry || !hasReference else {
      throw cursor.damaged("a field whose name is no text")
    }
    return hasReference
  }
}
