import CPandoLMDB
import PandoSystem

/// Protects liblmdb's two mutexes when several PID namespaces (containers) share an environment.
///
/// When a thread dies, Linux releases the mutexes that contain its number. A thread of another
/// namespace may have the same number. If it dies while waiting, the mutex counts as orphaned, and
/// the next thread enters beside the owner. So with a second namespace, a thread takes a lock of
/// the open file before the mutex, and no thread waits for the mutex itself. The kernel releases
/// such a lock at any death, in any namespace. With one namespace these two system calls per commit
/// are unnecessary.
///
/// ```
/// one namespace       inside = 1 ─► several == 0 ─► mutex … ─► inside = 0
/// several             inside = 1 ─► several == 1 ─► inside = 0 ─► lock ─► mutex … ─► unlock
/// a second one comes  several = 1 ─► lock ─► wait until every `inside` is 0 ─► mutex …
/// ```
/// The words lie in padding of liblmdb 0.9's lock file: `several` behind the writer's mutex,
/// `inside` in the reader slots. The slots are used independently of liblmdb: a process takes any
/// whose byte is unlocked.
@safe
final class NamespaceGuard: Sendable {
  /// The section that one of the two mutexes protects.
  enum Section: Int, CaseIterable {
    case writer
    case readers
  }

  /// The locked bytes, before those of the slots.
  private enum Byte {
    static let joining = 16
    static func section(_ section: Section) -> Int { 17 + section.rawValue }
    /// Shared by the processes that have no slot.
    static let unlisted = 19
    static let firstSlot = 20
  }

  /// The places of the words in liblmdb's lock file (``LockLayout``).
  private enum Layout {
    static let several = LockLayout.writerMutex + LockLayout.mutexInBytes
    static let namespace = several + 8
    /// Behind the numbers of a version, a process and a thread.
    static let inside = 32
    static let fits = namespace + 8 <= LockLayout.slots
  }

  private struct State: Sendable {
    /// How many threads of this process are inside.
    var depth = 0
    var isLocked = false
    /// Whether all threads that had not seen the second namespace have left.
    var isDrained = false
  }

  private let file: Descriptor
  /// The mapped lock file; `nil` with an unknown layout, or without locks of open files.
  ///
  /// Written by the initializer only.
  nonisolated(unsafe) private var start: UnsafeMutableRawPointer?
  private let byteCount: Int
  /// The slot of this process; `nil` if all were taken, and then it always takes locks.
  ///
  /// Written by the initializer only.
  nonisolated(unsafe) private var slot: Int?
  private let states: [Locked<State>] = Section.allCases.map { _ in Locked(State()) }

