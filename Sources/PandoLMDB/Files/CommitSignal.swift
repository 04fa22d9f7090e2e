import CPandoLMDB
import PandoSystem
import Synchronization

/// The number of the last commit of all processes, and a way to sleep until it changes.
///
/// liblmdb keeps the number in the lock file, which every process maps, and writes it when a commit
/// is on the disk. So the commit itself changes the number. A writer killed right after it has not
/// woken the sleepers; they look again after a while.
///
/// ```
/// writer    … pages │ flush │ meta page │ number = n │ unlock │ wake all who sleep on it
/// watcher   n = number ─► look for commits ─► none new? sleep while number == n ─► again
/// ```
/// The layout of liblmdb 0.9 is checked before use, and the number is compared with liblmdb's.
@safe
package final class CommitSignal: Sendable {
  /// Up to the end of the first word of the writer's mutex, which comes behind the number.
  private static let sizeInBytes = LockLayout.writerMutex + MemoryLayout<UInt32>.size

  /// The commits that wake a sleeper.
  package enum Audience {
    /// Commits of any process.
    case all
    /// Commits of other processes only.
    case others
  }

  /// The first bytes of the lock file, read-only.
  ///
  /// Safe to share: they stay mapped as long as this object exists. The number is aligned, so a
  /// load is never torn.
  nonisolated(unsafe) private let start: UnsafeRawPointer
  /// The owner of these bytes in an environment in memory; `nil` if this object has mapped a lock file.
  private let table: ReaderTable?
  /// Half of the bits, random in each process: a wake with the complement of a mask reaches
  /// sleepers of every other mask only.
  private let mask: UInt32
  /// Why the number can't be used, as of the last comparison.
  private let refusal = Locked<String?>(nil)
  private let isUsable = Atomic(false)

  /// Maps the lock file, which may still be empty; `nil` if it can't be mapped.
  ///
  /// - Parameter descriptor: The open file; this process has no environment open on it.
  package init?(_ descriptor: CInt) {
    guard MemoryLayout<UInt>.size == 8, 1.littleEndian == 1 else { return nil }
    let size = Self.sizeInBytes.roundedUpToPage
    guard let start = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0),
      unsafe start != MAP_FAILED
    else { return nil }
    unsafe self.start = UnsafeRawPointer(start)
    table = nil
    mask = Self.chooseMask()
  }

  /// Uses the table of an environment in memory.
  init(_ table: ReaderTable) {
    unsafe start = UnsafeRawPointer(table.start)
    self.table = table
    mask = Self.chooseMask()
  }

  deinit {
    guard table == nil else { return }
    unsafe munmap(UnsafeMutableRawPointer(mutating: start), Self.sizeInBytes.roundedUpToPage)
  }

  private static func chooseMask() -> UInt32 {
    var bits = Array(0..<UInt32.bitWidth)
    bits.shuffle()
    return bits.prefix(UInt32.bitWidth / 2).reduce(0) { $0 | 1 << UInt32($1) }
  }

  private var word: UnsafeRawPointer { unsafe start + LockLayout.number }

  /// Checks that the lock file has the expected layout.
  ///
  /// - Parameter newest: Returns liblmdb's last commit; called more than once, as other processes
  ///   may commit meanwhile.
  package func check(_ newest: () -> UInt64) {
    let magic = unsafe start.loadUnaligned(as: UInt32.self)
    let format = unsafe start.loadUnaligned(
      fromByteOffset: LockLayout.formatOffset, as: UInt32.self)
    guard magic == LockLayout.magic, format == LockLayout.format else {
      return refuse("the lock file has magic \(magic) and format \(format)")
    }
    for _ in 0..<100 {
      let before = newest()
      let number = load()
      // The meta page is written a moment before the number changes.
      if number == before || number == newest() {
        refusal.withLock { $0 = nil }
        return isUsable.store(true, ordering: .releasing)
      }
      sched_yield()
    }
    refuse("it says \(load()) and liblmdb \(newest())")
  }

  /// Stops all use of the number.
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

  /// The number of the last commit; `nil` if it can't be used.
  package var number: UInt64? { isUsable.load(ordering: .acquiring) ? load() : nil }

  /// The thread of any process that has the writer's mutex; `nil` if none has it, or if the lock file can't be used.
  ///
  /// The first word of a robust mutex is the number of its thread, by the rule of `set_robust_list(2)`.
  var writer: pid_t? {
    guard isUsable.load(ordering: .acquiring) else { return nil }
    let word = unsafe start.loadUnaligned(fromByteOffset: LockLayout.writerMutex, as: UInt32.self)
    let thread = pid_t(word & 0x3FFF_FFFF)
    return thread == 0 ? nil : thread
  }

  /// The interval at which a sleeper looks again: a killed writer, or an LMDB program without
  /// Pando, wakes no sleeper.
  private static let tick: Int64 = 100_000_000

  /// Sleeps while the number has a value, up to a timeout.
  ///
  /// May return earlier; returns at once if the number has changed.
  ///
  /// - Returns: Whether it was woken.
  @discardableResult
  package func sleep(while number: UInt64, for audience: Audience, nanoseconds: Int64) -> Bool {
    let bits = audience == .all ? UInt32.max : mask
    return unsafe pando_futex_wait(
      word, UInt32(truncatingIfNeeded: number), bits, nanoseconds, Self.tick) == 0
  }

  /// Wakes the sleepers for any commit, and in other processes those for others' commits.
  ///
  /// - Returns: The number of woken sleepers.
  @discardableResult
  package func wake() -> Int { unsafe Int(pando_futex_wake(word, ~mask)) }

  /// Wakes all sleepers, including this process's sleepers for others' commits.
  func wakeEverybody() { unsafe _ = pando_futex_wake(word, UInt32.max) }
}
