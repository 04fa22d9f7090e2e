package import PandoModels

/// The operations of the store on record bodies that need no decoding.
///
/// A body is one CBOR item; `docs/format.md` draws it. All functions accept any bytes. For bytes
/// that are no record body they throw `ModelError` with the code `invalidRecord` or
/// `nestingTooDeep`. Memory is limited to a small multiple of the body's size.
package enum RecordBody {
  /// The most levels of arrays, maps and tags in a body, or in a tree of bodies, at reading.
  ///
  /// It is above the limit for writing, because tags and their contents count here.
  package static var maximumNestingDepth: Int {
    RecordLimits.maximumNestingDepth + 8
  }

  /// Returns the children in a body.
  ///
  /// - Parameter body: A record body; read during the call only.
  /// - Returns: One edge for each distinct reference, in the order of node and type number, with
  ///   the kinds of all its places.
  /// - Throws: `ModelError` if the bytes are no record body.
  /// - Complexity: O(*n* + *e* log *e*) for *n* bytes and *e* references; without references it
  ///   allocates nothing.
  package static func edges(in body: UnsafeRawBufferPointer) throws(ModelError) -> [RecordEdge] {
    // Read during the call only.
    var cursor = unsafe RecordCursor(body)
    var edges: [RecordEdge] = []
    try RecordFault.asModelError { () throws(RecordFault) in
      try collectEdges(&cursor, .root, depth: 0, into: &edges)
      try cursor.finish()
    }
    edges.normalize()
    return edges
  }

  /// Moves past an item and collects the references in it.
  private static func collectEdges(
    _ cursor: inout RecordCursor, _ slot: RecordSlot, depth: Int, into edges: inout [RecordEdge]
  ) throws(RecordFault) {
    let (count, inner): (Int, RecordSlot)
    switch try cursor.item(atDepth: depth) {
    case .scalar: return
    case .reference(let child, let isOptional):
      let kinds = isOptional ? .optional : slot.kindOfRequired
      return edges.append(RecordEdge(child: child, kinds: kinds))
    case .list(let length): (count, inner) = (length, .element)
    case .fields(let length, _): (count, inner) = (length, .field)
    case .entries(let length): (count, inner) = (length, .entry)
    case .tagged: return try collectEdges(&cursor, slot, depth: depth + 1, into: &edges)
    }
    for _ in 0..<count {
      if inner == .field || inner == .entry { try cursor.skip() }
      try collectEdges(&cursor, inner, depth: depth + 1, into: &edges)
    }
  }
}

extension RecordBody {
  /// Removes deleted children from a body.
  ///
  /// An optional slot becomes null; an array or a dictionary loses the element. An object that
  /// loses a required slot is lost itself. So are the objects around it, up to the next optional
  /// slot, array or dictionary, or to the body.
  ///
  /// - Parameters:
  ///   - children: The numbers of the deleted nodes.
  ///   - body: A record body; read during the call only.
  ///   - kept: Places in the body with references that stay.
  /// - Returns: The fate of the record.
  /// - Throws: `ModelError` if the bytes are no record body.
  /// - Complexity: O(*n* log *n*) for *n* bytes.
  /// - Note: The elements of a set keep the order of their bytes before the loss.
  package static func losing(
    children: Set<UInt64>, in body: UnsafeRawBufferPointer, keeping kept: [Range<Int>] = []
  ) throws(ModelError) -> RecordLoss {
    // Read during the call only.
    let tape = try unsafe RecordTape(body)
    var pruner = RecordPruner(tape) { place in
      tape[place].reference.map { children.contains($0.node) } ?? false
        && !kept.contains { $0.contains(tape[place].start) }
    }
    return pruner.prune()
  }
}

