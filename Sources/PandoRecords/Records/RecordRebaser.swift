/// Applies a caller's changes of a body to the present one.
///
/// Three bodies are compared: the one at the caller's read, the one that the caller writes, and the
/// stored one. An item that the caller did not change stays as stored; one that only the caller
/// changed is written. If both changed it, objects and dictionaries are compared by field, lists by
/// element (``ListRebaser``); of other items the caller's is written. The same applies to an enum
/// whose case differs between the three, because two cases can't be combined.
///
/// An undo is the same merge: the changes since the undone write are applied to the body before it.
struct RecordRebaser: ~Copyable {
  private let base: RecordTape
  private let new: RecordTape
  private let stored: RecordTape
  private let lists: RecordBody.ListPolicy
  private let isEnum: (RecordBody.Path, Bool) -> Bool
  private var output: CBORWriter

  init(
    base: RecordTape, new: RecordTape, stored: RecordTape, lists: RecordBody.ListPolicy,
    isEnum: @escaping (RecordBody.Path, Bool) -> Bool
  ) {
    self.base = base
    self.new = new
    self.stored = stored
    self.lists = lists
    self.isEnum = isEnum
    output = CBORWriter(minimumCapacity: new.byteCount + stored.byteCount)
  }

  /// - Returns: The body to store.
  mutating func rebase() -> [UInt8] {
    _ = merge(0, 0, 0, at: [])
    return output.bytes
  }

  /// Appends the result for an item of all three bodies.
  ///
  /// - Returns: Whether the result contains a reference.
  private mutating func merge(
    _ base: Int, _ new: Int, _ stored: Int, at path: RecordBody.Path
  ) -> Bool {
    if isSame(self.new, new, self.base, base) { return copy(self.stored, stored) }
    if isSame(self.stored, stored, self.base, base) { return copy(self.new, new) }
    if let known = ItemPairs(self.base, at: base), let wanted = ItemPairs(self.new, at: new),
      let found = ItemPairs(self.stored, at: stored)
    {
      let all = [known, wanted, found]
      let haveOneKey = all.allSatisfy { $0.pairs.count == 1 && $0.key(at: 0) == known.key(at: 0) }
      if !haveOneKey, isEnum(path, all.allSatisfy(\.mayBeCase)) { return copy(self.new, new) }
      return merge(known, wanted, found, at: path)
    }
    guard let known = elements(self.base, base), let wanted = elements(self.new, new),
      let found = elements(self.stored, stored)
    else { return copy(self.new, new) }
    let elements = ListRebaser.rebase(known, wanted, found)
    output.append(arrayHead: elements.count)
    for element in elements { output.append(raw: element.bytes[...]) }
    return elements.contains(where: \.hasReference)
  }

  /// The same for fields or entries, which are sorted in each body.
  private mutating func merge(
    _ base: ItemPairs, _ new: ItemPairs, _ stored: ItemPairs, at path: RecordBody.Path
  ) -> Bool {
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
      var isThere = true
      var holds = false
      switch (known, wanted, found) {
      case (let known?, let wanted?, let found?):
        holds = merge(known, wanted, found, at: path + key)
      case (nil, let wanted?, _):
        holds = copy(self.new, wanted)
      case (let known?, let wanted?, nil) where !isSame(self.new, wanted, self.base, known):
        // Another writer removed it: it stays removed, unless the caller changed it.
        holds = copy(self.new, wanted)
      case (nil, nil, let found?):
        holds = copy(self.stored, found)
      default:
        isThere = false
        output.truncate(to: before)
      }
      if isThere { count += 1 }
      if holds { hasReference = true }
    }
    output.insertHead(.map, UInt64(count), at: start)
    let kinds = [base.kind, new.kind, stored.kind]
    if hasReference, kinds.contains(.entries) {
      output.insertHead(.tag, RecordTag.entries, at: start)
    } else if hasReference, kinds.contains(where: \.isOptional) {
      output.insertHead(.tag, RecordTag.optionalSlot, at: start)
    }
    return hasReference
  }

  /// Copies an item as it is.
  ///
  /// - Returns: Whether it contains a reference.
  private mutating func copy(_ tape: RecordTape, _ place: Int) -> Bool {
    // The bytes outlive the tape and are copied here.
    unsafe output.append(raw: tape.bytes(of: place))
    return tape[place].hasReference
  }

  private func isSame(_ tape: RecordTape, _ place: Int, _ other: RecordTape, _ otherPlace: Int)
    -> Bool
  {
    // The bytes outlive the tapes and are compared here.
    unsafe tape.bytes(of: place).elementsEqual(other.bytes(of: otherPlace))
  }

  /// The elements of a list that is merged element by element; `nil` for anything else.
  private func elements(_ tape: RecordTape, _ place: Int) -> [ListElement]? {
    guard tape[place].kind == .list else { return nil }
    let contents = tape.contents(of: place)
    guard
      lists == .all
        || contents.allSatisfy({ tape[$0].kind == .reference(isOptional: false) })
    else { return nil }
    // The bytes outlive the tape and are copied here.
    return contents.map {
      ListElement(bytes: unsafe Array(tape.bytes(of: $0)), hasReference: tape[$0].hasReference)
    }
  }
}

/// An element of a list, which is the same as another one with the same bytes.
private struct ListElement: Hashable {
  let bytes: [UInt8]
  let hasReference: Bool
}

/// The fields of an object, or the entries of a dictionary.
private struct ItemPairs {
  let kind: RecordTape.Item.Kind
  let pairs: [(key: [UInt8], value: Int)]
  /// Whether it looks like a value of an enum with payload: one name, and an object.
  let mayBeCase: Bool

  /// - Returns: `nil` for an item that is neither.
  init?(_ tape: RecordTape, at place: Int) {
    kind = tape[place].kind
    guard kind.hasFields || kind == .entries else { return nil }
    // The bytes outlive the tape and are copied here.
    pairs = tape.contents(of: place).map { (unsafe Array(tape.key(of: $0)), $0) }
    mayBeCase = tape.mayBeCase(place)
  }

  func key(at place: Int) -> [UInt8]? { place < pairs.count ? pairs[place].key : nil }

  /// The value at a place, if it has the key; the place then advances.
  func take(_ key: [UInt8], _ place: inout Int) -> Int? {
    guard place < pairs.count, pairs[place].key == key else { return nil }
    defer { place += 1 }
    return pairs[place].value
  }
}
