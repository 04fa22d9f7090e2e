import Testing

@testable import PandoRecords

/// Numbers of every width where a type codes itself by hand: in a list, and as a single value.
@Suite struct HandWrittenCodingTests {
  private enum Int8Case: Int8, Codable { case low = -128, high = 127 }
  private enum Int16Case: Int16, Codable { case low = -32_768, high = 32_767 }
  private enum Int32Case: Int32, Codable { case low = -2_147_483_648, high = 2_147_483_647 }
  private enum Int64Case: Int64, Codable { case low = -9_223_372_036_854_775_808, high = 5 }
  private enum UInt8Case: UInt8, Codable { case low = 0, high = 255 }
  private enum UInt16Case: UInt16, Codable { case low = 0, high = 65_535 }
  private enum UInt32Case: UInt32, Codable { case low = 0, high = 4_294_967_295 }
  private enum UInt64Case: UInt64, Codable { case low = 0, high = 18_446_744_073_709_551_615 }
  private enum UIntCase: UInt, Codable { case low = 0, high = 7 }
  private enum IntCase: Int, Codable { case low = -1, high = 7 }
  private enum StringCase: String, Codable { case low, high = "ä" }
  private enum DoubleCase: Double, Codable { case low = -0.5, high = 1e300 }
  private enum FloatCase: Float, Codable { case low = -0.5, high = 1e30 }

  /// All widths in one list, in order.
  private struct Listed: Codable, Equatable {
    var bool = true
    var string = "é"
    var double = -1.5e-300
    var float: Float = 1.5
    var int = Int.min
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var int128 = Int128.min
    var uint = UInt.max
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var uint128 = UInt128.max

    init() {}

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      bool = try list.decode(Bool.self)
      string = try list.decode(String.self)
      double = try list.decode(Double.self)
      float = try list.decode(Float.self)
      int = try list.decode(Int.self)
      int8 = try list.decode(Int8.self)
      int16 = try list.decode(Int16.self)
      int32 = try list.decode(Int32.self)
      int64 = try list.decode(Int64.self)
      int128 = try list.decode(Int128.self)
      uint = try list.decode(UInt.self)
      uint8 = try list.decode(UInt8.self)
      uint16 = try list.decode(UInt16.self)
      uint32 = try list.decode(UInt32.self)
      uint64 = try list.decode(UInt64.self)
      uint128 = try list.decode(UInt128.self)
    }

    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      try list.encode(bool)
      try list.encode(string)
      try list.encode(double)
      try list.encode(float)
      try list.encode(int)
      try list.encode(int8)
      try list.encode(int16)
      try list.encode(int32)
      try list.encode(int64)
      try list.encode(int128)
      try list.encode(uint)
      try list.encode(uint8)
      try list.encode(uint16)
      try list.encode(uint32)
      try list.encode(uint64)
      try list.encode(uint128)
    }
  }

  @Test func `enumerations of every raw type come back`() throws {
    #expect(try roundTrip([Int8Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([Int16Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([Int32Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([Int64Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([UInt8Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([UInt16Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([UInt32Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([UInt64Case.low, .high]) == [.low, .high])
    #expect(try roundTrip([UIntCase.low, .high]) == [.low, .high])
    #expect(try roundTrip([IntCase.low, .high]) == [.low, .high])
    #expect(try roundTrip([StringCase.low, .high]) == [.low, .high])
    #expect(try roundTrip([DoubleCase.low, .high]) == [.low, .high])
    #expect(try roundTrip([FloatCase.low, .high]) == [.low, .high])
  }

  @Test func `a list that is coded by hand keeps numbers of every width`() throws {
    #expect(try roundTrip(Listed()) == Listed())
    #expect(try roundTrip(["field": Listed()]) == ["field": Listed()])
  }
}
