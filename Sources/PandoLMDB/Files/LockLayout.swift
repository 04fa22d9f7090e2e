import PandoSystem

/// The layout of the lock file of liblmdb 0.9: the readers' slots and the writer's mutex.
///
/// | offset | size | meaning |
/// | --- | --- | --- |
/// | 0 | 4 | `0xBEEFC0DE` |
/// | 4 | 4 | format: version 1, whose locks use process numbers |
/// | 8 | *m*, the size of a mutex | mutex of the readers' table |
/// | 8 + *m* | 8 | number of the last commit |
/// | 16 + *m* | 4 | how many slots have been used |
/// | next line | *m* | mutex of the writer |
/// | next line | 64 each | slots of readers: version, process and thread, 8 bytes each |
///
/// A line has 64 bytes. Numbers have the byte order of the machine.
enum LockLayout {
  static let magic: UInt32 = 0xBEEF_C0DE
  static let format: UInt32 = 0x1_0001
  static let lineInBytes = 64
  static let mutexInBytes = unsafe MemoryLayout<pthread_mutex_t>.size

  static let formatOffset = 4
  static let readersMutex = 8
  static let number = readersMutex + mutexInBytes
  static let usedSlotCount = number + 8
  static let writerMutex = lines(usedSlotCount + 4)
  static let slots = writerMutex + lines(mutexInBytes)

  /// The size of a lock file with so many slots.
  static func byteCount(readers: Int) -> Int { slots + readers * lineInBytes }

  private static func lines(_ byteCount: Int) -> Int {
    (byteCount + lineInBytes - 1) / lineInBytes * lineInBytes
  }
}