  /// Joins the environment of a folder.
  ///
  /// It is `nil` if the lock file can't be opened for writing: then liblmdb uses none either.
  ///
  /// - Parameter folder: The folder; liblmdb has opened it, and no thread has used a mutex yet.
  init?(folder: String) {
    let descriptor = retryInterrupted {
      unsafe open("\(folder)/\(LockFile.name)", O_RDWR | O_CLOEXEC)
    }
    guard descriptor >= 0 else { return nil }
    // Stays open as long as liblmdb's own: closing it would drop the process's locks on the file.
    file = Descriptor(descriptor, hasLocks: true)
    var status = stat()
    byteCount = unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    guard Layout.fits, byteCount > LockLayout.slots,
      let start = unsafe mmap(
        nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      unsafe start != MAP_FAILED
    else { return }
    unsafe self.start = start
    let magic = unsafe start.load(as: UInt32.self)
    let format = unsafe start.load(fromByteOffset: 4, as: UInt32.self)
    guard magic == LockLayout.magic, format == LockLayout.format, unsafe join(start) else {
      unsafe munmap(start, byteCount)
      unsafe self.start = nil
      return
    }
  }

  deinit { close() }

  /// Leaves; liblmdb has closed the environment.
  func close() {
    if let start = unsafe start { unsafe munmap(start, byteCount) }
    unsafe start = nil
    file.close()
  }

  /// Whether processes of several namespaces have used the environment since it was last unused.
  var hasSeenSeveral: Bool {
    guard let start = unsafe start else { return false }
    return unsafe pando_load(word(start, Layout.several)) != 0
  }

  private func word(
    _ start: UnsafeMutableRawPointer, _ offset: Int
  ) -> UnsafeMutablePointer<UInt32> {
    unsafe (start + offset).assumingMemoryBound(to: UInt32.self)
  }

  private func inside(
    _ start: UnsafeMutableRawPointer, _ slot: Int, _ section: Section
  ) -> UnsafeMutablePointer<UInt32> {
    unsafe word(
      start,
      LockLayout.slots + slot * LockLayout.lineInBytes + Layout.inside + 4 * section.rawValue)
  }

  private var slotCount: Int { (byteCount - LockLayout.slots) / LockLayout.lineInBytes }

  /// Publishes the namespace of this process, and takes a slot.
  ///
  /// - Returns: `false` if the file system does not support such locks.
  private func join(_ start: UnsafeMutableRawPointer) -> Bool {
    let descriptor = file.number
    guard OpenFileLocks.set(Byte.joining, F_WRLCK, of: descriptor) else { return false }
    defer { OpenFileLocks.set(Byte.joining, F_UNLCK, of: descriptor) }
    let namespace = Self.currentNamespace()
    let others = Byte.unlisted..<Byte.firstSlot + slotCount
    let first = unsafe start.load(fromByteOffset: Layout.namespace, as: UInt64.self)
    if !OpenFileLocks.areHeldElsewhere(others, of: descriptor) {
      unsafe start.storeBytes(of: namespace ?? 0, toByteOffset: Layout.namespace, as: UInt64.self)
      unsafe pando_store(word(start, Layout.several), namespace == nil ? 1 : 0)
    } else if namespace != first {
      unsafe pando_store(word(start, Layout.several), 1)
    }
    unsafe slot = (0..<slotCount).first {
      OpenFileLocks.set(Byte.firstSlot + $0, F_WRLCK, of: descriptor, waits: false)
    }
    if let slot = unsafe slot {
      for section in Section.allCases { unsafe pando_store(inside(start, slot, section), 0) }
    } else {
      OpenFileLocks.set(Byte.unlisted, F_RDLCK, of: descriptor)
    }
    return true
  }

  /// The PID namespace of this process; `nil` if unknown.
  private static func currentNamespace() -> UInt64? {
    var status = stat()
    guard unsafe stat("/proc/self/ns/pid", &status) == 0 else { return nil }
    return UInt64(status.st_ino)
  }

  /// Called before a thread takes a mutex; ``leave(_:)`` follows.
  ///
  /// Waits for the threads of other namespaces that are inside or were waiting before.
  func enter(_ section: Section) {
    guard let start = unsafe start else { return }
    states[section.rawValue].withLock { state in
      state.depth += 1
      if state.depth > 1 { return }
      if let slot = unsafe slot {
        unsafe pando_store(inside(start, slot, section), 1)
        if unsafe pando_load(word(start, Layout.several)) == 0 { return }
        unsafe pando_store(inside(start, slot, section), 0)
      }
      state.isLocked = OpenFileLocks.set(Byte.section(section), F_WRLCK, of: file.number)
      if !state.isDrained, unsafe pando_load(word(start, Layout.several)) != 0 {
        unsafe waitForOthers(start, section)
        state.isDrained = true
      }
    }
  }

  /// Called after a thread has released the mutex.
  func leave(_ section: Section) {
    guard let start = unsafe start else { return }
    states[section.rawValue].withLock { state in
      state.depth -= 1
      if state.depth > 0 { return }
      if state.isLocked {
        OpenFileLocks.set(Byte.section(section), F_UNLCK, of: file.number)
        state.isLocked = false
      } else if let slot = unsafe slot {
        unsafe pando_store(inside(start, slot, section), 0)
      }
    }
  }

  /// Waits for the threads that entered when only one namespace was known.
  private func waitForOthers(_ start: UnsafeMutableRawPointer, _ section: Section) {
    let stepInMicroseconds: UInt32 = 200
    for other in 0..<slotCount where unsafe other != slot {
      let byte = Byte.firstSlot + other
      while unsafe pando_load(inside(start, other, section)) != 0,
        OpenFileLocks.areHeldElsewhere(byte..<byte + 1, of: file.number)
      {
        usleep(stepInMicroseconds)
      }
    }
  }

}

extension NamespaceGuard? {
  /// Begins a write transaction inside the section of the writer.
  ///
  /// After a writer's death, liblmdb also examines the readers.
  ///
  /// - Returns: liblmdb's status.
  func beginWriter(_ environment: OpaquePointer?, _ transaction: inout OpaquePointer?) -> CInt {
    let looksAtReaders = self?.hasSeenSeveral ?? false
    if looksAtReaders { self?.enter(.readers) }
    defer { if looksAtReaders { self?.leave(.readers) } }
    return unsafe mdb_txn_begin(environment, nil, 0, &transaction)
  }

  /// Begins a read transaction, for which liblmdb takes a slot.
  ///
  /// - Returns: liblmdb's status.
  func beginReader(_ environment: OpaquePointer?, _ transaction: inout OpaquePointer?) -> CInt {
    self?.enter(.readers)
    defer { self?.leave(.readers) }
    return unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
  }
}
