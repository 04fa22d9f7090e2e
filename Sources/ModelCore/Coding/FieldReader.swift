/// Finds the fields of one map by an index of their keys.
///
/// Readers are used again for other maps, with the room their index has; so a map costs no
/// allocation. One that a model keeps is left to it.
@safe final class FieldReader {
  /// Where one field is.
  @safe struct Field {
    /// The first bytes of the key, big endian, filled up with zeros: sorts as the keys do.
    let prefix: UInt64
    let keyCount: Int
    let key: UnsafeRawPointer
    let value: UnsafeRawPointer
  }

  let session: DecodingSession
  @exclusivity(unchecked) private var next: FieldReader?
  @exclusivity(unchecked) var fields: UnsafeMutablePointer<Field>
  @exclusivity(unchecked) var capacity = 16
  @exclusivity(unchecked) var count = 0
  /// Whether the keys are in order, so that they can be searched by halves.
  @exclusivity(unchecked) var isSorted = true
  /// Behind the last field.
  @exclusivity(unchecked) var end: UnsafeRawPointer
  @exclusivity(unchecked) private(set) var level = 0
  @exclusivity(unchecked) private(set) var schema: (any SchemaVersioned.Type)?

  init(_ session: DecodingSession) {
    self.session = session
    unsafe fields = .allocate(capacity: 16)
    unsafe end = UnsafeRawPointer(fields)
  }

  deinit { unsafe fields.deallocate() }

  func putBefore(_ other: FieldReader?) { unsafe next = other }

  func takeNext() -> FieldReader? {
    let taken = unsafe next
    unsafe next = nil
    return taken
  }

  /// Opens a map, maybe in the tags that say how it is lost.
  static func open(
    _ value: CBORReader, in session: DecodingSession, level: Int,
    schema: (any SchemaVersioned.Type)? = nil
  ) throws -> FieldReader {
    var reader = value
    var head = try reader.head()
    while head.major == .tag,
      head.argument == RecordTag.optionalSlot || head.argument == RecordTag.entries
    {
      head = try reader.head()
    }
    guard head.major == .map else { throw ModelError.mismatch("a map of fields", head) }
    let map = session.makeFieldReader()
    unsafe map.level = level
    unsafe map.schema = schema
    try map.index(&reader, count: Int(head.argument))
    return map
  }
}
