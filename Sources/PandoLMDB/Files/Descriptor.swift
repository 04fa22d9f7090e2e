import PandoSystem
import Synchronization

/// An open file that is closed once: by ``close()`` or by its deinitializer.
struct Descriptor: ~Copyable, Sendable {
  private let open: Atomic<CInt>

  /// - Parameters:
  ///   - number: The descriptor.
  ///   - hasLocks: Whether it may hold locks (``OpenFileLocks``) that a forked child must not keep.
  init(_ number: CInt, hasLocks: Bool = false) {
    open = Atomic(number)
    if hasLocks { ForkedDescriptors.mark(number, true) }
  }

  deinit { close() }

  /// The descriptor; -1 once closed, on which every system call fails with `EBADF`.
  var number: CInt { open.load(ordering: .relaxed) }

  /// Closes the file; no other thread may use it.
  func close() {
    let number = open.exchange(-1, ordering: .relaxed)
    guard number >= 0 else { return }
    ForkedDescriptors.mark(number, false)
    PandoSystem.close(number)
  }
}

/// Closes files with locks in a forked child: otherwise the locks would last as long as the child,
/// even if the parent is killed.
///
/// The child keeps the descriptors open on `/dev/null`, so that a late `close` hits no other file.
@safe
private enum ForkedDescriptors {
  private static let countMaximum = 1 << 20
  private static let end = Atomic<Int>(0)

  /// A byte for each descriptor: 1 if a child gives it up.
  ///
  /// Atomic, without a lock: another thread could hold the lock during `fork`.
  nonisolated(unsafe) private static let marks: UnsafeMutablePointer<Atomic<UInt8>>? =
    unsafe makeMarks()

  private static func makeMarks() -> UnsafeMutablePointer<Atomic<UInt8>>? {
    let marks = unsafe mmap(
      nil, countMaximum, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let marks = unsafe marks, unsafe marks != MAP_FAILED,
      pthread_atfork(nil, nil, { ForkedDescriptors.giveUp() }) == 0
    else { return nil }
    return unsafe marks.assumingMemoryBound(to: Atomic<UInt8>.self)
  }

  static func mark(_ number: CInt, _ isMarked: Bool) {
    let index = Int(number)
    guard index >= 0, index < countMaximum else { return }
    if !isMarked, index >= end.load(ordering: .relaxed) { return }
    guard let marks = unsafe marks else { return }
    unsafe marks[index].store(isMarked ? 1 : 0, ordering: .relaxed)
    if isMarked { end.max(index + 1, ordering: .sequentiallyConsistent) }
  }

  /// Runs in the child, whose only thread this is.
  private static func giveUp() {
    let end = end.load(ordering: .relaxed)
    guard end > 0, let marks = unsafe marks else { return }
    let other = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    for number in 0..<end where unsafe marks[number].exchange(0, ordering: .relaxed) == 1 {
      if other >= 0 {
        dup2(other, CInt(number))
        _ = fcntl(CInt(number), F_SETFD, FD_CLOEXEC)
      } else {
        PandoSystem.close(CInt(number))
      }
    }
    if other >= 0 { PandoSystem.close(other) }
  }
}
