import PandoModels
import PandoSystem

/// The shared state of the decoders of one decoding.
///
/// `source` to `hasEnded` are set by ``begin(source:usingFields:)`` and reset by ``end(_:)``;
/// `owner` to `childDepth` follow the value under way. `madeBytes` and `room` are memory. One thread uses a session.
@safe final class DecodingSession {
  // No two of these are accessed at the same time: a session serves one thread, and no accessor
  // below calls a model during an access.
  /// The source of the decoding under way, which its caller keeps.
  @exclusivity(unchecked) private(set) unowned(unsafe) var source: (any RecordSource)?
  /// The children of a live model, which have no records.
  @exclusivity(unchecked) private(set) var children: LiveChildren?
  /// Whether ``FieldCodable`` types read their own fields.
  @exclusivity(unchecked) private(set) var usesFields = true
  @exclusivity(unchecked) private(set) var hasEnded = false
  /// The traits of the type under way, whose fields a container has.
  @exclusivity(unchecked) var owner: UnsafePointer<TypeTraits>?
  /// The level limit inside the body under way.
  @exclusivity(unchecked) var levelLimit = RecordLimits.maximumNestingDepth
  /// The level from which on nodes are decoded on a larger stack.
  @exclusivity(unchecked) var stackLimit = LargeStack.firstLevel
  /// The nesting depth of the children under way.
  @exclusivity(unchecked) var childDepth = 0
  /// Bytes made for arrays that are read from byte strings; they live as long as the session.
  @exclusivity(unchecked) private var madeBytes: [UnsafeMutableRawBufferPointer] = unsafe []
  /// Room for the values under way, children above their parents.
  private let room: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var usedRoom = 0

  private static let roomByteCount = 4096
  private static let roomAlignment = 16

  init() {
    unsafe room = .allocate(byteCount: Self.roomByteCount, alignment: Self.roomAlignment)
  }

  deinit {
    unsafe room.deallocate()
    freeMadeBytes()
  }

  /// Makes a session, or reuses one that this thread has ended.
  ///
  /// - Parameters:
  ///   - source: The source of referenced records.
  ///   - children: The children of a live model, which have no records.
  ///   - usingFields: Whether ``FieldCodable`` types read their own fields.
  /// - Returns: A session; ``end(_:)`` ends it.
  static func begin(
    source: (any RecordSource)? = nil, children: LiveChildren? = nil, usingFields: Bool = true
  ) -> DecodingSession {
    let session = ThreadSlot.decoding.take() ?? DecodingSession()
    session.begin(source: source, usingFields: usingFields)
    unsafe session.children = children
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