extension RecordBody {
  /// Copies fields of one body to another.
  ///
  /// A field is copied as a whole. A child's node comes from the new body; the kind of its slot
  /// comes from the old one, if known there. ``RecordMerge/Policy`` has the other rules.
  ///
  /// - Parameters:
  ///   - new: The body with the newer values; read during the call only.
  ///   - old: The body to copy to; read during the call only.
  ///   - policy: The rule for the copied fields.
  ///   - names: Fields of the old body that stay unchanged.
  /// - Returns: The merged body and its changes.
  /// - Throws: `ModelError` if the bytes are no record bodies.
  /// - Complexity: O(*n*) for *n* bytes in both.
  /// - Note: The elements of a set keep the order of their bytes in the new body.
  package static func merging(
    _ new: UnsafeRawBufferPointer, into old: UnsafeRawBufferPointer,
    policy: RecordMerge.Policy = .projection, leaving names: Set<String> = []
  ) throws(ModelError) -> RecordMerge {
    // Both are read during the call only.
    var merger = try unsafe RecordMerger(old: RecordTape(old), new: RecordTape(new), policy: policy)
    do {
      return try merger.merge(leaving: names)
    } catch {
      throw RecordFault.cbor(error).modelError
    }
  }
}

extension RecordBody {
  /// Replaces each value that equals a text.
  ///
  /// - Parameters:
  ///   - text: The text; names of fields and keys stay unchanged.
  ///   - value: The bytes of the new item.
  ///   - body: The body; read during the call only.
  /// - Returns: The new body.
  /// - Throws: `ModelError` if the bytes are no record body.
  /// - Complexity: O(*n*) for *n* bytes.
  package static func replacing(
    _ text: String, with value: [UInt8], in body: UnsafeRawBufferPointer
  ) throws(ModelError) -> [UInt8] {
    var item = CBORWriter(minimumCapacity: text.utf8.count + 9)
    item.append(text)
    let old = item.bytes
    // Read during the call only.
    let tape = try unsafe RecordTape(body)
    return tape.replacing { place in
      guard tape[place].kind == .scalar else { return nil }
      return unsafe tape.bytes(of: place).elementsEqual(old) ? value : nil
    }
  }
}

extension RecordBody {
  /// A place in a body: the encoded names and keys on the way to it, joined.
  package typealias Path = [UInt8]

  /// Which lists are merged element by element.
  package enum ListPolicy: Sendable {
    /// Lists of children; of lists of values that both sides changed, the caller's is written.
    case children
    /// All lists.
    case all
  }

  /// Applies a caller's changes of a body to the present one.
  ///
  /// - Parameters:
  ///   - new: The body that the caller writes.
  ///   - base: The body at the caller's read.
  ///   - stored: The present body, perhaps of another type.
  ///   - lists: Which lists are merged element by element.
  ///   - isNamed: Whether references carry names instead of numbers, as in ``NodeRecords``.
  ///   - isEnum: Whether a place has a value of an enum with payload, by the types of the caller's
  ///     model; called where cases may differ, with whether all three values look like cases.
  /// - Returns: The body to store: the present one with the caller's changes.
  /// - Throws: `ModelError` if the bytes are no record bodies.
  /// - Complexity: O(*n* log *n*) for *n* bytes in all.
  package static func rebasing(
    _ new: [UInt8], from base: [UInt8], onto stored: [UInt8], lists: ListPolicy = .children,
    isNamed: Bool = false, isEnum: (_ place: Path, _ looksSo: Bool) -> Bool
  ) throws -> [UInt8] {
    if new == base { return stored }
    if stored == base { return new }
    // All are read during the call only.
    return try unsafe base.withUnsafeBytes { base in
      try unsafe new.withUnsafeBytes { new in
        try unsafe stored.withUnsafeBytes { stored in
          let tapes = try unsafe [base, new, stored].map {
            try unsafe RecordTape($0, isNamed: isNamed)
          }
          return withoutActuallyEscaping(isEnum) { isEnum in
            var rebaser = RecordRebaser(
              base: tapes[0], new: tapes[1], stored: tapes[2], lists: lists, isEnum: isEnum)
            return rebaser.rebase()
          }
        }
      }
    }
  }
}

