/// Copies a body without the values that are removed together with some children.
struct RecordPruner: ~Copyable {
  /// The result for an item.
  private enum Fate {
    /// Written, with or without a reference inside.
    case kept(hasReference: Bool)
    /// Replaced with null.
    case nulled
    /// Removed with its surrounding value; the caller discards the part of that value written so far.
    case lost
  }

  private let tape: RecordTape
  /// The places of the lost references.
  private let gone: Set<Int>
  private var output: CBORWriter

  /// Prepares the copying of a body.
  ///
  /// - Parameters:
  ///   - tape: The body.
  ///   - isGone: Whether the reference at a place is lost.
  /// - Throws: The errors of `isGone`.
  init(_ tape: RecordTape, isGone: (Int) throws -> Bool) rethrows {
    self.tape = tape
    gone = Set(
      try tape.items.indices.filter { place in
        guard case .reference = tape[place].kind else { return false }
        return try isGone(place)
      })
    output = CBORWriter(minimumCapacity: tape.byteCount)
  }

  /// Copies the whole body, unless nothing in it is lost, or its node is lost with a required child.
  mutating func prune() -> RecordLoss {
    if gone.isEmpty { return .unchanged }
    return if case .kept = copy(0) { .changed(output.bytes) } else { .lost }
  }

  private mutating func copy(_ place: Int) -> Fate {
    let kind = tape[place].kind
    if !tape[place].hasReference || !gone.contains(place) && tape[place].next == place + 1 {
      // The bytes outlive the tape and are copied here.
      unsafe output.append(raw: tape.bytes(of: place))
      return .kept(hasReference: tape[place].hasReference)
    }
    if case .reference(let isOptional) = kind { return isOptional ? appendNull() : .lost }
    let start = output.count
    var count = 0
    var hasReference = false
    for inner in tape.contents(of: place) {
      let innerStart = output.count
      // Same as above.
      if kind != .list { unsafe output.append(raw: tape.key(of: inner)) }
      switch copy(inner) {
      case .kept(let holdsOne):
        count += 1
        if holdsOne { hasReference = true }
      case .nulled where kind.hasFields: count += 1
      case .lost where kind.hasFields:
        output.truncate(to: start)
        return kind.isOptional ? appendNull() : .lost
      case .nulled, .lost: output.truncate(to: innerStart)
      }
    }
    output.insertHead(kind == .list ? .array : .map, UInt64(count), at: start)
    // The tags are only around values with references.
    if hasReference, kind == .entries { output.insertHead(.tag, RecordTag.entries, at: start) }
    if hasReference, kind.isOptional {
      output.insertHead(.tag, RecordTag.optionalSlot, at: start)
    }
    return .kept(hasReference: hasReference)
  }

  private mutating func appendNull() -> Fate {
    output.appendNull()
    return .nulled
  }
}
