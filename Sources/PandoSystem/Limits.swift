/// Describes the limit of the process or of the system at which a call failed.
///
/// - Parameter status: The error number of a call for a file, for memory or for address space.
/// - Returns: `nil` if the error number is not that of a limit.
package func limitBehind(_ status: CInt) -> String? {
  switch status {
  case EMFILE:
    guard let limit = processLimit(.files) else { return nil }
    return "this process may have \(limit) files open (ulimit -n)"
  case ENFILE:
    return number(in: "/proc/sys/fs/file-max").map {
      "the system may have \($0) files open (fs.file-max)"
    }
  case ENOMEM: return memoryLimit()
  default: return nil
  }
}

private func memoryLimit() -> String? {
  if let limit = processLimit(.addressSpace) {
    return "this process may have \(limit) bytes of address space (ulimit -v)"
  }
  if let maximum = number(in: "/proc/sys/vm/max_map_count"), let maps = text(of: "/proc/self/maps")
  {
    let count = maps.reduce(into: 0) { if $1 == UInt8(ascii: "\n") { $0 += 1 } }
    if count + 16 > maximum {
      return "this process has \(count) of \(maximum) maps of memory (vm.max_map_count)"
    }
  }
  return addressSpaceInUse().map { "this process has \($0) bytes of address space in use" }
}

/// The address space that this process has in use, in bytes; `nil` without `/proc`.
package func addressSpaceInUse() -> Int? {
  number(in: "/proc/self/statm").map { $0 * Int(sysconf(CInt(_SC_PAGESIZE))) }
}

/// Describes why the system may have refused to start a thread.
///
/// - Parameter status: The result of `pthread_create`.
/// - Returns: The error number and the limits.
package func threadLimit(_ status: CInt) -> String {
  var causes = ["error \(status)"]
  if let count = number(in: "/proc/sys/kernel/threads-max") {
    causes.append("the system may have \(count) threads (kernel.threads-max)")
  }
  if let limit = processLimit(.threads) {
    causes.append("the user \(limit) (ulimit -u)")
  }
  return causes.joined(separator: ", ")
}

/// A limit of this process.
package enum ProcessLimit {
  /// Open files.
  case files
  /// Bytes of address space.
  case addressSpace
  /// Threads of its user.
  case threads
  /// Bytes of a file that it writes.
  case fileSize
}

/// The present value of a limit of this process; `nil` if there is none.
package func processLimit(_ kind: ProcessLimit) -> UInt64? {
  var limit = rlimit()
  #if canImport(Musl)
    let resource: CInt =
      switch kind {
      case .files: RLIMIT_NOFILE
      case .addressSpace: RLIMIT_AS
      case .threads: RLIMIT_NPROC
      case .fileSize: RLIMIT_FSIZE
      }
  #else
    let name =
      switch kind {
      case .files: RLIMIT_NOFILE
      case .addressSpace: RLIMIT_AS
      case .threads: __RLIMIT_NPROC
      case .fileSize: RLIMIT_FSIZE
      }
    let resource = __rlimit_resource_t(name.rawValue)
  #endif
  guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < UInt64(Int64.max) else {
    return nil
  }
  return UInt64(limit.rlim_cur)
}

/// The process of a thread of any process; `nil` if there is no such thread.
package func process(ofThread thread: pid_t) -> Int? {
  let name = "Tgid:"
  let lines = text(of: "/proc/\(thread)/status")?.split(separator: UInt8(ascii: "\n"))
  let line = lines?.lazy.map { String(decoding: $0, as: UTF8.self) }.first { $0.hasPrefix(name) }
  return line.flatMap { Int($0.dropFirst(name.count).filter { !$0.isWhitespace }) }
}

/// The number at the beginning of a file.
private func number(in path: String) -> Int? {
  guard let digits = text(of: path)?.prefix(while: { $0 >= 48 && $0 <= 57 }) else { return nil }
  return Int(String(decoding: digits, as: UTF8.self))
}

/// The bytes of a file of `/proc`.
private func text(of path: String) -> [UInt8]? {
  let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = unsafe read(file, &part, part.count)
    if count < 0, errno == EINTR { continue }
    if count <= 0 { return count < 0 ? nil : bytes }
    bytes += part[..<count]
  }
}
