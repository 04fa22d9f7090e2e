import PandoModels

/// The encoder of one value: collects the bytes of its container until the value is complete.
///
/// A model encodes a map's fields in any order; they are written in key order. A container may be
/// filled after others have begun. A frame that a model keeps after its `encode(to:)` refuses
/// further values.
///
/// `session`, `parent` and the place of the value are set by ``begin(in:slot:level:splits:)``; all
/// else is collected until ``end()`` resets it. If `nested` has frames, ``finish(into:)`` settles
/// them first. One thread uses a frame.
@safe final class EncodingFrame {
  /// The container that the value has requested.
  enum Layout {
    case nothing, map, array, single
  }

  /// One field or element.
  typealias Entry = EncodedContent.Entry

  /// Valid while the frame is open.
  unowned(unsafe) let session: EncodingSession
  /// The collected bytes and entries.
  ///
  /// Owned by this frame. A pointer, so that writing many fields needs no reference counting.
  let content: UnsafeMutablePointer<EncodedContent>
  // No two of these are accessed at the same time: a frame serves one thread, and no accessor below
  // calls a model during an access. A run-time check would double the time of a small field.
  @exclusivity(unchecked) var edges: [RecordEdge] = []
  @exclusivity(unchecked) var layout = Layout.nothing
  /// Requested containers and encoders that are filled later.
  @exclusivity(unchecked) var nested: [EncodingFrame] = []
  @exclusivity(unchecked) private(set) var parent: EncodingFrame?
  /// The index of this frame's entry in the parent.
  @exclusivity(unchecked) private(set) var indexInParent = 0
  @exclusivity(unchecked) private(set) var slot = EncodingSlot.required
  @exclusivity(unchecked) private(set) var level = 0
  /// Whether models with an identifier become separate records here.
  @exclusivity(unchecked) var splits = false
  /// The number of references in the bytes.
  @exclusivity(unchecked) var referenceCount = 0
  /// Whether the value is an enum with payload and gets a tag.
  @exclusivity(unchecked) var isMarkedEnum = false
  /// Whether it is a nested container of the value of the frame around it.
  @exclusivity(unchecked) private var isNested = false
  /// Whether a required child was removed.
  @exclusivity(unchecked) var isLost = false
  @exclusivity(unchecked) private(set) var isOpen = false
  /// The error of a call that can't throw.
  @exclusivity(unchecked) var failure: ModelError?

  init(_ session: EncodingSession) {
    unsafe self.session = session
    unsafe content = .allocate(capacity: 1)
    unsafe content.initialize(to: EncodedContent())
  }

  deinit {
    unsafe content.deinitialize(count: 1)
    unsafe content.deallocate()
  }

  // Coroutines, so that neither value is copied.
  /// The bytes of all keys and values so far.
  @unsafe var writer: CBORWriter {
    @inline(__always) _read { yield unsafe content.pointee.writer }
    @inline(__always) _modify { yield unsafe &content.pointee.writer }
  }

  /// The fields or elements so far.
  @unsafe var entries: [Entry] {
    @inline(__always) _read { yield unsafe content.pointee.entries }
    @inline(__always) _modify { yield unsafe &content.pointee.entries }
  }

  func begin(in parent: EncodingFrame?, slot: EncodingSlot, level: Int, splits: Bool) {
    unsafe self.parent = parent
    unsafe indexInParent = unsafe (parent?.entries.count ?? 0) - 1
    unsafe self.slot = slot
    unsafe self.level = level
    unsafe self.splits = splits
    unsafe isOpen = true
  }

  /// Closes the frame and prepares it for another value.
  func end() {
    unsafe isOpen = false
    unsafe writer.removeAll()
    unsafe entries.removeAll(keepingCapacity: true)
    if unsafe !edges.isEmpty { unsafe edges.removeAll(keepingCapacity: true) }
    unsafe layout = .nothing
    if unsafe !nested.isEmpty {
      for frame in unsafe nested { frame.end() }
      unsafe nested = []
    }
    unsafe parent = nil
    unsafe referenceCount = 0
    unsafe isMarkedEnum = false
    unsafe isLost = false
    unsafe failure = nil
  }

