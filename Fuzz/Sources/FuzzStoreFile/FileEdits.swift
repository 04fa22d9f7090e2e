/// Changes of a file that bytes of the fuzzer stand for.
struct FileEdits {
  private static let editMaximum = 24
  private static let pageSize = 4096

  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  private mutating func number(_ byteCount: Int) -> Int {
    (0..<byteCount).reduce(0) { number, _ in number << 8 | Int(rest.popFirst() ?? 0) }
  }

  /// Makes the changes: bytes, numbers, whole pages, the end of the file.
  mutating func apply(to file: inout [UInt8]) {
    for _ in 0..<Self.editMaximum where !rest.isEmpty && file.count > Self.pageSize {
      let pageCount = file.count / Self.pageSize
      let kind = number(1)
      // A place in a page: in its header and the lists after it as often as anywhere.
      let page = number(1) % pageCount * Self.pageSize
      let place = page + (kind & 0x80 == 0 ? number(1) : number(2) % Self.pageSize)
      switch kind & 0x7 {
      case 0: file[place] = UInt8(number(1))
      case 1: file[place] ^= 1 << UInt8(number(1) & 7)
      case 2: put(number(2), 2, at: place, in: &file)
      case 3: put(number(1), 8, at: place, in: &file)
      case 4: put(number(4), 4, at: place, in: &file)
      case 5: copyPage(number(1) % pageCount, over: page, in: &file)
      case 6: swapPage(number(1) % pageCount, page, in: &file)
      default: file.removeLast(min(file.count, number(2)))
      }
    }
  }

  private func put(_ number: Int, _ byteCount: Int, at place: Int, in file: inout [UInt8]) {
    for index in 0..<byteCount where place + index < file.count {
      file[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
    }
  }

  private func copyPage(_ source: Int, over target: Int, in file: inout [UInt8]) {
    let start = source * Self.pageSize
    guard start + Self.pageSize <= file.count, target + Self.pageSize <= file.count else { return }
    file.replaceSubrange(target..<target + Self.pageSize, with: file[start..<start + Self.pageSize])
  }

  private func swapPage(_ first: Int, _ second: Int, in file: inout [UInt8]) {
    let start = first * Self.pageSize
    guard start + Self.pageSize <= file.count, second + Self.pageSize <= file.count else { return }
    let page = file[start..<start + Self.pageSize]
    copyPage(second / Self.pageSize, over: start, in: &file)
    file.replaceSubrange(second..<second + Self.pageSize, with: page)
  }
}
