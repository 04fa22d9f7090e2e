import PandoSystem

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

  // No two of these are ever accessed at once: a session serves one thread, and no accessor below
  // calls a model while it holds one.
  @exclusivity(unchecked) private(set) var mode = Mode.whole
  /// Whether types that write their fields themselves do so.
  @exclusivity(unchecked) private(set) var usesFields = true
  /// Whether values of enums with payload get a tag: ``EnumPlaces``.
  @exclusivity(unchecked) private(set) var marksEnums = false
  /// Models kept out of line; references hold their indexes.
  @exclusivity(unchecked) var children: [any Model] = []
  /// The identifiers of the nodes under way, outermost first.
  @exclusivity(unchecked) private var identifiers: [String] = []
  /// Frames to use again.
  @exclusivity(unchecked) private var pool: [EncodingFrame] = []
  /// The deepest level that the body under way may come to.
  @exclusivity(unchecked) private(set) var levelLimit = RecordLimits.maximumNestingDepth
  /// The level from which on a node is encoded on a larger stack.
  @exclusivity(unchecked) private var stackLimit = LargeStack.firstLevel
  /// How many models are under way that are encoded whole.
  @exclusivity(unchecked) private var wholeCount = 0
  /// The body of the node that ends at the moment.
  @exclusivity(unchecked) private var body = CBORWriter()

  /// The most frames, and the largest ones, that are kept for later.
  private static let pooledFrameCountMaximum = 256
  private static let keptByteCountMaximum = 1 << 16

  init() {}

  /// Makes a session, or uses one again that this thread has ended.
  static func begin(
    _ mode: Mode, children: [any Model] = [], usingFields: Bool = true, markingEnums: Bool = false
  ) -> EncodingSession {
    let session = ThreadSlot.encoding.take() ?? EncodingSession()
    unsafe session.mode = mode
    unsafe session.usesFields = usingFields
    unsafe session.marksEnums = markingEnums
    unsafe session.children = children
    return session
  }

  /// Ends the encoding.
  ///
  /// - Parameter session: The only reference to it: frames that models have kept are closed, and closed
  ///   frames don't touch it.
  static func end(_ session: inout EncodingSession) {
    unsafe session.mode = .whole
    unsafe session.children = []
    unsafe session.identifiers.removeAll(keepingCapacity: true)
    unsafe session.body.removeAll()
    guard unsafe session.body.capacity <= keptByteCountMaximum else { return }
    ThreadSlot.encoding.put(session)
  }

  /// A frame for one value.
  func makeFrame(
    in parent: EncodingFrame?, slot: EncodingSlot, level: Int, splits: Bool
  ) throws -> EncodingFrame {
    guard unsafe level <= levelLimit else { throw Self.nestingTooDeep }
    let frame = unsafe pool.popLast() ?? EncodingFrame(self)
    frame.begin(in: parent, slot: slot, level: level, splits: splits)
    return frame
  }

  /// Takes a frame back; one that a model has kept stays closed for good.
  func recycle(_ frame: consuming EncodingFrame) {
    frame.end()
    guard isKnownUniquelyReferenced(&frame), unsafe pool.count < Self.pooledFrameCountMaximum,
      unsafe frame.writer.capacity <= Self.keptByteCountMaximum,
      unsafe frame.entries.capacity <= Self.keptByteCountMaximum / 64
    else { return }
    unsafe pool.append(frame)
  }

  static var nestingTooDeep: ModelError {
    @inline(never) get {
      ModelError(
        .nestingTooDeep,
        reason: "values, lists and maps are nested deeper than "
          + "\(RecordLimits.maximumNestingDepth) levels in one node")
    }
  }

  static var nodesTooDeep: ModelError {
    @inline(never) get {
      ModelError(
        .nestingTooDeep,
        reason: "nodes are nested deeper than \(RecordLimits.maximumNodeDepth) levels")
    }
  }

  /// Goes on with a model on a stack that has room for what is inside.
  @inline(never)
  private func onLargeStack<Result>(
    from level: Int, _ body: () throws -> Result
  ) throws -> Result {
    let outer = unsafe stackLimit
    unsafe stackLimit = level + LargeStack.levelCount
    defer { unsafe stackLimit = outer }
    return try LargeStack.coding(isFirst: outer == LargeStack.firstLevel, body)
  }

  /// Encodes a model into the body around it, where all is written into one.
  ///
  /// It has as many levels of its own as if it were a node.
  func encodeWhole<Value: Encodable>(
    _ value: Value, slot: EncodingSlot, level: Int, in frame: EncodingFrame
  ) throws -> EncodingOutcome {
    guard unsafe level < stackLimit else {
      return try onLargeStack(from: level) {
        try encodeWhole(value, slot: slot, level: level, in: frame)
      }
    }
    guard unsafe wholeCount < RecordLimits.maximumNodeDepth else { throw Self.nodesTooDeep }
    let outer = unsafe levelLimit
    unsafe wholeCount += 1
    unsafe levelLimit = level + RecordLimits.maximumNestingDepth
    defer {
      unsafe wholeCount -= 1
      unsafe levelLimit = outer
    }
    return try frame.encodeInline(value, slot: slot, level: level, splits: false)
  }

  /// Encodes a node as a record of its own.
  ///
  /// - Parameters:
  ///   - value: The model.
  ///   - type: The static type of the model, once more: `Value` as a type of models.
  ///   - traits: The traits of that type.
  ///   - parent: What the reference to it stands in.
  ///   - sink: Takes the record.
  ///   - level: How deep it is nested.
  ///   - splits: Whether models inside become records of their own.
  /// - Returns: The reference to it; `nil` if it has no identifier.
  /// - Throws: ``ModelError``; what the model and the sink throw.
  func encodeNode<Value: Encodable, Known: SimpleModel>(
    _ value: Value, as type: Known.Type, _ traits: UnsafePointer<TypeTraits>,
    in parent: EncodingFrame?, to sink: any RecordSink, level: Int, splits: Bool
  ) throws -> RecordReference? {
    guard unsafe level < stackLimit else {
      return try onLargeStack(from: level) {
        try unsafe encodeNode(
          value, as: type, traits, in: parent, to: sink, level: level, splits: splits)
      }
    }
    return try unsafe withUnsafePointer(to: value) { pointer in
      // `Value` and `Known` are two names of one type.
      let known = unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Known.self)
      guard let identifier = unsafe known.pointee.modelIdentifier else { return nil }
      // To ask a value for its type copies it.
      let dynamicType: any SimpleModel.Type =
        unsafe traits.pointee.isClass ? Swift.type(of: known.pointee) : type
      try enter(identifier, typeName: dynamicType.modelTypeName)
      let outerLimit = unsafe levelLimit
      unsafe levelLimit = level + RecordLimits.maximumNestingDepth
      defer { leave(outerLimit) }
      let reference = try unsafe sink.beginNode(
        dynamicType, identifier: identifier, value: known.pointee)
      do {
        let frame = try makeFrame(in: parent, slot: .required, level: level + 1, splits: splits)
        do {
          try frame.encodeContents(of: value)
          try endNode(reference, frame, to: sink)
          recycle(frame)
        } catch {
          frame.end()
          throw error
        }
      } catch var error as ModelError {
        if error.identifier == nil {
          error.identifier = identifier
          error.typeName = dynamicType.modelTypeName
        }
        throw error
      }
      return reference
    }
  }

  /// Puts a body together, after those of all children, and hands it on.
  private func endNode(
    _ reference: RecordReference, _ frame: EncodingFrame, to sink: any RecordSink
  ) throws {
    unsafe body.removeAll()
    _ = try unsafe frame.finish(into: &body)
    unsafe frame.edges.normalize()
    try unsafe sink.endNode(reference, body: body.buffer, edges: frame.edges)
  }

  /// Notes that a node begins.
  ///
  /// - Throws: ``ModelError`` `emptyIdentifier`, `cyclicModel` or `nestingTooDeep`.
  func enter(_ identifier: String, typeName: @autoclosure () -> String) throws {
    guard !identifier.isEmpty else {
      throw ModelError(
        .emptyIdentifier, typeName: typeName(),
        reason: "the identifier is empty; a model that is no node has nil")
    }
    // A tree is a few levels deep, so a list is searched faster than a set. Identifiers are compared
    // byte by byte: `==` would take two spellings of one text for the same.
    for other in unsafe identifiers where other.hasSameBytes(as: identifier) {
      throw ModelError(
        .cyclicModel, identifier: identifier, typeName: typeName(),
        reason: "the identifier occurs inside its own subtree; a tree of models has no cycles")
    }
    guard unsafe identifiers.count < RecordLimits.maximumNodeDepth else {
      throw Self.nodesTooDeep.about(identifier: identifier, typeName: typeName())
    }
    unsafe identifiers.append(identifier)
  }

  /// Notes that the innermost node has ended, and what limit the one around it has.
  private func leave(_ outerLimit: Int) {
    unsafe identifiers.removeLast()
    unsafe levelLimit = outerLimit
  }
}