  /// Checks that the value requests one kind of container only, and while the frame is open.
  @inline(__always)
  func use(_ wanted: Layout) throws {
    if unsafe isOpen && layout == wanted { return }
    try begin(wanted)
  }

  @inline(never)
  private func begin(_ wanted: Layout) throws {
    guard unsafe isOpen else {
      throw ModelError(
        .encodingEnded, reason: "an encoder was kept and used after its model had been encoded")
    }
    if unsafe layout == wanted { return }
    guard unsafe layout == .nothing else {
      throw ModelError(
        .codingFailed,
        reason: unsafe "encode(to:) asked for \(wanted) after it had asked for \(layout)")
    }
    unsafe layout = wanted
  }

  /// The same for a caller that can't throw.
  func claim(_ wanted: Layout) {
    do {
      try use(wanted)
    } catch {
      unsafe failure = unsafe failure ?? error as? ModelError
    }
  }

  /// Begins a field; its value follows.
  func beginField(_ key: String) throws {
    try use(.map)
    unsafe content.pointee.beginField(key)
  }

  /// Begins an element; its value follows.
  func beginElement() throws {
    try use(.array)
    let start = unsafe writer.count
    unsafe entries.append(Entry(start: start, value: start, end: start, nested: -1))
  }

  /// Ends the latest field or element.
  func endEntry() { unsafe content.pointee.endEntry() }

  /// Removes the latest field or element with its bytes.
  func cancelEntry() {
    if let entry = unsafe entries.popLast() { unsafe writer.truncate(to: entry.start) }
  }

  /// Assigns a frame to the latest entry; the frame is filled later.
  func nest(slot: EncodingSlot) -> EncodingFrame {
    let frame = unsafe EncodingFrame(session)
    unsafe frame.begin(in: self, slot: slot, level: level + 1, splits: splits)
    unsafe frame.isNested = true
    if unsafe level + 1 > session.levelLimit {
      unsafe failure = EncodingSession.nestingTooDeep
    }
    endEntry()
    unsafe content.pointee.nestEntry(nested.count)
    unsafe nested.append(frame)
    return frame
  }

  /// A frame that refuses everything, for a caller that can't throw.
  func refuse(_ error: any Error) -> EncodingFrame {
    unsafe failure = unsafe failure ?? error as? ModelError
    return unsafe EncodingFrame(Self.noSession)
  }

  /// The session of frames that were never open.
  private nonisolated(unsafe) static let noSession = EncodingSession()
}

extension EncodingFrame: Encoder {
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The keys to this value, without elements of lists and maps that this module encodes itself.
  var codingPath: [any CodingKey] {
    guard let parent = unsafe parent else { return [] }
    return unsafe parent.codingPath + parent.codingPathComponent(at: indexInParent)
  }

  private func codingPathComponent(at index: Int) -> [any CodingKey] {
    guard unsafe index >= 0 && index < entries.count else { return [] }
    let entry = unsafe entries[index]
    guard entry.value > entry.start else { return [RecordCodingKey(index: index)] }
    // A key is a text written by `beginField`.
    var reader = unsafe CBORReader(
      UnsafeRawBufferPointer(rebasing: writer.buffer[entry.start..<entry.value]))
    return (try? reader.text()).map { [RecordCodingKey($0)] } ?? []
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    claim(.map)
    if unsafe session.marksEnums && !isNested && Self.belongToEnum(type) {
      unsafe isMarkedEnum = true
    }
    return KeyedEncodingContainer(KeyedRecordEncoder<Key>(frame: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    claim(.array)
    return UnkeyedRecordEncoder(frame: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleRecordEncoder(frame: self)
  }
}
