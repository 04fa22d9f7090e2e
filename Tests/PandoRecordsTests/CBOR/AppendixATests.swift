import Foundation
import Testing

@testable import PandoRecords

/// The examples of RFC 8949, appendix A.
@Suite struct AppendixATests {
  static let integers: [(String, Int128)] = [
    ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100),
    ("1903e8", 1000), ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000),
    ("1bffffffffffffffff", 18_446_744_073_709_551_615),
    ("c249010000000000000000", 18_446_744_073_709_551_616),
    ("3bffffffffffffffff", -18_446_744_073_709_551_616),
    ("c349010000000000000000", -18_446_744_073_709_551_617),
    ("20", -1), ("29", -10), ("3863", -100), ("3903e7", -1000),
  ]

  static let doubles: [(String, Double)] = [
    ("f90000", 0.0), ("f98000", -0.0), ("f93c00", 1.0), ("fb3ff199999999999a", 1.1),
    ("f93e00", 1.5), ("f97bff", 65504.0), ("fa47c35000", 100000.0),
    ("fa7f7fffff", 3.4028234663852886e+38), ("fb7e37e43c8800759c", 1.0e+300),
    ("f90001", 5.960464477539063e-8), ("f90400", 0.00006103515625), ("f9c400", -4.0),
    ("fbc010666666666666", -4.1), ("f97c00", .infinity), ("f97e00", .nan), ("f9fc00", -.infinity),
  ]

  static let items: [(String, CBORItem)] = [
    ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("f7", .undefined),
    ("f0", .simple(16)), ("f8ff", .simple(255)),
    ("c074323031332d30332d32315432303a30343a30305a", .tagged(0, .text("2013-03-21T20:04:00Z"))),
    ("c11a514b67b0", .tagged(1, .integer(1_363_896_240))),
    ("c1fb41d452d9ec200000", .tagged(1, .double(1_363_896_240.5))),
    ("d74401020304", .tagged(23, .bytes([1, 2, 3, 4]))),
    ("d818456449455446", .tagged(24, .bytes(bytes("6449455446")))),
    (
      "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
      .tagged(32, .text("http://www.example.com"))
    ),
    ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")),
    ("6161", .text("a")), ("6449455446", .text("IETF")), ("62225c", .text("\"\\")),
    ("62c3bc", .text("\u{fc}")), ("63e6b0b4", .text("\u{6c34}")),
    ("64f0908591", .text("\u{10151}")), ("80", .array([])),
    ("83010203", .array([.integer(1), .integer(2), .integer(3)])),
    (
      "8301820203820405",
      .array([
        .integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)]),
      ])
    ),
    (
      "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
      .array((1...25).map { .integer($0) })
    ),
    ("a0", .map([])),
    ("a201020304", .map((1...4).map { .integer($0) })),
    (
      "a26161016162820203",
      .map([
        .text("a"), .integer(1), .text("b"), .array([.integer(2), .integer(3)]),
      ])
    ),
    ("826161a161626163", .array([.text("a"), .map([.text("b"), .text("c")])])),
    (
      "a56161614161626142616361436164614461656145",
      .map(["a", "A", "b", "B", "c", "C", "d", "D", "e", "E"].map { .text($0) })
    ),
  ]

  @Test(arguments: integers) func `integers have one shortest form`(hex: String, value: Int128)
    throws
  {
    var writer = CBORWriter()
    writer.append(value)
    #expect(writer.bytes == bytes(hex))
    #expect(try RecordDecoder.decodeValue(Int128.self, from: bytes(hex)) == value)
    #expect(try encodedHex(value) == hex)
  }

  @Test(arguments: doubles) func `floats have one shortest form`(hex: String, value: Double) throws
  {
    #expect(try encodedHex(value) == hex)
    let back = try RecordDecoder.decodeValue(Double.self, from: bytes(hex))
    #expect(back.bitPattern == value.bitPattern)
  }

  @Test(arguments: [
    ("fa7f800000", Double.infinity), ("fa7fc00000", .nan), ("faff800000", -.infinity),
    ("fb7ff0000000000000", .infinity), ("fb7ff8000000000000", .nan),
    ("fbfff0000000000000", -.infinity),
  ])
  func `floats longer than need be are read`(hex: String, value: Double) throws {
    let back = try RecordDecoder.decodeValue(Double.self, from: bytes(hex))
    #expect(back.bitPattern == value.bitPattern)
  }

  @Test(arguments: items) func `all other items of definite length are written and read`(
    hex: String, item: CBORItem
  )
    throws
  {
    var writer = CBORWriter()
    CBORItem.write(item, to: &writer)
    #expect(writer.bytes == bytes(hex))
    let back = try bytes(hex).withUnsafeBytes { raw -> CBORItem in
      var reader = CBORReader(raw)
      let item = try CBORItem.read(&reader)
      try reader.finish()
      var skipper = CBORReader(raw)
      try skipper.skip()
      try skipper.finish()
      return item
    }
    #expect(back == item)
  }

  @Test(arguments: [
    "5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "9f018202039f0405ffff",
    "9f01820203820405ff", "83018202039f0405ff", "83019f0203ff820405",
    "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", "bf61610161629f0203ffff",
    "826161bf61626163ff", "bf6346756ef563416d7421ff",
  ])
  func `items of indefinite length are refused as such`(hex: String) {
    let error = #expect(throws: CBORError.self) {
      try bytes(hex).withUnsafeBytes { raw in
        var reader = CBORReader(raw)
        try reader.skip()
      }
    }
    #expect(error?.code == .indefiniteLength)
  }
}
