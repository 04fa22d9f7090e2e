import CPandoLMDB
import PandoSystem

/// A failed operation on an environment.
///
/// ```swift
/// do {
///   try environment.write { try $0.put(36, forKey: "", in: ages) }
/// } catch let error as LMDBError where error.code == .badKeySize {
///   print(error)
/// }
/// ```
///
/// Match on ``code``. ``function`` and ``detail`` are for people: the failed call and its values.
public struct LMDBError: Error, Hashable {
  /// The kind of failure.
  ///
  /// Match on this; the set may grow. Positive values are system error numbers (`errno`), values
  /// from −30 799 to −30 780 are LMDB's, values below −40 000 are this module's own.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number of the failure.
    public let rawValue: Int32

    /// Makes a code from its number.
    ///
    /// - Parameter rawValue: A system, LMDB or module error number.
    public init(rawValue: Int32) {
      self.rawValue = rawValue
    }
  }

  /// The kind of failure.
  public let code: Code
  /// The call that failed, such as `mdb_put`.
  public let function: String
  /// The request in words; empty if the code says enough.
  public let detail: String

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - function: The call that failed.
  ///   - detail: The request in words.
  public init(_ code: Code, function: String, detail: String = "") {
    self.code = code
    self.function = function
    self.detail = detail
  }
}

extension LMDBError: CustomStringConvertible {
  /// One line: the failed call, the reason and the values.
  public var description: String {
    let line = "\(function): \(code.explanation)"
    return detail.isEmpty ? line : "\(line): \(detail)"
  }
}

extension LMDBError.Code: CustomStringConvertible {
  /// The explanation and the number.
  public var description: String {
    "\(explanation) (\(rawValue))"
  }

  /// The meaning of the code in words.
  public var explanation: String {
    switch self {
    case .mapFull: "the map is full"
    case .readersFull: "every reader slot is in use"
    case .badKeySize: "a key has 1 to 511 bytes"
    case .alreadyOpen: "the file is already open in this process; share the one environment"
    case .usedAfterFork: "the environment was opened before fork; open it again in the child"
    case .closed: "the environment is closed"
    case .failedFlush:
      "an earlier commit could not be flushed to the disk; reopen the environment to write again"
    case .truncatedFile: "the file ends before its last page in use"
    case .mapInUse: "the map has to be mapped anew while a reader holds it"
    case .undecodable: "the stored bytes do not decode"
    case .processNumberTaken:
      "a process of another PID namespace has the file open and the same number"
    case .otherDurability: "a process that has the file open writes at another durability"
    case .fileMoved:
      "the data file is not at its path any more; put it back, or open the environment where it is"
    case .changedMeanwhile:
      "other commits reused pages while they were read; "
        + "hold a read transaction and walk its version, or try again"
    case .readOnly: "not permitted, or the environment is read only"
    default: unsafe String(cString: mdb_strerror(rawValue))
    }
  }
}

extension LMDBError.Code {
  // MARK: Codes of LMDB

  /// The key has no value, or there is no table of that name (`MDB_NOTFOUND`).
  public static var notFound: Self { Self(rawValue: MDB_NOTFOUND) }
  /// The key exists, or an appended key is not above the last one (`MDB_KEYEXIST`).
  public static var keyExists: Self { Self(rawValue: MDB_KEYEXIST) }
  /// The tree refers to a page outside the file: the file is damaged (`MDB_PAGE_NOTFOUND`).
  public static var pageNotFound: Self { Self(rawValue: MDB_PAGE_NOTFOUND) }
  /// A page has the wrong type: the file is damaged (`MDB_CORRUPTED`).
  public static var corrupted: Self { Self(rawValue: MDB_CORRUPTED) }
  /// LMDB disabled the environment after a fatal error (`MDB_PANIC`).
  public static var panic: Self { Self(rawValue: MDB_PANIC) }
  /// The file was written in another version of LMDB's format (`MDB_VERSION_MISMATCH`).
  public static var versionMismatch: Self { Self(rawValue: MDB_VERSION_MISMATCH) }
  /// The file is not an LMDB file (`MDB_INVALID`).
  public static var invalidFile: Self { Self(rawValue: MDB_INVALID) }
  /// The map is full and may not or cannot grow (`MDB_MAP_FULL`).
  public static var mapFull: Self { Self(rawValue: MDB_MAP_FULL) }
  /// More tables were opened than `maximumTables` (`MDB_DBS_FULL`).
  public static var tooManyTables: Self { Self(rawValue: MDB_DBS_FULL) }
  /// Every reader slot is in use by a living reader (`MDB_READERS_FULL`).
  public static var readersFull: Self { Self(rawValue: MDB_READERS_FULL) }
  /// The transaction changed too many pages (`MDB_TXN_FULL`).
  public static var transactionFull: Self { Self(rawValue: MDB_TXN_FULL) }
  /// Another process grew the map (`MDB_MAP_RESIZED`).
  public static var mapResized: Self { Self(rawValue: MDB_MAP_RESIZED) }
  /// The table has another kind of keys or values than Pando writes (`MDB_INCOMPATIBLE`).
  public static var incompatibleTable: Self { Self(rawValue: MDB_INCOMPATIBLE) }
  /// An earlier error or a child transaction makes this transaction unusable (`MDB_BAD_TXN`).
  public static var badTransaction: Self { Self(rawValue: MDB_BAD_TXN) }
  /// A key is empty or longer than 511 bytes, or a value is too long (`MDB_BAD_VALSIZE`).
  public static var badKeySize: Self { Self(rawValue: MDB_BAD_VALSIZE) }
  /// The table was opened after this transaction began (`MDB_BAD_DBI`).
  public static var badTable: Self { Self(rawValue: MDB_BAD_DBI) }

  // MARK: Codes of this module

