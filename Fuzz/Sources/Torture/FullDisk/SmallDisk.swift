import Foundation
import Glibc

/// A small file system of its own, which fills up; mounting one takes root.
struct SmallDisk {
  enum Kind: String, CaseIterable {
    /// Memory, which takes a part of a write and refuses the rest.
    case tmpfs
    /// A file system in a file, as on a real disk.
    case ext4
  }

  let path: String
  private let image: String

  init(_ kind: Kind, sizeInMebibytes size: Int, in directory: String) throws {
    path = "\(directory)/\(kind.rawValue)"
    image = "\(path).image"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    switch kind {
    case .tmpfs: try Self.run("mount", "-t", "tmpfs", "-o", "size=\(size)m", "none", path)
    case .ext4:
      close(creat(image, 0o600))
      try require(truncate(image, off_t(size << 20)) == 0, "truncate: errno \(errno)")
      try Self.run("mkfs.ext4", "-q", "-F", "-m", "0", image)
      try Self.run("mount", "-o", "loop", image, path)
    }
  }

  func remove() throws {
    try Self.run("umount", path)
    unlink(image)
  }

  private static func run(_ command: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    process.waitUntilExit()
    let text = String(
      decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    try require(process.terminationStatus == 0, "\(command.joined(separator: " ")): \(text)")
  }

  private var ballast: String { "\(path)/ballast" }

  /// Takes all space but some bytes away.
  func fill(leaving byteCount: Int) throws {
    let descriptor = open(ballast, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try require(descriptor >= 0, "\(ballast): errno \(errno)")
    defer { close(descriptor) }
    let block = [UInt8](repeating: 1, count: 4096)
    while true {
      let count = Glibc.write(descriptor, block, block.count)
      if count < block.count { break }
    }
    fsync(descriptor)
    let size = lseek(descriptor, 0, SEEK_END)
    try require(ftruncate(descriptor, max(0, size - off_t(byteCount))) == 0, "ftruncate")
    fsync(descriptor)
  }

  /// Gives the space back.
  func makeRoom() { unlink(ballast) }
}
