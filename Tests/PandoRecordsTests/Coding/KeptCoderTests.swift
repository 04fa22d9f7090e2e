import Foundation
import PandoModels
import Synchronization
import Testing

@testable import PandoRecords

/// Models that keep what they should not.
@Suite struct KeptCoderTests {
  final class Keeper: Codable {
    enum Keys: String, CodingKey { case a }
    var encoder: (any Encoder)?
    var keyed: KeyedEncodingContainer<Keys>?
    var decoder: (any Decoder)?
    var fields: KeyedDecodingContainer<Keys>?

    init() {}
    init(from decoder: any Decoder) throws {
      self.decoder = decoder
      fields = try decoder.container(keyedBy: Keys.self)
    }
    func encode(to encoder: any Encoder) throws {
      self.encoder = encoder
      keyed = encoder.container(keyedBy: Keys.self)
      try keyed?.encode(1, forKey: .a)
    }
  }

  @Test func `a kept encoder refuses`() throws {
    let keeper = Keeper()
    #expect(try encodedHex([keeper, keeper]) == "82a1616101a1616101")
    #expect(throws: ModelError.self) { try keeper.keyed?.encode(2, forKey: .a) }
    var container = keeper.encoder?.container(keyedBy: Keeper.Keys.self)
    #expect(throws: ModelError.self) { try container?.encode(2, forKey: .a) }
    var list = keeper.encoder?.unkeyedContainer()
    #expect(throws: ModelError.self) { try list?.encode("x") }
    var nested = list?.nestedUnkeyedContainer()
    #expect(throws: ModelError.self) { try nested?.encode("x") }
    var single = keeper.encoder?.singleValueContainer()
    #expect(throws: ModelError.self) { try single?.encode("x") }
    _ = keeper.encoder?.codingPath
  }

  @Test func `a kept decoder throws that its snapshot has ended`() throws {
    let keepers = try RecordDecoder.decodeValue([Keeper].self, from: bytes("82a1616101a1616102"))
    for keeper in keepers {
      let error = #expect(throws: ModelError.self) {
        try keeper.fields?.decode(Int.self, forKey: .a)
      }
      #expect(error?.code == .snapshotEnded)
      #expect(throws: ModelError.self) { try keeper.fields?.decodeNil(forKey: .a) }
      #expect(keeper.fields?.allKeys.isEmpty == true)
      #expect(keeper.fields?.contains(.a) == false)
      #expect(throws: ModelError.self) { try keeper.decoder?.container(keyedBy: Keeper.Keys.self) }
      #expect(throws: ModelError.self) { try keeper.decoder?.unkeyedContainer() }
      #expect(throws: ModelError.self) { try keeper.decoder?.singleValueContainer() }
    }
  }

  final class Peeker: Decodable {
    nonisolated(unsafe) static var earlier: [KeyedDecodingContainer<Keeper.Keys>] = []
    let own: Int
    let earlier: [Result<Int, any Error>]
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Keeper.Keys.self)
      own = try container.decode(Int.self, forKey: .a)
      earlier = Self.earlier.map { container in
        Result { try container.decode(Int.self, forKey: .a) }
      }
      Self.earlier.append(container)
    }
  }

  @Test func `a container kept from an earlier value reads it until the decoding ends`() throws {
    let values = try RecordDecoder.decodeValue(
      [Peeker].self, from: bytes("83a1616101a1616102a1616103"))
    let kept = Peeker.earlier
    Peeker.earlier = []
    #expect(values.map(\.own) == [1, 2, 3])
    #expect(try values.map { try $0.earlier.map { try $0.get() } } == [[], [1], [1, 2]])
    #expect(kept.count == 3)
    for container in kept {
      #expect(throws: ModelError.self) { try container.decode(Int.self, forKey: .a) }
    }
  }

  /// Keys of as many types as there are tags.
  struct TaggedKey<Tag>: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// A value whose container is kept if it is divisible by seven.
  struct Tagged<Tag>: Decodable {
    let value: Int
    let read: () throws -> Int
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: TaggedKey<Tag>.self)
      value = try container.decode(Int.self, forKey: TaggedKey(stringValue: "a"))
      read =
        value % 7 != 0
        ? { throw ModelError.snapshotEnded }
        : { try container.decode(Int.self, forKey: TaggedKey(stringValue: "a")) }
    }
  }

  struct InTurn: Decodable {
    var values: [Int] = []
    var kept: [() throws -> Int] = []
    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      while let count = list.count, !list.isAtEnd {
        // Two types in turn, and from time to time one of several others.
        let number = count - list.currentIndex
        switch number % 11 == 0 ? 2 + number % 5 : number % 2 {
        case 0: try take(list.decode(Tagged<Int8>.self))
        case 1: try take(list.decode(Tagged<Int16>.self))
        case 2: try take(list.decode(Tagged<Int32>.self))
        case 3: try take(list.decode(Tagged<Int64>.self))
        case 4: try take(list.decode(Tagged<UInt8>.self))
        case 5: try take(list.decode(Tagged<UInt16>.self))
        default: try take(list.decode(Tagged<UInt32>.self))
        }
      }
    }
    private mutating func take<Tag>(_ tagged: Tagged<Tag>) {
      values.append(tagged.value)
      kept.append(tagged.read)
    }
  }

  @Test func `values of several types in turn are read, and each kept container refuses`() throws {
    let numbers = Array(0..<200)
    let body = try RecordEncoder.encodeValue(numbers.map { ["a": $0] }).body
    let found = try RecordDecoder.decodeValue(InTurn.self, from: body)
    #expect(found.values == numbers)
    for read in found.kept { #expect(throws: ModelError.self) { try read() } }
  }

  struct Twice: Decodable {
    let values: [Int]
    init(from decoder: any Decoder) throws {
      let first = try decoder.container(keyedBy: Keeper.Keys.self)
      let second = try decoder.container(keyedBy: RecordCodingKey.self)
      let nested = try first.nestedContainer(keyedBy: RecordCodingKey.self, forKey: .a)
      let third = try decoder.container(keyedBy: Keeper.Keys.self)
      values = [
        try third.decode([String: Int].self, forKey: .a)["b"] ?? 0,
        try nested.decode(Int.self, forKey: RecordCodingKey("b")),
        try second.decode([String: Int].self, forKey: RecordCodingKey("a"))["b"] ?? 0,
        try first.decode([String: Int].self, forKey: .a)["b"] ?? 0,
      ]
    }
  }

  @Test func `several containers of one value read it in any order`() throws {
    let value = try RecordDecoder.decodeValue(Twice.self, from: bytes("a16161a1616207"))
    #expect(value.values == [7, 7, 7, 7])
  }

  struct Many: Decodable {
    var sum = 0
    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      while !list.isAtEnd {
        sum += try list.nestedContainer(keyedBy: Keeper.Keys.self).decode(Int.self, forKey: .a)
      }
    }
  }

  @Test func `very many nested containers are read one after another`() throws {
    let values = Array(repeating: ["a": 1], count: 20_000)
    let body = try RecordEncoder.encodeValue(values).body
    #expect(try RecordDecoder.decodeValue(Many.self, from: body).sum == 20_000)
  }
}
