import PandoModels
import PandoSystem

/// The shared state of the frames of one encoding.
///
/// ``begin(_:children:usingFields:markingEnums:)`` sets `mode`, `usesFields`, `marksEnums` and
/// `children`; ``end(_:)`` resets them. `identifiers`, `levelLimit`, `stackLimit` and `wholeCount`
/// follow the node under way. `pool` and `body` are kept for reuse. One thread uses a session.
final class EncodingSession {
  /// The treatment of models inside the encoded value.
  enum Mode {
    /// Models with an identifier become separate records.
    case records(any RecordSink)
    /// Everything is written into one body.
    case whole
    /// The closure replaces or removes models, which are collected in `children`.
    case live((any Model) -> (any Model)?)
  }

  // No two of these are accessed at the same time: a session serves one thread, and no accessor
  // below calls a model during an access.
  @exclusivity(unchecked) private(set) var mode = Mode.whole
  /// Whether ``FieldCodable`` types write their own fields.
  @exclusivity(unchecked) private(set) var usesFields = true
  /// Whether values of enums with payload get a tag: ``EnumPlaces``.
  @exclusivity(unchecked) private(set) var marksEnums = false
  /// The collected models; references contain their indexes.
  @exclusivity(unchecked) var children: [any Model] = []
  /// The identifiers of the nodes under way, outermost first.
  @exclusivity(unchecked) private var identifiers: [String] = []
  /// Frames for reuse.
  @exclusivity(unchecked) private var pool: [EncodingFrame] = []
  /// The level limit of the body under way.
  @exclusivity(unchecked) private(set) var levelLimit = RecordLimits.maximumNestingDepth
  /// The level from which on nodes are encoded on a larger stack.
  @exclusivity(unchecked) private var stackLimit = LargeStack.firstLevel
  /// The number of models under way that are encoded as a whole.
  @exclusivity(unchecked) private var wholeCount = 0
  /// The body of the node that is ending.
  @exclusivity(unchecked) private var body = CBORWriter()

  /// The most pooled frames, and the largest kept capacity.
  private static let pooledFrameCountMaximum = 256
  private static let keptByteCountMaximum = 1 << 16

  init() {}

  /// Makes a session, or reuses one that this thread has ended.
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
  /// - Parameter session: The only reference to it: frames kept by models are closed, and closed
  ///   frames do not use it.
  static func end(_ session: inout EncodingSession) {
    unsafe session.mode = .whole
    unsafe session.children = []
    unsafe session.identifiers.removeAll(keepingCapacity: true)
    unsafe session.body.removeAll()
    guard unsafe session.body.capacity <= keptByteCountMaximum else { return }
    ThreadSlot.encoding.put(session)
  }

  /// Returns a frame for one value.
  func makeFrame(
    in parent: EncodingFrame?, slot: EncodingSlot, level: Int, splits: Bool
  ) throws -> EncodingFrame {
    guard unsafe level <= levelLimit else { throw Self.nestingTooDeep }
    let frame = unsafe pool.popLast() ?? EncodingFrame(self)
    frame.begin(in: parent, slot: slot, level: level, splits: splits)
    return frame
  }

  /// Takes a frame back; one kept by a model stays closed.
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

  /// Continues with a model on a larger stack.
  @inline(never)
  private func onLargeStack<Result>(
    from level: Int, _ body: () throws -> Result
  ) throws -> Result {
    let outer = unsafe stackLimit
    unsafe stackLimit = level + LargeStack.levelCount
    defer { unsafe stackLimit = outer }
    return try LargeStack.coding(isFirst: outer == LargeStack.firstLevel, body)
  }

  /// Encodes a model into the body around it, if all is written into one.
  ///
  /// It may have as many levels as a node.
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

