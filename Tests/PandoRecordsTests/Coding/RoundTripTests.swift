import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoRecords

@Suite struct RoundTripTests {
  struct Everything: Codable, Equatable {
    var int: Int
    var int8: Int8
    var int16: Int16
    var int32: Int32
    var int64: Int64
    var uint: UInt
    var uint8: UInt8
    var uint16: UInt16
    var uint32: UInt32
    var uint64: UInt64
    var int128: Int128
    var uint128: UInt128
    var bool: Bool
    var string: String
    var data: Data
    var bytes: [UInt8]
    var id: UUID
    var list: [[String: Int]]
    var maybe: String?

    init(_ random: inout SeededGenerator) {
      int = Self.extreme(&random)
      int8 = Self.extreme(&random)
      int16 = Self.extreme(&random)
      int32 = Self.extreme(&random)
      int64 = Self.extreme(&random)
      uint = Self.extreme(&random)
      uint8 = Self.extreme(&random)
      uint16 = Self.extreme(&random)
      uint32 = Self.extreme(&random)
      uint64 = Self.extreme(&random)
      int128 = Self.extreme(&random)
      uint128 = Self.extreme(&random)
      bool = .random(using: &random)
      string = Self.text(&random)
      data = Data((0..<Int.random(in: 0..<40, using: &random)).map { UInt8($0) })
      bytes = (0..<Int.random(in: 0..<300, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
      id = UUID()
      list = [[Self.text(&random): 1], [:]]
      maybe = Bool.random(using: &random) ? Self.text(&random) : nil
    }

    static func extreme<T: FixedWidthInteger>(_ random: inout SeededGenerator) -> T {
      let bits = T(truncatingIfNeeded: random.next()) >> T(random.next() % UInt64(T.bitWidth))
      return [T.min, .max, 0, T.min + 1, bits, bits, .max - 1].randomElement(using: &random) ?? 0
    }

    static func text(_ random: inout SeededGenerator) -> String {
      let scalars = (0..<Int.random(in: 0..<30, using: &random)).compactMap { _ in
        Unicode.Scalar(
          UInt32.random(in: 0..<0x11_0000, using: &random) >> UInt32(random.next() % 16))
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  @Test(arguments: seeds(60)) func `values at their limits come back`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let value = Everything(&random)
    let body = try RecordEncoder.encodeValue(value).body
    let back = try RecordDecoder.decodeValue(Everything.self, from: body)
    #expect(back == value)
    #expect(back.string.utf8.elementsEqual(value.string.utf8))
    #expect(try RecordEncoder.encodeValue(back).body == body)
  }

  @Test(arguments: seeds(20)) func `floats and dates come back bit by bit`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let double = Double(bitPattern: random.next())
      #expect(try roundTrip([double])[0].bitPattern == double.bitPattern)
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      #expect(try roundTrip([float])[0].bitPattern == float.bitPattern)
      let seconds = Double.random(in: -1e11...1e11, using: &random)
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(try roundTrip([date]) == [date])
    }
    let nan = Float(nan: 5, signaling: true)
    #expect(try roundTrip([nan])[0].bitPattern == nan.bitPattern)
  }

  @Test(arguments: [
    "https://example.org/a?b=c#d", "file:///tmp/a%20b", "relative/path", "mailto:a@b.c",
    "http://[::1]:8080/", "urn:x:y", "https://example.org/%C3%A9",
  ])
  func `URLs come back`(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(try roundTrip([url]) == [url])
    let relative = try #require(URL(string: "x/y?z", relativeTo: url))
    #expect(try roundTrip([relative]) == [relative])
    #expect(try roundTrip(["u": relative])["u"]?.baseURL == relative.baseURL)
  }

  @Test(arguments: [
    "0", "1", "-1", "1.10", "-0.000123", "123456789012345678901234567890.12345678",
    "340282366920938463463374607431768211455", "-340282366920938463463374607431768211455",
    "18446744073709551616", "-18446744073709551616", "1e127", "-7e-127", "1e-128",
  ])
  func `decimals come back, equal ones with equal bytes`(text: String) throws {
    let decimal = try #require(Decimal(string: text))
    #expect(try roundTrip([decimal]) == [decimal])
    let other = (decimal * 2) / 2
    if other == decimal { #expect(try encodedHex(other) == encodedHex(decimal)) }
  }

  @Test func `decimals that are no numbers, and the largest, come back`() throws {
    #expect(try roundTrip([Decimal.nan])[0].isNaN)
    for decimal in [Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude]
    {
      #expect(try roundTrip([decimal]) == [decimal])
    }
    #expect(
      try encodedHex(Decimal(string: "-1.5") ?? 0)
        == "c482202e".replacingOccurrences(of: "2e", with: "2e")
    )
  }

  @Test func `numbers are read as any type that holds them exactly`() throws {
    #expect(try RecordDecoder.decodeValue(Double.self, from: bytes("1864")) == 100)
    #expect(try RecordDecoder.decodeValue(Float.self, from: bytes("20")) == -1)
    #expect(try RecordDecoder.decodeValue(Int.self, from: bytes("f93c00")) == 1)
    #expect(try RecordDecoder.decodeValue(UInt8.self, from: bytes("f95bf8")) == 255)
    #expect(
      try RecordDecoder.decodeValue(Decimal.self, from: bytes("fb3fb999999999999a"))
        == Decimal(string: "0.1"))
    #expect(try RecordDecoder.decodeValue(Decimal.self, from: bytes("1864")) == 100)
    #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(Int.self, from: bytes("f93e00"))
    }
    #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(Double.self, from: bytes("1b0020000000000001"))
    }
    #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(Int8.self, from: bytes("1880"))
    }
    #expect(throws: ModelError.self) { try RecordDecoder.decodeValue(UInt.self, from: bytes("20")) }
    #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(Int.self, from: bytes("f97c00"))
    }
  }

  @Test func `bytes are read from arrays of numbers and the other way round`() throws {
    let array = bytes("83010218ff")
    #expect(try RecordDecoder.decodeValue(Data.self, from: array) == Data([1, 2, 255]))
    #expect(try RecordDecoder.decodeValue([UInt8].self, from: array) == [1, 2, 255])
    #expect(try RecordDecoder.decodeValue([UInt8].self, from: bytes("430102ff")) == [1, 2, 255])
    #expect(
      try RecordDecoder.decodeValue(ContiguousArray<UInt8>.self, from: bytes("430102ff")) == [
        1, 2, 255,
      ])
    #expect(try RecordEncoder.encodeValue([UInt8]()).body == [0x40])
    #expect(try encodedHex([Int]()) == "80")
    #expect(try encodedHex(Data([1])) == "4101")
  }

  @Test func `a text that is not UTF-8 is an error`() {
    #expect(throws: ModelError.self) {
      try RecordDecoder.decodeValue(String.self, from: bytes("61ff"))
    }
  }

  @Test func `a decoded change set equals the encoded one without its context`() throws {
    let set = ChangeSet(
      commitNumber: CommitNumber(value: 7), updated: ["a", "b"], inserted: ["c"], deleted: [],
      collections: [
        CollectionUpdate(cacheKey: "k", change: .reset),
        CollectionUpdate(
          cacheKey: "l", change: .changes([.move(from: 1, to: 2), .delete(index: 0)])),
      ],
      author: "me", date: Date(timeIntervalSinceReferenceDate: 1.5), context: 3)
    let back = try roundTrip(set)
    #expect(
      back.commitNumber.value == 7 && back.updated == set.updated && back.inserted == set.inserted)
    #expect(back.deleted.isEmpty && back.collections == set.collections && back.author == "me")
    #expect(back.date == set.date && back.context == nil)
  }
}
