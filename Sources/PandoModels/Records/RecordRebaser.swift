/// Applies a caller's changes of a body to the present one.
///
/// Three bodies are compared: the one at the caller's read, the one that the caller writes, and the
/// stored one. An item that the caller did not change stays as stored; one that only the caller
/// changed is written. If both changed it, objects and dictionaries are compared by field, lists of
/// children by element (``ListRebaser``); of other items the caller's is written. The same applies
/// to an enum whose case differs between the three, because two cases can't be combined.
struct RecordRebaser {
  /// An item of one of the bodies.
  private typealias Item = Range<Int>

  private let base: RecordCursor
  private let new: RecordCursor
  private let stored: RecordCursor

  /// Whether a place has a value of an enum with payload.
  private let isEnum: (RecordBody.Path) -> Bool

  init(
    base: RecordCursor, new: RecordCursor, stored: RecordCursor,
    isEnum: @escaping (RecordBody.Path) -> Bool
  ) {
    self.base = base
    self.new = new
    self.stored = stored
    self.isEnum = isEnum
  }

  /// - Returns: The body to store.
  func rebase() throws(RecordFault) -> [UInt8] {
    var output = CBORWriter(minimumCapacity: new.byteCount + stored.byteCount)
    _ = try merge(
      0..<base.byteCount, 0..<new.byteCount, 0..<stored.byteCount, at: [], depth: 0,
      into: &output)
    return output.bytes
  }

  /// Appends the result for an item of all three bodies.
  ///
  /// - Returns: Whether the result contains a reference.
  private func merge(
    _ base: Item, _ new: Item, _ stored: Item, at path: RecordBody.Path, depth: Int,
    into output: inout CBORWriter
  ) throws(RecordFault) -> Bool {
    if isSame(self.new, new, self.base, base) {
      return try copy(self.stored, stored, depth: depth, into: &output)
    }
    if isSame(self.stored, stored, self.base, base) {
      return try copy(self.new, new, depth: depth, into: &output)
    }
    if let known = try ItemPairs(self.base, at: base, depth: depth),
      let wanted = try ItemPairs(self.new, at: new, depth: depth),
      let found = try ItemPairs(self.stored, at: stored, depth: depth)
    {
      if !known.hasOneKey(with: wanted, found), isEnum(path) {
        return try copy(self.new, new, depth: depth, into: &output)
      }
      return try merge(known, wanted, found, at: path, depth: depth, into: &output)
    }
    guard let known = try children(self.base, base), let wanted = try children(self.new, new),
      let found = try children(self.stored, stored)
    else { return try copy(self.new, new, depth: depth, into: &output) }
    let children = ListRebaser.rebase(known, wanted, found)
    output.append(arrayHead: children.count)
    for child in children { output.append(reference: child, isOptional: false) }
    return !children.isEmpty
  }

  /// The same for fields or entries, which are sorted in each body.
  private func merge(
    _ base: ItemPairs, _ new: ItemPairs, _ stored: ItemPairs, at path: RecordBody.Path,
    depth: Int, into output: inout CBORWriter
  ) throws(RecordFault) -> Bool {
    let start = output.count
    var count = 0
    var hasReference = false
    var places = (base: 0, new: 0, stored: 0)
    while true {
      var first = base.key(at: places.base)
      for key in [new.key(at: places.new), stored.key(at: places.stored)] {
        guard let key else { continue }
        if first.map({ key.lexicographicallyPrecedes($0) }) ?? true { first = key }
      }
      guard let key = first else { break }
      let known = base.take(key, &places.base)
      let wanted = new.take(key, &places.new)
      let found = stored.take(key, &places.stored)
      let before = output.count
      output.append(raw: key[...])
      let isThere: Bool
      switch (known, wanted, found) {
      case (let known?, let wanted?, let found?):
        let holds = try merge(
          known, wanted, found, at: path + key, depth: depth + 1, into: &output)
        hasReference = hasReference || holds
        isThere = true
      case (nil, let wanted?, _):
        let holds = try copy(self.new, wanted, depth: depth + 1, into: &output)
        hasReference = hasReference || holds
        isThere = true
      case (let known?, let wanted?, nil):
        // Another writer removed it: it stays removed, unless the caller changed it.
        isThere = !isSame(self.new, wanted, self.base, known)
        if isThere {
          let holds = try copy(self.new, wanted, depth: depth + 1, into: &output)
          hasReference = hasReference || holds
        }
      case (nil, nil, let found?):
        let holds = try copy(self.stored, found, depth: depth + 1, into: &output)
        hasReference = hasReference || holds
        isThere = true
      case (_, nil, _):
        isThere = false
      }
      if isThere { count += 1 } else { output.truncate(to: before) }
    }
    output.insertHead(.map, UInt64(count), at: start)
    guard hasReference else { return false }
    if base.areEntries || new.areEntries || stored.areEntries {
      output.insertHead(.tag, RecordTag.entries, at: start)
    } else if base.isOptional || new.isOptional || stored.isOptional {
      output.insertHead(.tag, RecordTag.optionalSlot, at: start)
    }
    return true
  }

