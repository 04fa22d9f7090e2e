import PandoSystem

/// What the decoders of one decoding share; ends with it.
@safe final class DecodingSession {
  // No two of these are ever accessed at once: a session serves one thread, and no accessor below
  // calls a model while it holds one.
  @exclusivity(unchecked) private(set) var source: (any RecordSource)?
  /// The children of a live model, which have no records.
  @exclusivity(unchecked) private(set) var children: LiveChildren?
  /// Whether types that read their fields themselves do so.
  @exclusivity(unchecked) private(set) var usesFields = true
  /// Whether a keyed container that nobody else has any more serves the next map too.
  @exclusivity(unchecked) private(set) var keepsContainers: Bool
  @exclusivity(unchecked) private(set) var hasEnded = false
  /// The traits of the type that is being decoded: which type's fields a container holds.
  @exclusivity(unchecked) var owner: UnsafePointer<TypeTraits>?
  /// The level that what is inside the body under way stays below.
  @exclusivity(unchecked) var levelLimit = RecordLimits.maximumNestingDepth
  /// The level from which on a node is decoded on a larger stack.
  @exclusivity(unchecked) var stackLimit = LargeStack.firstLevel
  /// How many children are under way, one inside the other.
  @exclusivity(unchecked) var childDepth = 0
  /// The maps under way, the innermost first, linked by their `next`.
  @exclusivity(unchecked) private(set) var maps: UnsafeMutablePointer<FieldIndex>?
  @exclusivity(unchecked) private(set) var mapCount = 0
  /// Indexes to use again, linked by their `next`.
  @exclusivity(unchecked) private var spare: UnsafeMutablePointer<FieldIndex>?
  /// The map that was dropped last: where it began and ended.
  @exclusivity(unchecked) private var lastMap: (start: UnsafeRawPointer, end: UnsafeRawPointer)?
  /// Bytes made for arrays that are read from byte strings; they live as long as the session.
  @exclusivity(unchecked) private var madeBytes: [UnsafeMutableRawBufferPointer] = unsafe []
  /// Room for the values under way, those of children above their parents.
  private let room: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var usedRoom = 0

  private static let roomByteCount = 4096
  private static let roomAlignment = 16

  init(keepingContainers: Bool = unsafe FieldIndex.areContainersReferences) {
    unsafe keepsContainers = keepingContainers
    unsafe room = .allocate(byteCount: Self.roomByteCount, alignment: Self.roomAlignment)
  }

  deinit {
    unsafe room.deallocate()
    freeMadeBytes()
    while let index = unsafe spare {
      unsafe spare = unsafe index.pointee.next
      unsafe SpareFieldIndexes.put(index)
    }
  }

  /// Makes a session, or uses one again that this thread has ended.
  ///
  /// - Parameters:
  ///   - source: Gives the records that records refer to.
  ///   - children: The children of a live model, which have no records.
  ///   - usingFields: Whether types that read their fields themselves do so.
  ///   - keepingContainers: Whether a keyed container may serve several maps.
  /// - Returns: A session to be ended by ``end(_:)``.
  static func begin(
    source: (any RecordSource)? = nil, children: LiveChildren? = nil, usingFields: Bool = true,
    keepingContainers: Bool = unsafe FieldIndex.areContainersReferences
  ) -> DecodingSession {
    let session = ThreadSlot.decoding.take() ?? DecodingSession()
    session.begin(source: source, usingFields: usingFields)
    unsafe session.children = children
    unsafe session.keepsContainers = keepingContainers
    return session
  }

  /// Begins a decoding in a session that is new or has ended.
  func begin(source: (any RecordSource)?, usingFields: Bool = true) {
    unsafe hasEnded = false
    unsafe self.source = source
    unsafe usesFields = usingFields
  }

  /// Ends the decoding: what a model has kept of it refuses from now on.
  ///
  /// - Parameter session: The only reference to it beside those that models have kept.
  static func end(_ session: inout DecodingSession) {
    if finish(&session) { ThreadSlot.decoding.put(session) }
  }

