import PandoModels

/// A record body that was parsed once: its items in the order of their bytes.
///
/// An item stands before what it contains. So a function over bodies is a loop over the items, or a recursion
/// over their places in the tape; it reads no byte twice and meets no damage.
///
/// - Note: The bytes must outlive the tape.
@safe struct RecordTape {
  /// An item of the body, with all it contains.
  struct Item {
    enum Kind: Equatable {
      case scalar
      case reference(isOptional: Bool)
      case list
      case fields(isOptional: Bool)
      case entries
      case tagged(UInt64)

      /// Whether the item stands in a slot that can become null.
      var isOptional: Bool {
        self == .reference(isOptional: true) || self == .fields(isOptional: true)
      }

      /// Whether it has names before what it contains.
      var hasFields: Bool {
        self == .fields(isOptional: false) || self == .fields(isOptional: true)
      }
    }

    let kind: Kind
    /// The child, if it is a reference by numbers.
    let reference: RecordReference?
    /// Where its encoded name or key begins; where it begins itself if it has none.
    let keyStart: Int
    /// Where it begins, its tag included.
    let start: Int
    /// Where it ends.
    var end = 0
    /// The place of the next item that is not in it.
    var next = 0
    /// Whether it is a reference or holds one.
    var hasReference = false
  }

  private let body: UnsafeRawBufferPointer
  let items: [Item]

  /// Parses a body.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - isNamed: Whether references carry names instead of numbers, as in ``NodeRecords``.
  /// - Throws: `ModelError` when the bytes are no record body.
  init(_ body: UnsafeRawBufferPointer, isNamed: Bool = false) throws(ModelError) {
    unsafe self.body = body
    items = try RecordFault.asModelError { () throws(RecordFault) in
      var cursor = unsafe RecordCursor(body, isNamed: isNamed)
      var items: [Item] = []
      _ = try Self.read(&cursor, keyStart: 0, depth: 0, into: &items)
      try cursor.finish()
      return items
    }
  }

  /// - Returns: Whether the item holds a reference.
  private static func read(
    _ cursor: inout RecordCursor, keyStart: Int, depth: Int, into items: inout [Item]
  ) throws(RecordFault) -> Bool {
    let (place, start) = (items.count, cursor.position)
    var (count, hasKeys, hasReference) = (0, false, false)
    var child: RecordReference?
    let kind: Item.Kind
    switch try cursor.item(atDepth: depth) {
    case .scalar: kind = .scalar
    case .reference(let reference, let isOptional):
      (kind, child, hasReference) = (.reference(isOptional: isOptional), reference, true)
    case .list(let length): (kind, count) = (.list, length)
    case .fields(let length, let isOptional):
      (kind, count, hasKeys) = (.fields(isOptional: isOptional), length, true)
    case .entries(let length): (kind, count, hasKeys) = (.entries, length, true)
    case .tagged(let tag): (kind, count) = (.tagged(tag), 1)
    }
    items.append(Item(kind: kind, reference: child, keyStart: keyStart, start: start))
    for _ in 0..<count {
      let key = cursor.position
      if hasKeys { try cursor.skip() }
      if try read(&cursor, keyStart: key, depth: depth + 1, into: &items) { hasReference = true }
    }
    if hasReference, case .tagged(let tag) = kind, tag != RecordTag.enumeration {
      throw cursor.damaged("a reference inside of a tag")
    }
    items[place].end = cursor.position
    items[place].next = items.count
    items[place].hasReference = hasReference
    return hasReference
  }
}

extension RecordTape {
  /// The item at a place.
  subscript(place: Int) -> Item { items[place] }

  /// How many bytes the body has.
  var byteCount: Int { unsafe body.count }

  /// The bytes of an item; they live as long as the body.
  func bytes(of place: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: body[items[place].start..<items[place].end])
  }

  /// The encoded name or key before an item; it lives as long as the body.
  func key(of place: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: body[items[place].keyStart..<items[place].start])
  }

  /// The places of the items that an item holds directly.
  func contents(of place: Int) -> [Int] {
    var found: [Int] = []
    var inner = place + 1
    while inner < items[place].next {
      found.append(inner)
      inner = items[inner].next
    }
    return found
  }

  /// Whether an item looks like a value of an enum with payload: it has one name, and an object behind it.
  func mayBeCase(_ place: Int) -> Bool {
    let contents = contents(of: place)
    guard contents.count == 1, items[place].kind.hasFields || items[place].kind == .entries else {
      return false
    }
    let kind = items[contents[0]].kind
    return kind.hasFields || kind == .tagged(RecordTag.enumeration)
  }

  /// Returns a copy of the body with other bytes in place of some of the items that hold no others.
  ///
  /// - Parameter replacement: The bytes for the item at a place; `nil` if it stays.
  /// - Returns: The new body.
  /// - Throws: The errors of `replacement`.
  func replacing(_ replacement: (Int) throws -> [UInt8]?) rethrows -> [UInt8] {
    var output = CBORWriter(minimumCapacity: byteCount)
    var copied = 0
    for place in items.indices {
      switch items[place].kind {
      case .scalar, .reference: break
      case .list, .fields, .entries, .tagged: continue
      }
      guard let bytes = try replacement(place) else { continue }
      unsafe output.append(raw: UnsafeRawBufferPointer(rebasing: body[copied..<items[place].start]))
      output.append(raw: bytes[...])
      copied = items[place].end
    }
    unsafe output.append(raw: UnsafeRawBufferPointer(rebasing: body[copied...]))
    return output.bytes
  }
}
