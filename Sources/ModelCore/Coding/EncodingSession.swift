/// What the frames of one encoding share.
final class EncodingSession {
  /// What becomes of models inside the value that is encoded.
  enum Mode {
    /// Models with an identifier become records of their own.
    case records(any RecordSink)
    /// Everything is written into one body.
    case whole
    /// Models are replaced or removed by the closure and kept out of line, in `children`.
    case live((any Model) -> (any Model)?)
  }

  let mode: Mode
  /// Models kept out of line; references hold their indexes.
  var children: [any Model]
  /// The identifiers of the nodes under way, outermost first.
  private var identifiers: [String] = []
  /// Frames to use again: emptied when the encoding ends, for frames hold the session.
  private var pool: [EncodingFrame] = []

  init(_ mode: Mode, children: [any Model] = []) {
    self.mode = mode
    self.children = children
  }

  /// Ends the encoding.
  func end() { pool = [] }

  /// A frame for one value.
  func makeFrame(
    in parent: EncodingFrame?, slot: EncodingSlot, level: Int, splits: Bool
  ) throws -> EncodingFrame {
    guard level <= RecordLimits.maximumNestingDepth else { throw Self.nestingTooDeep }
    let frame = pool.popLast() ?? EncodingFrame(self)
    frame.begin(in: parent, slot: slot, level: level, splits: splits)
    return frame
  }

  /// Takes a frame back; one that a model has kept stays closed for good.
  func recycle(_ frame: consuming EncodingFrame) {
    frame.end()
    if isKnownUniquelyReferenced(&frame) { pool.append(frame) }
  }

  static var nestingTooDeep: ModelError {
    ModelError(
      .nestingTooDeep,
      reason: "models, lists and maps are nested deeper than "
        + "\(RecordLimits.maximumNestingDepth) levels")
  }

  /// Notes that a node begins.
  ///
  /// - Throws: ``ModelError`` `emptyIdentifier` or `cyclicModel`.
  func enter(_ identifier: String, typeName: @autoclosure () -> String) throws {
    guard !identifier.isEmpty else {
      throw ModelError(
        .emptyIdentifier, typeName: typeName(),
        reason: "the identifier is empty; a model that is no node has nil")
    }
    // A tree is a few levels deep, so a list is searched faster than a set. Identifiers are compared
    // byte by byte: `==` would take two spellings of one text for the same.
    for other in identifiers where other.utf8.elementsEqual(identifier.utf8) {
      throw ModelError(
        .cyclicModel, identifier: identifier, typeName: typeName(),
        reason: "the identifier occurs inside its own subtree; a tree of models has no cycles")
    }
    identifiers.append(identifier)
  }

  /// Notes that the innermost node has ended.
  func leave() { identifiers.removeLast() }
}
