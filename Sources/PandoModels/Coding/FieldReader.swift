import Synchronization

/// Finds the fields of one map by an index of their keys.
///
/// Two words, copied freely. It serves while the value lasts that the map belongs to.
@safe struct FieldReader {
  let index: UnsafeMutablePointer<FieldIndex>
  private let ticket: UInt64

  /// Makes a reader for the present use of an index.
  init(_ index: UnsafeMutablePointer<FieldIndex>) {
    unsafe self.index = unsafe index
    ticket = unsafe index.pointee.ticket.load(ordering: .relaxed)
    unsafe index.pointee.readerCount += 1
  }

  /// Whether the map is still there.
  ///
  /// The memory is never freed, so it may be asked at any time; anything else only while this is true.
  @inline(__always)
  var isValid: Bool { unsafe index.pointee.ticket.load(ordering: .relaxed) == ticket }

  var level: Int { unsafe index.pointee.level }

  /// What the fields are decoded in.
  ///
  /// - Throws: ``ModelError`` `snapshotEnded`.
  func session() throws -> DecodingSession {
    guard isValid else { throw ModelError.snapshotEnded }
    return unsafe index.pointee.session
  }

  /// Opens the map of a whole value, or the one that was opened last if it is the same.
  static func open(
    _ value: CBORReader, in session: DecodingSession, level: Int,
    owner: UnsafePointer<TypeTraits>?
  ) throws -> FieldReader {
    if let last = unsafe session.maps, unsafe last.pointee.start == value.position,
      unsafe last.pointee.level == level, unsafe last.pointee.owner == owner, unsafe owner != nil
    {
      return unsafe FieldReader(last)
    }
    return try unsafe open(value, in: session, level: level, describing: owner)
  }

  /// Opens a map inside a value.
  static func openNested(
    _ value: CBORReader, in session: DecodingSession, level: Int
  ) throws -> FieldReader {
    try unsafe open(value, in: session, level: level, describing: nil)
  }

  /// Opens a map, maybe in the tags that say how it is lost.
  private static func open(
    _ value: CBORReader, in session: DecodingSession, level: Int,
    describing owner: UnsafePointer<TypeTraits>?
  ) throws -> FieldReader {
    var reader = value
    var head = try reader.head()
    while head.major == .tag,
      head.argument == RecordTag.optionalSlot || head.argument == RecordTag.entries
    {
      head = try reader.head()
    }
    guard head.major == .map else { throw ModelError.mismatch("a map of fields", head) }
    let index = unsafe session.makeFieldIndex()
    unsafe index.pointee.level = level
    unsafe index.pointee.owner = unsafe owner
    unsafe index.pointee.start = value.position
    try unsafe index.pointee.index(&reader, count: Int(head.argument))
    return unsafe FieldReader(index)
  }
}

/// Gives the index of a nested container back when the container goes out of use: a value may open very
/// many, one after another.
final class FieldReaderLease {
  private let reader: FieldReader

  init(_ reader: FieldReader) { self.reader = reader }

  deinit {
    // A valid ticket means that the session has not ended: this is its thread.
    guard let session = try? reader.session() else { return }
    unsafe session.release(reader.index)
  }
}
