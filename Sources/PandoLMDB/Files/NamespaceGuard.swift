import CPandoLMDB
import PandoSystem

/// Keeps liblmdb's two mutexes safe where processes of several PID namespaces share an environment, such as containers.
///
/// When a thread dies, Linux frees the mutexes that have its number. In another namespace another thread has that number: if
/// it dies while it waits, the mutex counts as orphaned, and the next thread comes in beside the owner. So as soon as a second
/// namespace is seen, a thread takes a lock of the open file before it goes to a mutex, and nobody ever waits for the mutex
/// itself. The kernel frees such a lock at any death, in any namespace. In one namespace it would cost each commit two
/// system calls for nothing.
///
/// ```
/// one namespace       inside = 1 ─► several == 0 ─► mutex … ─► inside = 0
/// several             inside = 1 ─► several == 1 ─► inside = 0 ─► lock ─► mutex … ─► unlock
/// a second one comes  several = 1 ─► lock ─► wait until every `inside` is 0 ─► mutex …
/// ```
/// The words lie in the lock file, where liblmdb 0.9 has padding: `several` behind the writer's mutex, `inside` in the slots
/// of readers. The two have nothing to do with each other: a process takes any slot whose byte nobody has locked.
@safe
final class NamespaceGuard: Sendable {
  /// What one of the two mutexes is for.
  enum Section: Int, CaseIterable {
    case writer
    case readers
  }

  /// Bytes that are locked; those of slots follow.
  private enum Byte {
    static let joining = 16
    static func section(_ section: Section) -> Int { 17 + section.rawValue }
    /// Held, by many, by processes that have no slot.
    static let unlisted = 19
    static let firstSlot = 20
  }

  /// Where liblmdb 0.9 has what in the lock file.
  private enum Layout {
    static let magic: UInt32 = 0xBEEF_C0DE
    static let format: UInt32 = 0x1_0001
    static let lineInBytes = 64
    static let mutexInBytes = unsafe MemoryLayout<pthread_mutex_t>.size
    private static func lines(_ byteCount: Int) -> Int {
      (byteCount + lineInBytes - 1) / lineInBytes * lineInBytes
    }
    /// Behind magic, format, a mutex, the number of the last commit and that of the readers.
    static let writerMutex = lines(8 + mutexInBytes + 12)
    static let several = writerMutex + mutexInBytes
    static let namespace = several + 8
    static let slots = writerMutex + lines(mutexInBytes)
    /// Behind the number of a version, of a process and of a thread.
    static let inside = 32
    static let fits = namespace + 8 <= slots
  }

  private struct State: Sendable {
    /// How many threads of this process are inside.
    var depth = 0
    var isLocked = false
    /// Whether all who had not seen the second namespace have left.
    var isDrained = false
  }

  private let file: Descriptor
  /// The lock file; `nil` where it is not laid out as known, or its file system has no locks of open files.
  ///
  /// Written by the initializer alone, which nobody else can be inside.
  nonisolated(unsafe) private var start: UnsafeMutableRawPointer?
  private let byteCount: Int
  /// The slot of this process; `nil` if all were taken: then it always takes locks.
  ///
  /// Written by the initializer alone, which nobody else can be inside.
  nonisolated(unsafe) private var slot: Int?
  private let states: [Locked<State>] = Section.allCases.map { _ in Locked(State()) }

  /// Takes part in the environment of a folder.
  ///
  /// It is `nil` if the lock file can't be opened for writing: then liblmdb has none either.
  ///
  /// - Parameter folder: The folder; liblmdb has opened it, and no thread has been to a mutex yet.
  init?(folder: String) {
    let descriptor = retryInterrupted {
      unsafe open("\(folder)/\(LockFile.name)", O_RDWR | O_CLOEXEC)
    }
    guard descriptor >= 0 else { return nil }
    // It stays open as long as liblmdb's own: closing it would drop the locks that the process has on the file.
    file = Descriptor(descriptor, hasLocks: true)
    var status = stat()
    byteCount = unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    guard Layout.fits, byteCount > Layout.slots,
      let start = unsafe mmap(
        nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      unsafe start != MAP_FAILED
    else { return }
    unsafe self.start = start
    let magic = unsafe start.load(as: UInt32.self)
    let format = unsafe start.load(fromByteOffset: 4, as: UInt32.self)
    guard magic == Layout.magic, format == Layout.format, unsafe join(start) else {
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

  /// Whether processes of more than one namespace have had the environment open, since none last had.
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
      start, Layout.slots + slot * Layout.lineInBytes + Layout.inside + 4 * section.rawValue)
  }

  private var slotCount: Int { (byteCount - Layout.slots) / Layout.lineInBytes }

  /// Says of which namespace this process is, and takes a slot.
  ///
  /// - Returns: `false` if the file system has no such locks.
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

  /// The PID namespace of this process; `nil` if that is not known.
  private static func currentNamespace() -> UInt64? {
    var status = stat()
    guard unsafe stat("/proc/self/ns/pid", &status) == 0 else { return nil }
    return UInt64(status.st_ino)
  }

  /// Lets a thread go to a mutex; it calls ``leave(_:)`` afterwards.
  ///
  /// Waits for the threads of other namespaces that are there, and for those that have been waiting.
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

  /// Says that a thread has released the mutex.
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

  /// Waits for those who have come in while they knew of one namespace only.
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
  /// Begins a write transaction; the turn of the writer has been taken.
  ///
  /// Behind a writer that has died liblmdb looks at the readers, too.
  ///
  /// - Returns: What liblmdb says.
  func beginWriter(_ environment: OpaquePointer?, _ transaction: inout OpaquePointer?) -> CInt {
    let looksAtReaders = self?.hasSeenSeveral ?? false
    if looksAtReaders { self?.enter(.readers) }
    defer { if looksAtReaders { self?.leave(.readers) } }
    return unsafe mdb_txn_begin(environment, nil, 0, &transaction)
  }

  /// Begins a read transaction, for which liblmdb takes a slot.
  ///
  /// - Returns: What liblmdb says.
  func beginReader(_ environment: OpaquePointer?, _ transaction: inout OpaquePointer?) -> CInt {
    self?.enter(.readers)
    defer { self?.leave(.readers) }
    return unsafe mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction)
  }
}
