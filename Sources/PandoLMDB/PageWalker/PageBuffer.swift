/// Bytes of a page, in memory that is used again for the next page.
///
/// The interface is safe: only ``withUnsafeBytes(_:)`` gives out the address, and says so.
///
/// A walk has one for each level it stands on, so that a parent's keys stay in place while its
/// children are read.
@safe final class PageBuffer {
  private let storage: UnsafeMutableRawBufferPointer

  init(byteCount: Int) {
    unsafe storage = .allocate(byteCount: byteCount, alignment: 16)
    unsafe storage.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe storage.deallocate()
  }

  var byteCount: Int { unsafe storage.count }

  /// The bytes as they are now.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      // The memory is initialized at once, and lives as long as this object, which is borrowed.
      let pointer = unsafe UnsafeRawBufferPointer(storage).assumingMemoryBound(to: UInt8.self)
      return unsafe _overrideLifetime(Span(_unsafeElements: pointer), borrowing: self)
    }
  }

  /// Lets `body` fill the memory; it must not write past the end.
  func withUnsafeBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
    unsafe body(storage)
  }
}
