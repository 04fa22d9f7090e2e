import Testing

@testable import PandoRecords

/// Numbers of every size where they may be absent, and in containers that a type fills by itself.
@Suite struct ScalarPlacesTests {
  /// Every scalar that a type with fields of its own may write, each of which may be nil.
  private struct Maybe: FieldCodable, Equatable {
    var bool: Bool?
    var string: String?
    var double: Double?
    var float: Float?
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?

    init() {}

    init(fields: inout FieldSource) throws {
      bool = try fields.read("bool")
      string = try fields.read("string")
      double = try fields.read("double")
      float = try fields.read("float")
      int = try fields.read("int")
      int8 = try fields.read("int8")
      int16 = try fields.read("int16")
      int32 = try fields.read("int32")
      int64 = try fields.read("int64")
      uint = try fields.read("uint")
      uint8 = try fields.read("uint8")
      uint16 = try fields.read("uint16")
      uint32 = try fields.read("uint32")
      uint64 = try fields.read("uint64")
    }

    func write(to fields: inout FieldSink) throws {
      fields.write("bool", bool)
      fields.write("string", string)
      fields.write("double", double)
      fields.write("float", float)
      fields.write("int", int)
      fields.write("int8", int8)
      fields.write("int16", int16)
      fields.write("int32", int32)
      fields.write("int64", int64)
      fields.write("uint", uint)
      fields.write("uint8", uint8)
      fields.write("uint16", uint16)
      fields.write("uint32", uint32)
      fields.write("uint64", uint64)
    }

    static var full: Maybe {
      var full = Maybe()
      full.bool = true
      full.string = "ü"
      full.double = -0.1
      full.float = 1.5
      full.int = .min
      full.int8 = .min
      full.int16 = .min
      full.int32 = .min
      full.int64 = .min
      full.uint = .max
      full.uint8 = .max
      full.uint16 = .max
      full.uint32 = .max
      full.uint64 = .max
      return full
    }
  }

  @Test(arguments: [true, false])
  func `scalars that may be nil are read as they were, with own fields and without`(
    usesFields: Bool
  ) throws {
    for value in [Maybe.full, Maybe()] {
      let body = try RecordEncoder.encodeValue(value, usingFields: usesFields).body
      for readsFields in [true, false] {
        let decoder = RecordDecoder(source: MemoryRecords(), usingFields: readsFields)
        let copy = try body.withUnsafeBytes { try decoder.decode(Maybe.self, from: $0) }
        #expect(copy == value)
      }
    }
  }

  /// The two that `FieldCodable` has no place for.
  private struct Wide: Codable, Equatable {
    var int128: Int128?
    var uint128: UInt128?
  }

  @Test func `wide integers that may be nil are read as they were`() throws {
    for value in [Wide(int128: .min, uint128: .max), Wide()] {
      let body = try RecordEncoder.encodeValue(value).body
      #expect(try RecordDecoder.decodeValue(Wide.self, from: body) == value)
    }
  }

  /// Writes its values one after another.
  private struct Row: Codable, Equatable {
    var values = Maybe.full
    var int128 = Int128.min
    var uint128 = UInt128.max

    init() {}

    func encode(to encoder: any Encoder) throws {
      var row = encoder.unkeyedContainer()
      if let value = values.bool { try row.encode(value) }
      if let value = values.string { try row.encode(value) }
      if let value = values.double { try row.encode(value) }
      if let value = values.float { try row.encode(value) }
      if let value = values.int { try row.encode(value) }
      if let value = values.int8 { try row.encode(value) }
      if let value = values.int16 { try row.encode(value) }
      if let value = values.int32 { try row.encode(value) }
      if let value = values.int64 { try row.encode(value) }
      if let value = values.uint { try row.encode(value) }
      if let value = values.uint8 { try row.encode(value) }
      if let value = values.uint16 { try row.encode(value) }
      if let value = values.uint32 { try row.encode(value) }
      if let value = values.uint64 { try row.encode(value) }
      try row.encode(int128)
      try row.encode(uint128)
      try row.encodeNil()
    }

    init(from decoder: any Decoder) throws {
      var row = try decoder.unkeyedContainer()
      values = Maybe()
      values.bool = try row.decode(Bool.self)
      values.string = try row.decode(String.self)
      values.double = try row.decode(Double.self)
      values.float = try row.decode(Float.self)
      values.int = try row.decode(Int.self)
      values.int8 = try row.decode(Int8.self)
      values.int16 = try row.decode(Int16.self)
      values.int32 = try row.decode(Int32.self)
      values.int64 = try row.decode(Int64.self)
      values.uint = try row.decode(UInt.self)
      values.uint8 = try row.decode(UInt8.self)
      values.uint16 = try row.decode(UInt16.self)
      values.uint32 = try row.decode(UInt32.self)
      values.uint64 = try row.decode(UInt64.self)
      int128 = try row.decode(Int128.self)
      uint128 = try row.decode(UInt128.self)
      guard try row.decodeNil(), row.isAtEnd else {
        throw DecodingError.dataCorruptedError(in: row, debugDescription: "no end")
      }
    }
  }

  @Test func `a row of scalars of every size is read as it was`() throws {
    let body = try RecordEncoder.encodeValue(Row()).body
    #expect(try RecordDecoder.decodeValue(Row.self, from: body) == Row())
  }
}
