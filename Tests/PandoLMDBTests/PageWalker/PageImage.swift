import Foundation
import Testing

/// The bytes of a data file, with names for the places that tests damage.
struct PageImage {
  var bytes: [UInt8]
  let pageSize: Int

  init(path: String) throws {
    bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
    pageSize = 4096
  }

  /// Writes the bytes as the data file of another directory.
  func write(to path: String) throws {
    try? FileManager.default.removeItem(atPath: path + "/lock.mdb")
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/data.mdb"))
  }

  var pageCount: Int { bytes.count / pageSize }

  func number<Number: FixedWidthInteger>(at offset: Int) -> Number {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }

  mutating func set<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: number, toByteOffset: offset, as: Number.self)
    }
  }

  /// Where the newer meta page starts.
  var liveMeta: Int {
    let first: UInt64 = number(at: 144)
    let second: UInt64 = number(at: pageSize + 144)
    return first < second ? pageSize : 0
  }

  /// Where the record of the free list's tree is.
  var freeListRecord: Int { liveMeta + 40 }

  /// Where the record of the main table's tree is.
  var mainRecord: Int { liveMeta + 88 }

  /// The root page of the tree whose record is at an offset.
  func root(ofRecord record: Int) -> Int { Int(number(at: record + 40) as UInt64) }

  /// How many nodes a page has.
  func nodeCount(_ page: Int) -> Int {
    (Int(number(at: page * pageSize + 12) as UInt16) - 16) / 2
  }

  /// Where the offset of a node is kept.
  func pointer(_ page: Int, _ index: Int) -> Int { page * pageSize + 16 + 2 * index }

  /// Where a node starts in the file.
  func node(_ page: Int, _ index: Int) -> Int {
    page * pageSize + Int(number(at: pointer(page, index)) as UInt16)
  }

  /// Where the value of a leaf node starts in the file.
  func value(_ page: Int, _ index: Int) -> Int {
    let node = node(page, index)
    return node + 8 + Int(number(at: node + 6) as UInt16)
  }

  /// The child of a branch page.
  func child(_ page: Int, _ index: Int) -> Int {
    Int(number(at: node(page, index)) as UInt32)
  }

  /// Where the record of a named table is, in a main table of one leaf.
  func record(ofTable name: String) throws -> Int {
    let leaf = root(ofRecord: mainRecord)
    for index in 0..<nodeCount(leaf) {
      let node = node(leaf, index)
      let keySize = Int(number(at: node + 6) as UInt16)
      if Array(bytes[node + 8..<node + 8 + keySize]) == Array(name.utf8) {
        return node + 8 + keySize
      }
    }
    throw PageFixture.Failure(function: "record(ofTable: \(name))", code: 0)
  }
}