extension RecordBody {
  /// Checks that bytes are a record body in exactly the form of the encoder.
  ///
  /// Two bodies with the same content then have the same bytes. Lengths and numbers have their
  /// shortest form, keys are sorted and unique, texts are UTF-8. Tags for slots and references are
  /// only where they belong. The order in a set is not checked, because a body does not distinguish
  /// sets from arrays.
  ///
  /// - Parameter body: The bytes to check; read during the call only.
  /// - Throws: `ModelError` with the reason and the position.
  /// - Complexity: O(*n*) for *n* bytes.
  package static func validate(_ body: UnsafeRawBufferPointer) throws(ModelError) {
    // Read during the call only.
    var validator = RecordValidator(unsafe RecordCursor(body, isStrict: true))
    try RecordFault.asModelError { () throws(RecordFault) in try validator.check() }
  }
}

/// The result for a record of deleting some of its children.
package enum RecordLoss: Equatable, Sendable {
  /// The record has none of the children.
  case unchanged

  /// The record stays without them, with this new body.
  case changed([UInt8])

  /// The record requires one of them, so its node is deleted, too.
  case lost
}

/// The result of merging two bodies.
package struct RecordMerge: Equatable, Sendable {
  /// The rule for the copied fields, and the checks on them.
  package enum Policy: Sendable {
    /// The bodies are of two types of one node, and only the new one has changed.
    ///
    /// Fields that only the new one has are ignored. A child keeps the type of the old body. A
    /// value of another kind (a text for a number, null for a required child) is not copied: the
    /// old type could not decode it.
    case projection

    /// The new body has some fields of the same type, with their new values.
    ///
    /// All its fields are copied, whatever their old values. Only the kind of a slot, required or
    /// optional, stays.
    case update
  }

  /// The merged body; `nil` if it equals the old one.
  package var body: [UInt8]?

  /// The names of the fields with a new value.
  package var changedFields: [String]

  /// The names of the fields that kept their value, because the new one is of another kind.
  package var keptFields: [String]

  /// Makes a result, by default that of a merge without changes.
  ///
  /// - Parameters:
  ///   - body: The merged body; `nil` if it equals the old one.
  ///   - changedFields: The names of the fields with a new value.
  ///   - keptFields: The names of the fields that kept their value.
  package init(
    body: [UInt8]? = nil, changedFields: [String] = [], keptFields: [String] = []
  ) {
    self.body = body
    self.changedFields = changedFields
    self.keptFields = keptFields
  }
}

/// The reason that bytes are no record body.
///
/// It is small, because recursive functions throw it: a `ModelError` in each of their frames
/// would use much of the stack. `package` functions throw the corresponding `ModelError`.
enum RecordFault: Error {
  /// The bytes are not CBOR of the kind in records.
  case cbor(CBORError)
  /// A CBOR item is in a place where records have none of its kind.
  case misplaced(StaticString, offset: Int)
  /// Levels are nested deeper than the limit.
  case nestingTooDeep

  /// The error for callers.
  var modelError: ModelError {
    switch self {
    case .cbor(let error):
      ModelError(.invalidRecord, reason: error.description)
    case .misplaced(let what, let offset):
      ModelError(.invalidRecord, reason: "\(what) at byte \(offset)")
    case .nestingTooDeep:
      ModelError(
        .nestingTooDeep, reason: "nested deeper than \(RecordBody.maximumNestingDepth) levels")
    }
  }

  /// Calls a function and converts its fault to the error for callers.
  static func asModelError<Result: ~Copyable>(
    _ body: () throws(RecordFault) -> Result
  ) throws(ModelError) -> Result {
    do {
      return try body()
    } catch {
      throw error.modelError
    }
  }
}
