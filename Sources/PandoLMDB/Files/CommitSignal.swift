import CPandoLMDB
import PandoSystem
import Synchronization

/// The number of the last commit of all processes, and how to sleep until it changes.
///
/// liblmdb keeps the number in the lock file, which every process maps, and writes it when a commit is on
/// the disk. The commit itself moves it; a writer that is killed then has only not woken those who sleep,
/// and they look again after a while.
///
/// ```
/// writer    … pages │ flush │ meta page │ number = n │ unlock │ wake all who sleep on it
/// watcher   n = number ─► look for commits ─► none new? sleep while number == n ─► again
/// ```
/// What liblmdb 0.9 writes is checked before it is trusted, and compared with what liblmdb says.
@safe
package final class CommitSignal: Sendable {
  /// Where liblmdb 0.9 keeps what.
  private enum Layout {
    static let magic: UInt32 = 0xBEEF_C0DE
    /// Version 1 of the lock file, with locks that go by process number.
    static let format: UInt32 = 0x1_0001
    static let formatOffset = 4
    /// Behind the mutex of the readers' table.
    static let numberOffset = unsafe 8 + MemoryLayout<pthread_mutex_t>.size
    static let sizeInBytes = numberOffset + MemoryLayout<UInt64>.size
  }

  /// Who is woken by a commit.
  package enum Audience {
    /// Whoever sleeps for commits of any process.
    case all
    /// Who sleeps for the commits of other processes only.
    case others
  }

  /// The first bytes of the lock file, for reading only.
  ///
  /// Safe to share: it stays mapped as long as this lives. The number lies at a multiple of its size, so a
  /// load of it is never torn.
  nonisolated(unsafe) private let start: UnsafeRawPointer
  /// Half of the bits, chosen anew by each process: what sleeps with them is woken by every mask that is
  /// the opposite of another choice, and not by the opposite of this one.
  private let mask: UInt32
  /// Why the number can't be used, since it was compared last.
  private let refusal = Locked<String?>(nil)
  private let isUsable = Atomic(false)

  /// Maps the lock file, which may be empty as yet; `nil` where it can't be mapped.
  ///
  /// - Parameter descriptor: The open file; no environment of this process is open on it.
  package init?(_ descriptor: CInt) {
    guard MemoryLayout<UInt>.size == 8, 1.littleEndian == 1 else { return nil }
    let size = Layout.sizeInBytes.roundedUpToPage
    guard let start = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0),
      unsafe start != MAP_FAILED
    else { return nil }
    unsafe self.start = UnsafeRawPointer(start)
    var bits = Array(0..<UInt32.bitWidth)
    bits.shuffle()
    mask = bits.prefix(UInt32.bitWidth / 2).reduce(0) { $0 | 1 << UInt32($1) }
  }

  deinit {
    unsafe munmap(UnsafeMutableRawPointer(mutating: start), Layout.sizeInBytes.roundedUpToPage)
  }

  private var word: UnsafeRawPointer { unsafe start + Layout.numberOffset }

  /// Looks whether the lock file is as this library knows it.
  ///
  /// - Parameter newest: What liblmdb says is the last commit; asked more than once, as others may commit
  ///   meanwhile.
  package func check(_ newest: () -> UInt64) {
    let magic = unsafe start.loadUnaligned(as: UInt32.self)
    let format = unsafe start.loadUnaligned(fromByteOffset: Layout.formatOffset, as: UInt32.self)
    guard magic == Layout.magic, format == Layout.format else {
      return refuse("the lock file has magic \(magic) and format \(format)")
    }
    for _ in 0..<100 {
      let before = newest()
      let number = load()
      // The meta page is there a moment before the number moves.
      if number == before || number == newest() {
        refusal.withLock { $0 = nil }
        return isUsable.store(true, ordering: .releasing)
      }
      sched_yield()
    }
    refuse("it says \(load()) and liblmdb \(newest())")
  }

  /// Has nobody use the number from now on.
  package func refuse(_ reason: String) {
    refusal.withLock { $0 = $0 ?? reason }
    isUsable.store(false, ordering: .releasing)
    wakeEverybody()
  }

  /// Why the number is not used; `nil` if it is.
  package var obstacle: String? {
    if isUsable.load(ordering: .acquiring) { return nil }
    return refusal.withLock { $0 } ?? "it has not been compared yet"
  }

  private func load() -> UInt64 {
    let number = unsafe word.loadUnaligned(as: UInt64.self)
    atomicMemoryFence(ordering: .acquiring)
    return number
  }

  /// The number of the last commit; `nil` if that is not known here.
  package var number: UInt64? { isUsable.load(ordering: .acquiring) ? load() : nil }

  /// How often a sleeper has a look: a program that knows LMDB but not Pando commits without waking
  /// anybody, and so does a writer that is killed.
  private static let tick: Int64 = 100_000_000

  /// Sleeps while the number is as expected, at most so long.
  ///
  /// May return earlier. Returns at once if the number has changed.
  ///
  /// - Returns: Whether it was woken.
  @discardableResult
  package func sleep(while number: UInt64, for audience: Audience, nanoseconds: Int64) -> Bool {
    let bits = audience == .all ? UInt32.max : mask
    return unsafe pando_futex_wait(
      word, UInt32(truncatingIfNeeded: number), bits, nanoseconds, Self.tick) == 0
  }

  /// Wakes all who sleep for commits of any process, and in other processes those who sleep for others'.
  ///
  /// - Returns: How many.
  @discardableResult
  package func wake() -> Int { unsafe Int(pando_futex_wake(word, ~mask)) }

  /// Wakes all who sleep, also for others' commits in this process.
  func wakeEverybody() { unsafe _ = pando_futex_wake(word, UInt32.max) }
}