  /// The file is open in this process already.
  public static var alreadyOpen: Self { Self(rawValue: -40_001) }
  /// The environment was opened before `fork`; a child process opens its own.
  public static var usedAfterFork: Self { Self(rawValue: -40_002) }
  /// The environment was closed.
  public static var closed: Self { Self(rawValue: -40_003) }
  /// A flush or the write of a meta page failed: no further writes until it is reopened.
  public static var failedFlush: Self { Self(rawValue: -40_004) }
  /// The file ends before a page that it refers to.
  public static var truncatedFile: Self { Self(rawValue: -40_005) }
  /// The map has to be mapped anew, but a reader that cannot end holds the old one.
  public static var mapInUse: Self { Self(rawValue: -40_006) }
  /// Stored bytes do not decode as the type of the table.
  public static var undecodable: Self { Self(rawValue: -40_007) }
  /// A process of another PID namespace (another container, say) has the file open under the same
  /// process number, by which liblmdb distinguishes readers.
  public static var processNumberTaken: Self { Self(rawValue: -40_008) }
  /// Another process writes to the file at an incompatible durability; together they would not
  /// survive a power failure.
  public static var otherDurability: Self { Self(rawValue: -40_009) }
  /// The open data file was moved, removed, replaced or overwritten: nothing is written to it.
  public static var fileMoved: Self { Self(rawValue: -40_010) }
  /// Other commits reused pages of a version while they were read.
  public static var changedMeanwhile: Self { Self(rawValue: -40_011) }
  /// The environment was opened read-only.
  public static var readOnly: Self { Self(rawValue: EACCES) }

  // MARK: Codes of the system

  /// The disk is full (`ENOSPC`).
  public static var diskFull: Self { Self(rawValue: ENOSPC) }
  /// The device reported an error, or wrote only a part (`EIO`).
  public static var inputOutput: Self { Self(rawValue: EIO) }
  /// The file would grow above the limit of the process or of the file system (`EFBIG`).
  public static var fileTooLarge: Self { Self(rawValue: EFBIG) }
  /// The file or folder does not exist (`ENOENT`).
  public static var noSuchFile: Self { Self(rawValue: ENOENT) }
  /// The file exists already (`EEXIST`).
  public static var fileExists: Self { Self(rawValue: EEXIST) }
  /// The file system is mounted read-only (`EROFS`), and `assumingNoWriter` is not set.
  public static var readOnlyFileSystem: Self { Self(rawValue: EROFS) }
  /// There is not enough memory or address space (`ENOMEM`).
  public static var outOfMemory: Self { Self(rawValue: ENOMEM) }
  /// LMDB refused an argument (`EINVAL`).
  public static var invalidArgument: Self { Self(rawValue: EINVAL) }
}

extension LMDBError {
  /// Whether the map or the disk has no room for a write.
  package var isForWantOfRoom: Bool { code == .mapFull || code == .diskFull }

  /// The error of the system call that has just failed.
  static func system(_ function: String, _ detail: String) -> LMDBError {
    .failed(errno, function, detail)
  }

  /// The error of a call of the system or of liblmdb; if a limit caused it, names the limit.
  ///
  /// - Parameters:
  ///   - status: The number of the error.
  ///   - function: The call.
  ///   - detail: The request in words.
  /// - Returns: The error.
  static func failed(_ status: CInt, _ function: String, _ detail: String) -> LMDBError {
    var detail = detail
    if let limit = limitBehind(status) {
      detail += "\(detail.isEmpty ? "" : ": ")error \(status), \(limit)"
    }
    return LMDBError(Code(rawValue: status), function: function, detail: detail)
  }

  /// The error of a reader that could not begin.
  ///
  /// The first reader of a process locks, without waiting, the byte of the lock file at its process
  /// number. Only this lock fails with `EAGAIN`: on Linux every refused lock does, and no other
  /// call there.
  ///
  /// - Parameters:
  ///   - status: The status of the C function, not 0.
  ///   - function: The C function.
  ///   - path: The folder of the environment.
  ///   - detail: The request in words.
  /// - Returns: The error.
  static func reading(
    _ status: CInt, _ function: StaticString, _ path: String, _ detail: String = ""
  ) -> LMDBError {
    guard status == EAGAIN else {
      return LMDBError(Code(rawValue: status), function: function.description, detail: detail)
    }
    return LMDBError(
      .processNumberTaken, function: function.description,
      detail: "both read \(path) as number \(getpid()), by which LMDB tells processes apart; "
        + "share the PID namespace, or start under another number")
  }

  /// The error of bytes that do not decode as a type.
  static func undecodable(_ type: String, _ reason: String) -> LMDBError {
    LMDBError(.undecodable, function: type, detail: reason)
  }
}

/// Turns a status code of LMDB or of the system into an error.
///
/// Every C status code of this module passes through here.
///
/// - Parameters:
///   - status: The status of the C function; 0 is success.
///   - function: The C function.
///   - detail: The request in words; evaluated for an error only.
/// - Throws: ``LMDBError`` with the code, if it is not 0.
@inline(__always)
func check(
  _ status: CInt, _ function: StaticString, _ detail: @autoclosure () -> String = ""
) throws(LMDBError) {
  guard status == 0 else { throw .failed(status, function.description, detail()) }
}

/// Like ``check(_:_:_:)``, for calls that may find no entry.
///
/// - Returns: `false` if the status is `MDB_NOTFOUND`.
/// - Throws: ``LMDBError`` for every other status but 0.
@inline(__always)
func checkFound(_ status: CInt, _ function: StaticString) throws(LMDBError) -> Bool {
  if status == 0 { return true }
  if status == MDB_NOTFOUND { return false }
  throw LMDBError(LMDBError.Code(rawValue: status), function: function.description)
}
