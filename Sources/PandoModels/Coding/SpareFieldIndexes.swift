import PandoSystem

/// The indexes of sessions that are gone, for other sessions: their memory can't be freed.
enum SpareFieldIndexes {
  /// The list, linked by `next`.
  ///
  /// Sendable because whoever takes an index from it is its only user.
  @safe private struct List: @unchecked Sendable {
    var first: UnsafeMutablePointer<FieldIndex>?
  }

  private static let list = Locked(List())

  /// Takes an index, or makes one.
  static func take(for session: DecodingSession) -> UnsafeMutablePointer<FieldIndex> {
    let found = unsafe list.withLock { list in
      let first = unsafe list.first
      unsafe list.first = unsafe first?.pointee.next
      return unsafe first
    }
    if let found = unsafe found {
      unsafe found.pointee.session = session
      return unsafe found
    }
    let made = UnsafeMutablePointer<FieldIndex>.allocate(capacity: 1)
    unsafe made.initialize(to: FieldIndex(session))
    return unsafe made
  }

  /// Takes an index back that is in no list.
  static func put(_ index: UnsafeMutablePointer<FieldIndex>) {
    list.withLock { list in
      unsafe index.pointee.next = unsafe list.first
      unsafe list.first = unsafe index
    }
  }
}
