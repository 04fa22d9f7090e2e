import PandoSystem

/// A data file opened for reading with `pread`, never through a map.
///
/// A second descriptor of a data file that is open in this process is harmless. liblmdb has its
/// `fcntl` locks on `lock.mdb`, so closing this one releases none of them.
final class PageFile: Sendable {
  let path: String
  private let descriptor: Int32

  /// Opens the data file of an environment.
  ///
  /// `O_NONBLOCK` matters if a pipe has that name: `open` must not wait for a writer.
  init(environment: String) throws(LMDBError) {
    path = environment + "/data.mdb"
    descriptor = unsafe PandoSystem.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw .cannotOpen(path)
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw .cannotOpen(path)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let isDirectory = status.st_mode & S_IFMT == S_IFDIR
      throw .cannotOpen(path, isDirectory ? EISDIR : EINVAL)
    }
  }

  /// Reads an open file, even if its path has another file by now.
  ///
  /// - Parameters:
  ///   - descriptor: The open file; the caller may close it meanwhile.
  ///   - path: The name of the file in errors.
  /// - Throws: ``LMDBError`` with the number of the system.
  init(_ descriptor: CInt, path: String) throws(LMDBError) {
    self.path = path
    self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard self.descriptor >= 0 else {
      throw .cannotOpen(path)
    }
  }

  deinit {
    // A failed open left -1, which `close` refuses.
    _ = PandoSystem.close(descriptor)
  }

  /// The current size of the file; 0 if the system reports none.
  var sizeInBytes: UInt64 {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return 0 }
    return UInt64(max(0, status.st_size))
  }

  /// Starts to read a part of the file that will be needed soon.
  ///
  /// Only a hint: pages of a tree are scattered, and a cold disk serves many requests at once
  /// faster than in sequence.
  func announce(_ byteCount: UInt64, at offset: UInt64) {
    guard let offset = Int(exactly: offset), let byteCount = Int(exactly: byteCount) else { return }
    _ = posix_fadvise(descriptor, offset, byteCount, POSIX_FADV_WILLNEED)
  }

  /// The result of a read.
  enum ReadResult: Equatable {
    case whole
    /// The file is too short.
    case short
    case failed(Int32)
  }

  /// Reads `byteCount` bytes at an offset into the start of a buffer of sufficient size.
  func read(_ byteCount: Int, at offset: UInt64, into buffer: PageBuffer) -> ReadResult {
    precondition(byteCount <= buffer.byteCount, "\(byteCount) bytes do not fit")
    guard offset <= UInt64(Int.max) - UInt64(byteCount) else { return .short }
    return unsafe buffer.withUnsafeBytes { memory in
      var done = 0
      while done < byteCount {
        // `done` is below `byteCount`, which the buffer can hold.
        let target = unsafe memory.baseAddress?.advanced(by: done)
        let count = unsafe pread(descriptor, target, byteCount - done, Int(offset) + done)
        if count == 0 { return .short }
        if count < 0 {
          if errno == EINTR { continue }
          return .failed(errno)
        }
        done += count
      }
      return .whole
    }
  }
}

/// The bytes of a page, in memory that is reused for the next page.
///
/// The interface is safe: only ``withUnsafeBytes(_:)`` exposes the address.
///
/// A walk has one per level, so that a parent's keys stay in place while it reads the children.
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

  /// The current bytes.
  var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      // The memory is initialized, and lives as long as this object, which is borrowed.
      let pointer = unsafe UnsafeRawBufferPointer(storage).assumingMemoryBound(to: UInt8.self)
      return unsafe _overrideLifetime(Span(_unsafeElements: pointer), borrowing: self)
    }
  }

  /// Calls `body` to fill the memory; it must not write past the end.
  func withUnsafeBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
    unsafe body(storage)
  }
}