extension ThreadSlot<EncodingSession> {
  static let encoding = ThreadSlot()
}

/// A place in which each thread keeps one object for its next use.
///
/// It saves allocations where the same work is done again and again; nobody may rely on finding
/// something there. The object is let go when its thread ends.
package struct ThreadSlot<Object: AnyObject>: Sendable {
  /// `nil` if the process has used all its keys: then nothing is ever kept.
  private let key: pthread_key_t?

  /// Makes a place that is empty for all threads.
  package init() {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { address in
      guard let address = unsafe address else { return }
      unsafe Unmanaged<AnyObject>.fromOpaque(address).release()
    }
    self.key = status == 0 ? key : nil
  }

  /// Takes the object of the calling thread, which then has none.
  ///
  /// - Returns: `nil` if it has none.
  @inline(__always)
  package func take() -> Object? {
    guard let key, let address = unsafe pthread_getspecific(key) else { return nil }
    pthread_setspecific(key, nil)
    // Only `put` stores an address, and with it gives up a retained object.
    return unsafe Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
  }

  /// Keeps an object for the calling thread, unless it has one.
  ///
  /// - Parameter object: An object that nobody else uses.
  @inline(__always)
  package func put(_ object: Object) {
    guard let key, unsafe pthread_getspecific(key) == nil else { return }
    let address = unsafe Unmanaged.passRetained(object).toOpaque()
    if unsafe pthread_setspecific(key, address) != 0 {
      unsafe Unmanaged<Object>.fromOpaque(address).release()
    }
  }
}
