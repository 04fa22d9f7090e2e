import Foundation

/// Bytes that wait on disk for their reader, first in, first out, in a file without a name.
///
/// One thread at a time uses it.
final class OverflowFile {
  private static let pieceByteCountMaximum = 64 << 10
  private let file: FileHandle
  private var readOffset: UInt64 = 0
  private var byteCount: UInt64 = 0

  /// Makes an empty one in the folder for temporary files.
  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data().write(to: url, options: .withoutOverwriting)
    file = try FileHandle(forUpdating: url)
    try FileManager.default.removeItem(at: url)
  }

  /// Whether all has been read.
  var isEmpty: Bool { readOffset == byteCount }

  /// Puts bytes behind all others.
  func append(_ data: Data) throws {
    try file.seek(toOffset: byteCount)
    try file.write(contentsOf: data)
    byteCount += UInt64(data.count)
  }

  /// Takes the next bytes; `nil` if there are none.
  func next() throws -> Data? {
    guard !isEmpty else { return nil }
    try file.seek(toOffset: readOffset)
    guard let data = try file.read(upToCount: Self.pieceByteCountMaximum), !data.isEmpty else {
      throw CocoaError(.fileReadCorruptFile)
    }
    readOffset += UInt64(data.count)
    if isEmpty {
      try file.truncate(atOffset: 0)
      (readOffset, byteCount) = (0, 0)
    }
    return data
  }
}
