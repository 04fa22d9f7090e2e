import Glibc

/// Runs `body` with a fresh folder, and removes the folder afterwards.
///
/// - Parameter body: Gets the path of an empty folder that nobody else uses.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
public func withTemporaryDirectory<Result>(
  _ body: (String) throws -> Result
) rethrows -> Result {
  let path = makeTemporaryDirectory()
  defer { removeTree(path) }
  return try body(path)
}

/// Runs an asynchronous `body` with a fresh folder, and removes the folder afterwards.
///
/// - Parameter body: Gets the path of an empty folder that nobody else uses.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
public func withTemporaryDirectory<Result>(
  _ body: (String) async throws -> Result
) async rethrows -> Result {
  let path = makeTemporaryDirectory()
  defer { removeTree(path) }
  return try await body(path)
}

private func makeTemporaryDirectory() -> String {
  let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  var template = Array("\(parent)/pando-test-XXXXXX".utf8CString)
  return template.withUnsafeMutableBufferPointer { buffer in
    guard let start = buffer.baseAddress, mkdtemp(start) != nil else {
      preconditionFailure("mkdtemp in \(parent): \(errno)")
    }
    return String(cString: start)
  }
}

/// Removes a folder with all that is in it.
func removeTree(_ path: String) {
  guard let directory = opendir(path) else {
    unlink(path)
    return
  }
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name == "." || name == ".." { continue }
    let child = "\(path)/\(name)"
    if entry.pointee.d_type == UInt8(DT_DIR) { removeTree(child) } else { unlink(child) }
  }
  closedir(directory)
  rmdir(path)
}
