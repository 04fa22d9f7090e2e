import Glibc

/// The files below a folder that this process has open, one entry a descriptor.
///
/// - Parameter folder: The path of the folder.
/// - Returns: The paths, in order.
public func openFiles(in folder: String) -> [String] {
  guard let resolved = realpath(folder, nil) else { return [] }
  defer { free(resolved) }
  let prefix = String(cString: resolved) + "/"
  return openDescriptors().map(\.path).filter { $0.hasPrefix(prefix) }.sorted()
}

/// The descriptors of files in memory without a name (`memfd_create`) that this process has open.
///
/// - Returns: The descriptors, in order.
public func openMemoryFiles() -> [CInt] {
  openDescriptors().filter { $0.path.hasPrefix("/memfd:") }.map(\.number).sorted()
}

/// The files below a folder that programs started by this process inherit.
///
/// - Parameter folder: The path of the folder.
/// - Returns: The paths, in order.
public func inheritedFiles(in folder: String) -> [String] {
  guard let resolved = realpath(folder, nil) else { return [] }
  defer { free(resolved) }
  let prefix = String(cString: resolved) + "/"
  return openDescriptors()
    .filter { $0.path.hasPrefix(prefix) && fcntl($0.number, F_GETFD) & FD_CLOEXEC == 0 }
    .map(\.path).sorted()
}

/// The descriptors that this process has open, each with what it refers to.
private func openDescriptors() -> [(number: CInt, path: String)] {
  guard let directory = opendir("/proc/self/fd") else {
    preconditionFailure("opendir of /proc/self/fd: \(errno)")
  }
  defer { closedir(directory) }
  var found: [(number: CInt, path: String)] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(name)", &target, target.count)
    guard count > 0, let number = CInt(name) else { continue }
    found.append((number, String(decoding: target[..<count], as: UTF8.self)))
  }
  return found
}