  /// The same for a session that its owner keeps.
  ///
  /// - Parameter session: The only reference to it beside those that models have kept.
  /// - Returns: Whether it can be used again: a model may have kept something that refers to it.
  static func finish(_ session: inout DecodingSession) -> Bool {
    unsafe session.hasEnded = true
    unsafe session.owner = nil
    unsafe session.lastMap = nil
    session.dropMaps(downTo: 0)
    unsafe session.source = nil
    if unsafe session.children != nil { unsafe session.children = nil }
    guard isKnownUniquelyReferenced(&session) else { return false }
    session.freeMadeBytes()
    return true
  }

  private func freeMadeBytes() {
    if unsafe madeBytes.isEmpty { return }
    while let bytes = unsafe madeBytes.popLast() { unsafe bytes.deallocate() }
  }

  /// Makes room for a value; taken back in the opposite order by ``giveBack(_:usedBefore:)``.
  ///
  /// - Returns: The room, and how much was in use before.
  func takeRoom(
    byteCount: Int, alignment: Int
  ) -> (room: UnsafeMutableRawPointer, usedBefore: Int) {
    let before = unsafe usedRoom
    let start = (before + alignment - 1) & ~(alignment - 1)
    guard alignment <= Self.roomAlignment, start + byteCount <= Self.roomByteCount else {
      return (.allocate(byteCount: max(byteCount, 1), alignment: alignment), before)
    }
    unsafe usedRoom = start + byteCount
    // In bounds by the line above.
    return unsafe (room + start, before)
  }

  /// Takes room back that ``takeRoom(byteCount:alignment:)`` gave.
  func giveBack(_ address: UnsafeMutableRawPointer, usedBefore: Int) {
    if unsafe address < room || address >= room + Self.roomByteCount {
      unsafe address.deallocate()
    }
    unsafe usedRoom = usedBefore
  }

  /// Checks that the bytes are still there.
  func checkAlive() throws {
    if unsafe hasEnded { throw ModelError.snapshotEnded }
  }

  /// An index for a map; it serves until ``dropMaps(downTo:)`` takes it back.
  func makeFieldIndex() -> UnsafeMutablePointer<FieldIndex> {
    let index: UnsafeMutablePointer<FieldIndex>
    if let found = unsafe spare {
      unsafe spare = unsafe found.pointee.next
      unsafe index = unsafe found
    } else {
      unsafe index = unsafe SpareFieldIndexes.take(for: self)
    }
    unsafe index.pointee.next = unsafe maps
    unsafe maps = unsafe index
    unsafe mapCount += 1
    return unsafe index
  }

  /// Takes back the indexes made since there were so many.
  func dropMaps(downTo count: Int) {
    while unsafe mapCount > count { dropMap() }
  }

  /// Takes back the index made last.
  private func dropMap() {
    guard let index = unsafe maps else { preconditionFailure("a map to drop") }
    unsafe maps = unsafe index.pointee.next
    unsafe mapCount -= 1
    unsafe lastMap = unsafe (index.pointee.start, index.pointee.mapEnd)
    unsafe index.pointee.retire()
    unsafe index.pointee.next = unsafe spare
    unsafe spare = unsafe index
  }

  /// Takes back an index, at once if it is the one made last.
  func release(_ index: UnsafeMutablePointer<FieldIndex>) {
    unsafe index.pointee.isReleased = true
    while let last = unsafe maps, unsafe last.pointee.isReleased { dropMap() }
  }

  /// The end of the map that began at an address, if it is the one that was dropped last.
  func endOfMap(at start: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard let map = unsafe lastMap, unsafe map.start == start else { return nil }
    return unsafe map.end
  }

  /// Keeps bytes as long as the session lives.
  func keep(_ writer: borrowing CBORWriter) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: writer.count, alignment: 1)
    unsafe copy.copyMemory(from: writer.buffer)
    unsafe madeBytes.append(copy)
    return UnsafeRawBufferPointer(copy)
  }
}

/// The children of a live model, kept beside its coding; references hold their indexes.
struct LiveChildren {
  let models: [any Model]
  /// How many of them come from the older of two models that are merged.
  let oldCount: Int
  /// Makes a child of one type show the data of one of another type, amid the old children; `nil` if
  /// there is no way.
  let convert: (any Model, any Model.Type, ArraySlice<any Model>) -> (any Model)?
}

extension ThreadSlot<DecodingSession> {
  static let decoding = ThreadSlot()
}
