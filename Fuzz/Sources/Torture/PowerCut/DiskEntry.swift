import Foundation

/// One call of a recorded process; see `torture_preload.h`.
enum DiskEntry {
  case create(file: Int, path: String)
  case write(file: Int, offset: Int, bytes: [UInt8], isSynchronous: Bool)
  case sync(file: Int)
  case truncate(file: Int, size: Int)
  case mark(String)
  case makeDirectory(path: String)
  case syncDirectory(path: String)

  /// Reads what the preloaded library has written.
  static func load(_ path: String) throws -> [DiskEntry] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var entries: [DiskEntry] = []
    var position = 0
    func integer<Number: FixedWidthInteger>(_ offset: Int, as: Number.Type) -> Number {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position + offset, as: Number.self) }
    }
    while position < bytes.count {
      try require(integer(0, as: UInt32.self) == 0x4f44_4e50, "the log at byte \(position)")
      let isSynchronous = bytes[position + 5] != 0
      let file = Int(integer(6, as: UInt16.self))
      let offset = Int(integer(8, as: UInt64.self))
      let length = Int(integer(16, as: UInt64.self))
      let payload = Array(bytes[position + 24..<position + 24 + length])
      let text = String(decoding: payload, as: UTF8.self)
      switch bytes[position + 4] {
      case 1: entries.append(.create(file: file, path: text))
      case 2:
        entries.append(
          .write(file: file, offset: offset, bytes: payload, isSynchronous: isSynchronous))
      case 3: entries.append(.sync(file: file))
      case 4: entries.append(.truncate(file: file, size: offset))
      case 5:
        for line in text.split(separator: "\n") { entries.append(.mark(String(line))) }
      case 6: entries.append(.makeDirectory(path: text))
      case 7: entries.append(.syncDirectory(path: text))
      default: throw TortureFailure("a call that no replay supports: \(text)")
      }
      position += 24 + length
    }
    return entries
  }
}