  /// Copies an item as it is.
  ///
  /// - Returns: Whether it contains a reference.
  private func copy(
    _ cursor: RecordCursor, _ item: Item, depth: Int, into output: inout CBORWriter
  ) throws(RecordFault) -> Bool {
    // The bytes outlive the cursor and are copied here.
    unsafe output.append(raw: cursor.slice(item))
    var cursor = RecordCursor(cursor, at: item.lowerBound)
    return try cursor.skipLooking(depth: depth)
  }

  private func isSame(
    _ cursor: RecordCursor, _ item: Item, _ other: RecordCursor, _ otherItem: Item
  ) -> Bool {
    // The bytes outlive the cursors and are compared here.
    unsafe cursor.slice(item).elementsEqual(other.slice(otherItem))
  }

  /// The elements of a list of children; `nil` for anything else.
  private func children(
    _ cursor: RecordCursor, _ item: Item
  ) throws(RecordFault) -> [RecordReference]? {
    var cursor = RecordCursor(cursor, at: item.lowerBound)
    guard case .list(let count) = try cursor.item(atDepth: 0) else { return nil }
    var children: [RecordReference] = []
    for _ in 0..<count {
      guard case .reference(let child, isOptional: false) = try cursor.item(atDepth: 0) else {
        return nil
      }
      children.append(child)
    }
    return children
  }
}

/// The fields of an object, or the entries of a dictionary.
private final class ItemPairs {
  private let pairs: [(key: [UInt8], value: Range<Int>)]
  let areEntries: Bool
  let isOptional: Bool

  /// - Returns: `nil` for an item that is neither.
  init?(_ cursor: RecordCursor, at item: Range<Int>, depth: Int) throws(RecordFault) {
    var cursor = RecordCursor(cursor, at: item.lowerBound)
    let count: Int
    switch try cursor.item(atDepth: depth) {
    case .fields(let length, let optional):
      (count, areEntries, isOptional) = (length, false, optional)
    case .entries(let length): (count, areEntries, isOptional) = (length, true, false)
    default: return nil
    }
    var pairs: [(key: [UInt8], value: Range<Int>)] = []
    for _ in 0..<count {
      // The bytes outlive the cursor and are copied here.
      let key = unsafe [UInt8](cursor.slice(try cursor.skip()))
      pairs.append((key, try cursor.skip()))
    }
    self.pairs = pairs
  }

  func key(at place: Int) -> [UInt8]? { place < pairs.count ? pairs[place].key : nil }

  /// Whether all three have the same single key, like values of one case of an enum.
  func hasOneKey(with second: ItemPairs, _ third: ItemPairs) -> Bool {
    [self, second, third].allSatisfy { $0.pairs.count == 1 && $0.pairs[0].key == pairs[0].key }
  }

  /// The value at a place, if it has the key; the place then advances.
  func take(_ key: [UInt8], _ place: inout Int) -> Range<Int>? {
    guard place < pairs.count, pairs[place].key == key else { return nil }
    defer { place += 1 }
    return pairs[place].value
  }
}

extension RecordCursor {
  /// Skips an item with all its contents.
  ///
  /// - Returns: Whether it contains a reference.
  fileprivate mutating func skipLooking(depth: Int) throws(RecordFault) -> Bool {
    let count: Int
    let hasKeys: Bool
    switch try item(atDepth: depth) {
    case .scalar: return false
    case .reference: return true
    case .tagged: return try skipLooking(depth: depth + 1)
    case .list(let length): (count, hasKeys) = (length, false)
    case .fields(let length, _), .entries(let length): (count, hasKeys) = (length, true)
    }
    var hasReference = false
    for _ in 0..<count {
      if hasKeys { try skip() }
      if try skipLooking(depth: depth + 1) { hasReference = true }
    }
    return hasReference
  }
}
