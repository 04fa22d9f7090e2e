import PandoSystem
import Synchronization

/// An open file, closed once: by ``close()``, or when its owner is let go.
struct Descriptor: ~Copyable, Sendable {
  private let open: Atomic<CInt>

  init(_ number: CInt) { open = Atomic(number) }

  deinit { close() }

  /// The number of the file; -1 once it is closed, with which every system call fails as `EBADF`.
  var number: CInt { open.load(ordering: .relaxed) }

  /// Closes the file; no other thread uses it.
  func close() {
    let number = open.exchange(-1, ordering: .relaxed)
    if number >= 0 { PandoSystem.close(number) }
  }
}
