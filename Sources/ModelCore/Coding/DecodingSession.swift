/// What the decoders of one decoding share; ends with it.
///
/// It holds an index for the maps under way: one block of entries, used like a stack, so that a
/// keyed container costs no allocation of its own. A container whose entries have been dropped (a
/// model kept it) searches the map itself.
@safe final class DecodingSession {
  /// Where one field of a map is.
  @safe struct Field {
    /// The first bytes of the key, big endian, filled up with zeros: sorts as the keys do.
    let prefix: UInt64
    let keyCount: Int
    let key: UnsafeRawPointer
    let value: UnsafeRawPointer
  }

  /// The fields of one map under way.
  struct Map {
    /// Tells this map from others that had its place before or have it later.
    let ticket: UInt64
    let first: Int
    let count: Int
    /// Whether the keys are in order, so that they can be searched by halves.
    let isSorted: Bool
  }

  let source: (any RecordSource)?
  /// Models kept out of line; references hold their indexes.
  let children: [any Model]?
  /// How many of the children come from the older of two models that are merged.
  let oldChildCount: Int
  /// Bytes made for default values; they live as long as the session.
  var defaultBytes: [UnsafeMutableRawBufferPointer] = unsafe []

  // No two of these are ever accessed at once: a session serves one thread, and no accessor below
  // calls a model while it holds one.
  @exclusivity(unchecked) private(set) var hasEnded = false
  @exclusivity(unchecked) var maps: [Map] = []
  @exclusivity(unchecked) var fields: UnsafeMutablePointer<Field>
  @exclusivity(unchecked) var fieldCapacity = 64
  @exclusivity(unchecked) var fieldCount = 0
  /// The traits of the types under way, outermost first: which type's fields a container holds.
  @exclusivity(unchecked) var owners: [UnsafePointer<TypeTraits>] = unsafe []
  @exclusivity(unchecked) private var lastTicket: UInt64 = 0

  init(
    source: (any RecordSource)? = nil, children: [any Model]? = nil, oldChildCount: Int = 0
  ) {
    self.source = source
    self.children = children
    self.oldChildCount = oldChildCount
    unsafe fields = .allocate(capacity: 64)
  }

  deinit {
    unsafe fields.deallocate()
    while let bytes = unsafe defaultBytes.popLast() { unsafe bytes.deallocate() }
  }

  /// Ends the decoding: what a model has kept of it refuses from now on.
  func end() { unsafe hasEnded = true }

  /// Checks that the bytes are still there.
  func checkAlive() throws {
    if unsafe hasEnded { throw ModelError.snapshotEnded }
  }

  func makeTicket() -> UInt64 {
    unsafe lastTicket += 1
    return unsafe lastTicket
  }
}