  /// Encodes a node as a separate record.
  ///
  /// - Parameters:
  ///   - value: The model.
  ///   - type: The static type of the model: `Value` as a model type.
  ///   - traits: The traits of that type.
  ///   - parent: The frame with the reference to it.
  ///   - sink: The receiver of the record.
  ///   - level: The nesting level.
  ///   - splits: Whether models inside become separate records.
  /// - Returns: The reference; `nil` if the model has no identifier.
  /// - Throws: `ModelError`; the error of the model or the sink.
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
      // `Value` and `Known` are the same type.
      let known = unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Known.self)
      guard let identifier = unsafe known.pointee.modelIdentifier else { return nil }
      // Reading the dynamic type of a value copies it.
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
          if let fields = unsafe traits.pointee.fields, unsafe usesFields {
            _ = try frame.writeFields(
              of: value, as: fields, slot: .required, level: level + 1, splits: splits)
            unsafe frame.edges.normalize()
            try unsafe sink.endNode(reference, body: frame.writer.buffer, edges: frame.edges)
          } else {
            try frame.encodeContents(of: value)
            try endNode(reference, frame, to: sink)
          }
          recycle(frame)
        } catch {
          frame.end()
          throw error
        }
      } catch let error as ModelError {
        throw error.about(identifier: identifier, typeName: dynamicType.modelTypeName)
      }
      return reference
    }
  }

  /// Assembles a body, after those of all children, and passes it on.
  private func endNode(
    _ reference: RecordReference, _ frame: EncodingFrame, to sink: any RecordSink
  ) throws {
    unsafe body.removeAll()
    _ = try unsafe frame.finish(into: &body)
    unsafe frame.edges.normalize()
    try unsafe sink.endNode(reference, body: body.buffer, edges: frame.edges)
  }

  /// Begins a node.
  ///
  /// - Throws: `ModelError` `emptyIdentifier`, `cyclicModel` or `nestingTooDeep`.
  func enter(_ identifier: String, typeName: @autoclosure () -> String) throws {
    guard !identifier.isEmpty else {
      throw ModelError(
        .emptyIdentifier, typeName: typeName(),
        reason: "the identifier is empty; a model that is no node has nil")
    }
    // A tree has few levels, so a list is searched faster than a set. Identifiers are compared byte
    // by byte: `==` would treat two spellings of one text as equal.
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

  /// Ends the innermost node and restores the limit of the one around it.
  private func leave(_ outerLimit: Int) {
    unsafe identifiers.removeLast()
    unsafe levelLimit = outerLimit
  }
}

extension ThreadSlot<EncodingSession> {
  static let encoding = ThreadSlot()
}

/// A slot in which each thread keeps one object for reuse.
///
/// It saves allocations in repeated work; a slot may always be empty. The object is released when
/// its thread ends.
package struct ThreadSlot<Object: AnyObject>: Sendable {
  /// `nil` if the process has no key left: then nothing is kept.
  private let key: pthread_key_t?

  /// Makes a slot that is empty on all threads.
  package init() {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { address in
      guard let address = unsafe address else { return }
      unsafe Unmanaged<AnyObject>.fromOpaque(address).release()
    }
    self.key = status == 0 ? key : nil
  }

  /// Removes and returns the object of the calling thread.
  ///
  /// - Returns: `nil` if it has none.
  @inline(__always)
  package func take() -> Object? {
    guard let key, let address = unsafe pthread_getspecific(key) else { return nil }
    pthread_setspecific(key, nil)
    // Only `put` stores an address, and transfers a retained object with it.
    return unsafe Unmanaged<Object>.fromOpaque(address).takeRetainedValue()
  }

  /// Keeps an object for the calling thread, unless it has one.
  ///
  /// - Parameter object: An object without other users.
  @inline(__always)
  package func put(_ object: Object) {
    guard let key, unsafe pthread_getspecific(key) == nil else { return }
    let address = unsafe Unmanaged.passRetained(object).toOpaque()
    if unsafe pthread_setspecific(key, address) != 0 {
      unsafe Unmanaged<Object>.fromOpaque(address).release()
    }
  }
}
