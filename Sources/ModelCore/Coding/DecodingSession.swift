/// What the decoders of one decoding share; ends with it.
@safe final class DecodingSession {
  let source: (any RecordSource)?
  /// Models kept out of line; references hold their indexes.
  let children: [any Model]?
  /// How many of the children come from the older of two models that are merged.
  let oldChildCount: Int

  // No two of these are ever accessed at once: a session serves one thread, and no accessor below
  // calls a model while it holds one.
  @exclusivity(unchecked) private(set) var hasEnded = false
  /// The traits of the type that is being decoded: which type's fields a container holds.
  @exclusivity(unchecked) var owner: UnsafePointer<TypeTraits>?
  /// The maps under way, the innermost first, linked by their `next`.
  @exclusivity(unchecked) private(set) var maps: FieldReader?
  @exclusivity(unchecked) private(set) var mapCount = 0
  /// Readers to use again, linked by their `next`.
  @exclusivity(unchecked) private var spare: FieldReader?
  /// Bytes made for arrays that are read from byte strings; they live as long as the session.
  private var madeBytes: [UnsafeMutableRawBufferPointer] = unsafe []

  init(
    source: (any RecordSource)? = nil, children: [any Model]? = nil, oldChildCount: Int = 0
  ) {
    self.source = source
    self.children = children
    self.oldChildCount = oldChildCount
  }

  deinit {
    while let bytes = unsafe madeBytes.popLast() { unsafe bytes.deallocate() }
  }

  /// Ends the decoding: what a model has kept of it refuses from now on.
  func end() {
    unsafe hasEnded = true
    dropMaps(downTo: 0)
    // Readers hold the session; a long list of them must not be freed by recursion.
    while let reader = unsafe spare { unsafe spare = reader.takeNext() }
  }

  /// Checks that the bytes are still there.
  func checkAlive() throws {
    if unsafe hasEnded { throw ModelError.snapshotEnded }
  }

  /// A reader for a map; it serves until ``dropMaps(downTo:)`` takes it back.
  func makeFieldReader() -> FieldReader {
    // The last one may be free already: a container that went out of use in the same value.
    if unsafe isKnownUniquelyReferenced(&maps) { unsafe dropMaps(downTo: mapCount - 1) }
    let reader: FieldReader
    if let found = unsafe spare {
      unsafe spare = found.takeNext()
      reader = found
    } else {
      reader = FieldReader(self)
    }
    unsafe reader.putBefore(maps)
    unsafe maps = reader
    unsafe mapCount += 1
    return reader
  }

  /// Takes back the readers made since there were so many; one that a model keeps stays its own.
  func dropMaps(downTo count: Int) {
    while unsafe mapCount > count, var reader = unsafe maps {
      unsafe maps = reader.takeNext()
      unsafe mapCount -= 1
      if unsafe isKnownUniquelyReferenced(&reader) && !hasEnded {
        unsafe reader.putBefore(spare)
        unsafe spare = reader
      }
    }
  }

  /// Keeps bytes as long as the session lives.
  func keep(_ writer: borrowing CBORWriter) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: writer.count, alignment: 1)
    unsafe copy.copyMemory(from: writer.buffer)
    unsafe madeBytes.append(copy)
    return UnsafeRawBufferPointer(copy)
  }
}
