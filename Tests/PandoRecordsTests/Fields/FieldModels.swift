import Foundation
import PandoFixtures
import PandoModels

@testable import PandoRecords

/// Models that write their fields themselves, with every kind of field.
struct FastNote: Model, FieldCodable, Hashable {
  var id: String
  var text: String
  var modelIdentifier: String? { id.isEmpty ? nil : id }

  init(id: String, text: String) {
    self.id = id
    self.text = text
  }

  init(fields: inout FieldSource) throws {
    id = try fields.read("id")
    text = try fields.read("text")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("id", id)
    fields.write("text", text)
  }
}

/// A value without identifier.
struct FastPlace: FieldCodable, Hashable, Sendable {
  var name: String
  var owner: FastNote?

  init(name: String, owner: FastNote?) {
    self.name = name
    self.owner = owner
  }

  init(fields: inout FieldSource) throws {
    // Not in the order of writing.
    owner = try fields.read("owner")
    name = try fields.read("name")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("name", name)
    try fields.write("owner", owner)
  }
}

struct FastTree: Model, FieldCodable, Hashable {
  var id: String
  var bool: Bool
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
  var double: Double
  var float: Float
  var maybeText: String?
  var maybeInt: Int?
  var maybeBool: Bool?
  var maybeDouble: Double?
  var data: Data
  var date: Date
  var uuid: UUID
  var maybeDate: Date?
  var numbers: [Int]
  var table: [String: Double]
  var required: FastNote
  var optional: FastNote?
  var list: [FastNote]
  var map: [String: FastNote]
  var place: FastPlace
  var maybePlace: FastPlace?
  /// A model that knows only `Codable`.
  var person: Person
  var aFieldWithANameOfMoreThanTwentyThreeBytes: Int
  var modelIdentifier: String? { id }
}

extension FastTree {
  init(fields: inout FieldSource) throws {
    id = try fields.read("id")
    bool = try fields.read("bool")
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
    double = try fields.read("double")
    float = try fields.read("float")
    maybeText = try fields.read("maybeText")
    maybeInt = try fields.read("maybeInt")
    maybeBool = try fields.read("maybeBool")
    maybeDouble = try fields.read("maybeDouble")
    data = try fields.read("data")
    date = try fields.read("date")
    uuid = try fields.read("uuid")
    maybeDate = try fields.read("maybeDate")
    numbers = try fields.read("numbers")
    table = try fields.read("table")
    required = try fields.read("required")
    optional = try fields.read("optional")
    list = try fields.read("list")
    map = try fields.read("map")
    place = try fields.read("place")
    maybePlace = try fields.read("maybePlace")
    person = try fields.read("person")
    aFieldWithANameOfMoreThanTwentyThreeBytes = try fields.read(
      "aFieldWithANameOfMoreThanTwentyThreeBytes")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("id", id)
    fields.write("bool", bool)
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
    fields.write("double", double)
    fields.write("float", float)
    fields.write("maybeText", maybeText)
    fields.write("maybeInt", maybeInt)
    fields.write("maybeBool", maybeBool)
    fields.write("maybeDouble", maybeDouble)
    try fields.write("data", data)
    try fields.write("date", date)
    try fields.write("uuid", uuid)
    try fields.write("maybeDate", maybeDate)
    try fields.write("numbers", numbers)
    try fields.write("table", table)
    try fields.write("required", required)
    try fields.write("optional", optional)
    try fields.write("list", list)
    try fields.write("map", map)
    try fields.write("place", place)
    try fields.write("maybePlace", maybePlace)
    try fields.write("person", person)
    fields.write(
      "aFieldWithANameOfMoreThanTwentyThreeBytes", aFieldWithANameOfMoreThanTwentyThreeBytes)
  }

  init(_ random: inout SeededGenerator) {
    func flip() -> Bool { Bool.random(using: &random) }
    func note(_ tag: String) -> FastNote {
      // Sometimes without identifier: a value of the node around it.
      FastNote(
        id: flip() ? "\(tag):\(Int.random(in: 0..<50, using: &random))" : "",
        text: RoundTripTests.Everything.text(&random))
    }
    id = "tree:\(random.next())"
    bool = flip()
    int = RoundTripTests.Everything.extreme(&random)
    int8 = RoundTripTests.Everything.extreme(&random)
    int16 = RoundTripTests.Everything.extreme(&random)
    int32 = RoundTripTests.Everything.extreme(&random)
    int64 = RoundTripTests.Everything.extreme(&random)
    uint = RoundTripTests.Everything.extreme(&random)
    uint8 = RoundTripTests.Everything.extreme(&random)
    uint16 = RoundTripTests.Everything.extreme(&random)
    uint32 = RoundTripTests.Everything.extreme(&random)
    uint64 = RoundTripTests.Everything.extreme(&random)
    double = Double.random(in: -1e9..<1e9, using: &random).rounded(flip() ? .up : .toNearestOrEven)
    float = Float.random(in: -10..<10, using: &random)
    maybeText = flip() ? RoundTripTests.Everything.text(&random) : nil
    maybeInt = flip() ? RoundTripTests.Everything.extreme(&random) : nil
    maybeBool = flip() ? flip() : nil
    maybeDouble = flip() ? Double.random(in: 0..<1, using: &random) : nil
    data = Data((0..<Int.random(in: 0..<40, using: &random)).map { UInt8($0) })
    date = Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<1 << 40, using: &random)))
    uuid = UUID()
    maybeDate = flip() ? Date(timeIntervalSinceReferenceDate: 0.1) : nil
    numbers = (0..<Int.random(in: 0..<30, using: &random)).map { $0 * $0 }
    table = flip() ? ["a": 1, "bb": 0.1] : [:]
    required = note("required")
    optional = flip() ? note("optional") : nil
    list = (0..<Int.random(in: 0..<4, using: &random)).map { note("list\($0)") }
    map = flip() ? ["x": note("x"), "yy": note("y")] : [:]
    place = FastPlace(name: "here", owner: flip() ? note("owner") : nil)
    maybePlace = flip() ? FastPlace(name: "there", owner: flip() ? note("maybe") : nil) : nil
    person = Person(id: Int.random(in: 0..<9, using: &random), name: "Ada", image: nil)
    aFieldWithANameOfMoreThanTwentyThreeBytes = Int.random(in: 0..<9, using: &random)
  }
}
