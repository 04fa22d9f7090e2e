import PandoSystem
import Synchronization

/// An open file, closed once: by ``close()``, or when its owner is let go.
struct Descriptor: ~Copyable, Sendable {
  private let open: Atomic<CInt>

  /// - Parameters:
  ///   - number: The number of the open file.
  ///   - hasLocks: Whether there may be locks of the open file (``OpenFileLocks``), which a forked child must not keep.
  init(_ number: CInt, hasLocks: Bool = false) {
    open = Atomic(number)
    if hasLocks { ForkedDescriptors.mark(number, true) }
  }

  deinit { close() }

  /// The number of the file; -1 once it is closed, with which every system call fails as `EBADF`.
  var number: CInt { open.load(ordering: .relaxed) }

  /// Closes the file; no other thread uses it.
  func close() {
    let number = open.exchange(-1, ordering: .relaxed)
    guard number >= 0 else { return }
    ForkedDescriptors.mark(number, false)
    PandoSystem.close(number)
  }
}

/// Lets a forked child share no open file that has locks: they would stay as long as the child lives, though the parent is
/// killed.
///
/// The numbers stay open in the child, as other files, so that nobody closes what was opened under them later.
@safe
private enum ForkedDescriptors {
  private static let countMaximum = 1 << 20
  private static let end = Atomic<Int>(0)

  /// A byte for each number: 1 if a child gives it up.
  ///
  /// Atomic, and without a lock: another thread could have that when a child is made.
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

  /// In a child, whose only thread this is.
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
