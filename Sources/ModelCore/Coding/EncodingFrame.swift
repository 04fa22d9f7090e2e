/// The encoder of one value: collects the bytes of its container until the value is complete.
///
/// A map's fields come in the order the model encodes them and leave in the order of their keys. A
/// container may be filled after others were begun, in any order. A frame that a model keeps when its
/// `encode(to:)` has returned refuses further values.
final class EncodingFrame {
  /// What the value has asked for.
  enum Layout {
    case nothing, map, array, single
  }

  /// One field or element.
  struct Entry {
    /// Where its key begins in the writer; an element has an empty one.
    var start: Int
    /// Where its value begins.
    var value: Int
    /// Where its value ends.
    var end: Int
    /// The index of the frame that holds its value, if that was not complete at once; else -1.
    var nested: Int
    /// The first bytes of its key, big endian: entries of a map are mostly in their order.
    var prefix: UInt64 = 0
  }

  /// Valid while the frame is open.
  unowned(unsafe) let session: EncodingSession
  // No two of these are ever accessed at once: a frame serves one thread, and no accessor below calls
  // a model while it holds one. Checking that at run time would double the time of a small field.
  @exclusivity(unchecked) var writer = CBORWriter()
  @exclusivity(unchecked) var entries: [Entry] = []
  @exclusivity(unchecked) var edges: [RecordEdge] = []
  @exclusivity(unchecked) var layout = Layout.nothing
  /// Containers and encoders that were asked for and fill themselves later.
  @exclusivity(unchecked) var nested: [EncodingFrame] = []
  @exclusivity(unchecked) private(set) var parent: EncodingFrame?
  /// Which entry of the parent this frame encodes.
  @exclusivity(unchecked) private(set) var indexInParent = 0
  @exclusivity(unchecked) private(set) var slot = EncodingSlot.required
  @exclusivity(unchecked) private(set) var level = 0
  /// Whether models with an identifier become records of their own here.
  @exclusivity(unchecked) private(set) var splits = false
  /// How many references the bytes hold.
  @exclusivity(unchecked) var referenceCount = 0
  /// Whether a required child was removed.
  @exclusivity(unchecked) var isLost = false
  @exclusivity(unchecked) private(set) var isOpen = false
  /// What went wrong where nothing could be thrown.
  @exclusivity(unchecked) var failure: ModelError?

  init(_ session: EncodingSession) { unsafe self.session = session }

  func begin(in parent: EncodingFrame?, slot: EncodingSlot, level: Int, splits: Bool) {
    unsafe self.parent = parent
    unsafe indexInParent = unsafe (parent?.entries.count ?? 0) - 1
    unsafe self.slot = slot
    unsafe self.level = level
    unsafe self.splits = splits
    unsafe isOpen = true
  }

  /// Closes the frame and makes it ready for another value.
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
    unsafe isLost = false
    unsafe failure = nil
  }

  /// Checks that the value asks for one kind of container only, and in time.
  func use(_ wanted: Layout) throws {
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

  /// Does the same where nothing can be thrown.
  func claim(_ wanted: Layout) {
    do {
      try use(wanted)
    } catch {
      unsafe failure = unsafe failure ?? error as? ModelError
    }
  }

  /// Begins a field; its value is written next.
  func beginField(_ key: String) throws {
    try use(.map)
    let start = unsafe writer.count
    unsafe writer.append(key)
    let prefix = unsafe writer.prefix(from: start)
    unsafe entries.append(
      Entry(start: start, value: writer.count, end: start, nested: -1, prefix: prefix))
  }

  /// Begins a field of a value that writes its fields itself, and has asked for a map.
  func beginField(_ key: StaticString) {
    let start = unsafe writer.count
    unsafe writer.append(key)
    let prefix = unsafe writer.prefix(from: start)
    unsafe entries.append(
      Entry(start: start, value: writer.count, end: start, nested: -1, prefix: prefix))
  }

  /// Begins an element; its value is written next.
  func beginElement() throws {
    try use(.array)
    let start = unsafe writer.count
    unsafe entries.append(Entry(start: start, value: start, end: start, nested: -1))
  }

  /// Ends the field or element that was begun last.
  func endEntry() { unsafe entries[entries.count - 1].end = unsafe writer.count }

  /// Takes back the field or element that was begun last, with what it has written.
  func cancelEntry() {
    if let entry = unsafe entries.popLast() { unsafe writer.truncate(to: entry.start) }
  }

  /// Gives the entry begun last a frame that is filled later.
  func nest(slot: EncodingSlot) -> EncodingFrame {
    let frame = unsafe EncodingFrame(session)
    unsafe frame.begin(in: self, slot: slot, level: level + 1, splits: splits)
    if unsafe level + 1 > RecordLimits.maximumNestingDepth {
      unsafe failure = EncodingSession.nestingTooDeep
    }
    endEntry()
    unsafe entries[entries.count - 1].nested = unsafe nested.count
    unsafe nested.append(frame)
    return frame
  }

  /// A frame that refuses everything, for a caller that can't be thrown at.
  func refuse(_ error: any Error) -> EncodingFrame {
    unsafe failure = unsafe failure ?? error as? ModelError
    return unsafe EncodingFrame(Self.noSession)
  }

  /// What frames that were never open refer to.
  private nonisolated(unsafe) static let noSession = EncodingSession()
}
