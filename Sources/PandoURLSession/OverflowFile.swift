import Foundation

/// Bytes on disk that wait for their reader: a first-in, first-out queue in an unlinked file.
///
/// One thread at a time uses it.
final class OverflowFile {
  private static let pieceByteCountMaximum = 64 << 10
  private let file: FileHandle
  private var readOffset: UInt64 = 0
  private var byteCount: UInt64 = 0

  /// Makes an empty file in the folder for temporary files.
  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data().write(to: url, options: .withoutOverwriting)
    file = try FileHandle(forUpdating: url)
    try FileManager.default.removeItem(at: url)
  }

  /// Whether the reader has taken all bytes.
  var isEmpty: Bool { readOffset == byteCount }

  /// Appends bytes.
  func append(_ data: Data) throws {
    try file.seek(toOffset: byteCount)
    try file.write(contentsOf: data)
    byteCount += UInt64(data.count)
  }

  /// Takes the next bytes; returns `nil` if there are none.
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
