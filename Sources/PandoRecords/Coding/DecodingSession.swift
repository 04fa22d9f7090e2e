import PandoModels
import PandoSystem

/// The shared state of the decoders of one decoding.
///
/// `source` to `hasEnded` are set by ``begin(source:usingFields:)`` and reset by ``end(_:)``;
/// `owner` to `childDepth` follow the value under way. `maps`, `spare` and `lastMap` are the
/// indexes; `madeBytes` and `room` are memory. One thread uses a session.
@safe final class DecodingSession {
  // No two of these are accessed at the same time: a session serves one thread, and no accessor
  // below calls a model during an access.
  /// The source of the decoding under way, which its caller keeps.
  @exclusivity(unchecked) private(set) unowned(unsafe) var source: (any RecordSource)?
  /// The children of a live model, which have no records.
  @exclusivity(unchecked) private(set) var children: LiveChildren?
  /// Whether ``FieldCodable`` types read their own fields.
  @exclusivity(unchecked) private(set) var usesFields = true
  /// Whether a keyed container without other references is reused for the next map.
  @exclusivity(unchecked) private(set) var keepsContainers: Bool
  @exclusivity(unchecked) private(set) var hasEnded = false
  /// The traits of the type under way, whose fields a container has.
  @exclusivity(unchecked) var owner: UnsafePointer<TypeTraits>?
  /// The level limit inside the body under way.
  @exclusivity(unchecked) var levelLimit = RecordLimits.maximumNestingDepth
  /// The level from which on nodes are decoded on a larger stack.
  @exclusivity(unchecked) var stackLimit = LargeStack.firstLevel
  /// The nesting depth of the children under way.
  @exclusivity(unchecked) var childDepth = 0
  /// The maps under way, the innermost first, linked by `next`.
  @exclusivity(unchecked) private(set) var maps: UnsafeMutablePointer<FieldTable>?
  @exclusivity(unchecked) private(set) var mapCount = 0
  /// Indexes for reuse, linked by `next`.
  @exclusivity(unchecked) private var spare: UnsafeMutablePointer<FieldTable>?
  /// The range of the last dropped map.
  @exclusivity(unchecked) private var lastMap: (start: UnsafeRawPointer, end: UnsafeRawPointer)?
  /// Bytes made for arrays that are read from byte strings; they live as long as the session.
  @exclusivity(unchecked) private var madeBytes: [UnsafeMutableRawBufferPointer] = unsafe []
  /// Room for the values under way, children above their parents.
  private let room: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var usedRoom = 0

  private static let roomByteCount = 4096
  private static let roomAlignment = 16

  init(keepingContainers: Bool = unsafe FieldTable.areContainersReferences) {
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

  /// Makes a session, or reuses one that this thread has ended.
  ///
  /// - Parameters:
  ///   - source: The source of referenced records.
  ///   - children: The children of a live model, which have no records.
  ///   - usingFields: Whether ``FieldCodable`` types read their own fields.
  ///   - keepingContainers: Whether a keyed container may be reused for several maps.
  /// - Returns: A session; ``end(_:)`` ends it.
  static func begin(
    source: (any RecordSource)? = nil, children: LiveChildren? = nil, usingFields: Bool = true,
    keepingContainers: Bool = unsafe FieldTable.areContainersReferences
  ) -> DecodingSession {
    let session = ThreadSlot.decoding.take() ?? DecodingSession()
    session.begin(source: source, usingFields: usingFields)
    unsafe session.children = children
    unsafe session.keepsContainers = keepingContainers
    return session
  }

  /// Begins a decoding in a new or ended session.
  func begin(source: (any RecordSource)?, usingFields: Bool = true) {
    unsafe hasEnded = false
    unsafe self.source = source
    unsafe usesFields = usingFields
  }

  /// Ends the decoding; decoders kept by models throw from now on.
  ///
  /// - Parameter session: The only reference to it, except those kept by models.
  static func end(_ session: inout DecodingSession) {
    if finish(&session) { ThreadSlot.decoding.put(session) }
  }

  /// The same for a session that its owner keeps.
  ///
  /// - Parameter session: The only reference to it, except those kept by models.
  /// - Returns: Whether it can be reused; not if a model has kept a reference to it.
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

  /// Reserves room for a value; ``giveBack(_:usedBefore:)`` releases it in the opposite order.
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

  /// Releases room from ``takeRoom(byteCount:alignment:)``.
  func giveBack(_ address: UnsafeMutableRawPointer, usedBefore: Int) {
    if unsafe address < room || address >= room + Self.roomByteCount {
      unsafe address.deallocate()
    }
    unsafe usedRoom = usedBefore
  }

  /// Checks that the bytes are still valid.
  func checkAlive() throws {
    if unsafe hasEnded { throw ModelError.snapshotEnded }
  }

  /// Returns an index for a map, valid until ``dropMaps(downTo:)``.
  func makeFieldTable() -> UnsafeMutablePointer<FieldTable> {
    let index: UnsafeMutablePointer<FieldTable>
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

  /// Drops the latest indexes down to a number.
  func dropMaps(downTo count: Int) {
    while unsafe mapCount > count { dropMap() }
  }

  /// Drops the latest index.
  private func dropMap() {
    guard let index = unsafe maps else { preconditionFailure("a map to drop") }
    unsafe maps = unsafe index.pointee.next
    unsafe mapCount -= 1
    unsafe lastMap = unsafe (index.pointee.start, index.pointee.mapEnd)
    unsafe index.pointee.retire()
    unsafe index.pointee.next = unsafe spare
    unsafe spare = unsafe index
  }

  /// Releases an index; drops it as soon as it is the latest.
  func release(_ index: UnsafeMutablePointer<FieldTable>) {
    unsafe index.pointee.isReleased = true
    while let last = unsafe maps, unsafe last.pointee.isReleased { dropMap() }
  }

  /// The end of the map at an address, if it was dropped last.
  func endOfMap(at start: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard let map = unsafe lastMap, unsafe map.start == start else { return nil }
    return unsafe map.end
  }

  /// Keeps a copy of bytes as long as the session lives.
  func keep(_ writer: borrowing CBORWriter) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: writer.count, alignment: 1)
    unsafe copy.copyMemory(from: writer.buffer)
    unsafe madeBytes.append(copy)
    return UnsafeRawBufferPointer(copy)
  }
}

/// The children of a live model, kept beside its coding; references contain their indexes.
struct LiveChildren {
  let models: [any Model]
  /// The number of them that come from the older of two merged models.
  let oldCount: Int
  /// Makes a child of one type with the data of another type and the old children; returns `nil` if
  /// that is impossible.
  let convert: (any Model, any Model.Type, ArraySlice<any Model>) -> (any Model)?
}

extension ThreadSlot<DecodingSession> {
  static let decoding = ThreadSlot()
}
