/// What the store does to record bodies without decoding them.
///
/// A body is one CBOR item; `docs/format.md` draws it. All functions take any bytes at all: what is
/// no record body throws ``ModelError`` with the code `invalidRecord` or `nestingTooDeep`, and
/// memory stays within a small multiple of the body's size.
package enum RecordBody {
  /// How many levels of arrays, maps and tags a body or a tree of bodies may have when it is read.
  ///
  /// A few more than are written, because tags and what is in them count here.
  package static var maximumNestingDepth: Int {
    RecordLimits.maximumNestingDepth + 8
  }

  /// Returns the children a body refers to.
  ///
  /// - Parameter body: A record body; read during the call only.
  /// - Returns: One edge for each distinct reference, in the order of node and type number; its
  ///   kinds are those of all places where the reference stands.
  /// - Throws: ``ModelError`` when the bytes are no record body.
  /// - Complexity: O(*n* + *e* log *e*) for *n* bytes and *e* references; it allocates only when
  ///   there are references.
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
  /// Takes deleted children out of a body.
  ///
  /// An optional slot becomes null, an array or a dictionary loses the element, an object that
  /// loses a required slot is lost itself, and so on outward: to the next optional slot, array or
  /// dictionary around it, or to the body.
  ///
  /// - Parameters:
  ///   - children: The numbers of the nodes that are deleted.
  ///   - body: A record body; read during the call only.
  ///   - kept: Places in the body whose references stay.
  /// - Returns: What becomes of the record.
  /// - Throws: ``ModelError`` when the bytes are no record body.
  /// - Complexity: O(*n* log *n*) for *n* bytes.
  /// - Note: The elements of a set stay in the order of their bytes before the loss.
  package static func losing(
    children: Set<UInt64>, in body: UnsafeRawBufferPointer, keeping kept: [Range<Int>] = []
  ) throws(ModelError) -> RecordLoss {
    let edges = unsafe try edges(in: body)
    guard edges.contains(where: { children.contains($0.child.node) }) else { return .unchanged }
    // Read during the call only.
    var pruner = RecordPruner(
      unsafe RecordCursor(body), children: children, keeping: kept)
    return try RecordFault.asModelError { () throws(RecordFault) in try pruner.prune() }
  }
}

extension RecordBody {
  /// Lets the fields of one body flow into another.
  ///
  /// A field flows as a whole. Where it holds children, the node comes from the new body, and the
  /// kind of the slot from the old one, wherever the old one says it; see ``RecordMerge/Policy``
  /// for the rest.
  ///
  /// - Parameters:
  ///   - new: The body that has the newer values; read during the call only.
  ///   - old: The body they flow into; read during the call only.
  ///   - policy: Which fields flow.
  ///   - names: Fields of the old body that are left alone.
  /// - Returns: The merged body, and what has changed in it.
  /// - Throws: ``ModelError`` when the bytes are no record bodies.
  /// - Complexity: O(*n*) for *n* bytes in both.
  /// - Note: The elements of a set stay in the order of their bytes in the new body.
  package static func merging(
    _ new: UnsafeRawBufferPointer, into old: UnsafeRawBufferPointer,
    policy: RecordMerge.Policy = .projection, leaving names: Set<String> = []
  ) throws(ModelError) -> RecordMerge {
    // Both are read during the call only.
    var merger = unsafe RecordMerger(
      old: RecordCursor(old), new: RecordCursor(new), policy: policy)
    return try RecordFault.asModelError { () throws(RecordFault) in
      try merger.merge(leaving: names)
    }
  }
}

extension RecordBody {
  /// Replaces a text wherever it stands as a whole value.
  ///
  /// - Parameters:
  ///   - text: The text; names of fields and keys are left as they are.
  ///   - value: The bytes of the item that comes in its place.
  ///   - body: The body; read during the call only.
  /// - Returns: The new body.
  /// - Throws: ``ModelError`` when the bytes are no record body.
  /// - Complexity: O(*n*) for *n* bytes.
  package static func replacing(
    _ text: String, with value: [UInt8], in body: UnsafeRawBufferPointer
  ) throws(ModelError) -> [UInt8] {
    var item = CBORWriter(minimumCapacity: text.utf8.count + 9)
    item.append(text)
    let old = item.bytes
    var output = CBORWriter(minimumCapacity: body.count)
    // Read during the call only.
    var cursor = unsafe RecordCursor(body)
    func copy(depth: Int) throws(RecordFault) {
      let start = cursor.position
      let count: Int
      switch try cursor.item(atDepth: depth) {
      case .scalar:
        let bytes = unsafe cursor.slice(start..<cursor.position)
        if unsafe bytes.elementsEqual(old) {
          output.append(raw: value[...])
        } else {
          unsafe output.append(raw: bytes)
        }
        return
      case .reference:
        return unsafe output.append(raw: cursor.slice(start..<cursor.position))
      case .tagged: count = 1
      case .list(let length): count = length
      case .fields(let length, _), .entries(let length): count = -length
      }
      unsafe output.append(raw: cursor.slice(start..<cursor.position))
      for _ in 0..<abs(count) {
        if count < 0 { unsafe output.append(raw: cursor.slice(try cursor.skip())) }
        try copy(depth: depth + 1)
      }
    }
    try RecordFault.asModelError { () throws(RecordFault) in try copy(depth: 0) }
    return output.bytes
  }
}

extension RecordBody {
  /// A place in a body: the encoded names and keys that lead to it, one behind the other.
  package typealias Path = [UInt8]

  /// Carries what a caller has changed in a body over to what is stored by now.
  ///
  /// - Parameters:
  ///   - new: The body that the caller wants; read during the call only.
  ///   - base: The body that the caller has changed; read during the call only.
  ///   - stored: The body that is stored by now, perhaps of another type; read during the call only.
  ///   - isEnum: Whether the value at a place is one of an enum with payload, as the types of the caller's
  ///     model say; asked where cases may be different.
  /// - Returns: The body that is to be stored: the caller's changes in the stored one.
  /// - Throws: ``ModelError`` when the bytes are no record bodies.
  /// - Complexity: O(*n* log *n*) for *n* bytes in all.
  package static func rebasing(
    _ new: UnsafeRawBufferPointer, from base: UnsafeRawBufferPointer,
    onto stored: UnsafeRawBufferPointer, isEnum: (Path) -> Bool
  ) throws(ModelError) -> [UInt8] {
    try withoutActuallyEscaping(isEnum) { isEnum throws(ModelError) in
      // All are read during the call only.
      let rebaser = unsafe RecordRebaser(
        base: RecordCursor(base), new: RecordCursor(new), stored: RecordCursor(stored),
        isEnum: isEnum)
      return try RecordFault.asModelError { () throws(RecordFault) in try rebaser.rebase() }
    }
  }
}

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
    var validator = RecordValidator(unsafe RecordCursor(body, isStrict: true))
    try RecordFault.asModelError { () throws(RecordFault) in try validator.check() }
  }
}

/// What becomes of a record when some of its children are deleted.
package enum RecordLoss: Equatable, Sendable {
  /// It refers to none of them.
  case unchanged

  /// It goes on without them; this is its new body.
  case changed([UInt8])

  /// It cannot be without one of them, so its node goes too.
  case lost
}

/// What a merge of two bodies gave.
package struct RecordMerge: Equatable, Sendable {
  /// Which fields flow, and what is checked on the way.
  package enum Policy: Sendable {
    /// The bodies are of two types with one identifier, and only the new one has changed.
    ///
    /// Fields that both have flow; those that only the new one has are not the old one's. A child
    /// keeps the type that the old body gives it. A value of another kind than the old one (a text
    /// for a number, null for a required child) does not flow, because the old type could not be
    /// decoded any more.
    case projection

    /// The new body holds some of the fields of the same type, with their new values.
    ///
    /// All its fields flow, whatever they held before. Only the kind of a slot, required or
    /// optional, stays.
    case update
  }

  /// The merged body, or `nil` when it is the same as the old one.
  package var body: [UInt8]?

  /// The names of the fields that have another value now.
  package var changedFields: [String]

  /// The names of the fields that kept their value, because the new one is of another kind.
  package var keptFields: [String]

  /// Makes a result; unless told otherwise, one of a merge that changed nothing.
  ///
  /// - Parameters:
  ///   - body: The merged body, or `nil` when it is the same as the old one.
  ///   - changedFields: The names of the fields that have another value now.
  ///   - keptFields: The names of the fields that kept their value.
  package init(
    body: [UInt8]? = nil, changedFields: [String] = [], keptFields: [String] = []
  ) {
    self.body = body
    self.changedFields = changedFields
    self.keptFields = keptFields
  }
}

/// Why bytes are no record body.
///
/// Small, because functions that recurse throw it: a ``ModelError`` in each of their frames would
/// take much of a thread's stack. What is `package` throws the ``ModelError`` it stands for.
enum RecordFault: Error {
  /// The bytes are no CBOR that a record is made of.
  case cbor(CBORError)
  /// They are CBOR, but a record does not hold such an item there.
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

  /// Runs a function on a body and turns its fault into the error for callers.
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
