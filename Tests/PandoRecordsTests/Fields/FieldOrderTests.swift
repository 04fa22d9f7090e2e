import PandoFixtures
import PandoModels
import Testing

@testable import PandoRecords

/// Records whose fields are not those of their type, or not in their order.
@Suite struct FieldOrderTests {
  struct Place: FieldCodable, SchemaVersioned, Equatable {
    var zip: Int
    var city: String
    var note: String?
    var street: String
    static var fieldDefaults: [String: any Encodable & Sendable] { ["street": "none"] }
    static var formerFieldNames: [String: [String]] { ["city": ["town"]] }

    init(fields: inout FieldSource) throws {
      zip = try fields.read("zip")
      city = try fields.read("city")
      note = try fields.read("note")
      street = try fields.read("street")
    }

    func write(to fields: inout FieldSink) throws {
      fields.write("zip", zip)
      fields.write("city", city)
      fields.write("note", note)
      fields.write("street", street)
    }
  }

  /// Places in a list, so that a reader that ends in a wrong place spoils the next one.
  struct Places: FieldCodable, Equatable {
    var all: [Place]
    var last: Place

    init(fields: inout FieldSource) throws {
      all = try fields.read("all")
      last = try fields.read("last")
    }

    func write(to fields: inout FieldSink) throws {
      try fields.write("all", all)
      try fields.write("last", last)
    }
  }

  /// Appends a map with some of the fields, some others, in any order.
  private func append(to writer: inout CBORWriter, _ random: inout SeededGenerator) {
    var fields = ["zip", "city", "note", "street"].filter { _ in
      Int.random(in: 0..<6, using: &random) > 0
    }
    let others = ["a", "town", "xyz", "other", "a field of more than twenty-three bytes", ""]
    fields += others.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
    if Bool.random(using: &random) {
      fields.sort { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    } else {
      fields.shuffle(using: &random)
    }
    writer.append(mapHead: fields.count)
    for field in fields {
      writer.append(field)
      switch field {
      case "zip": writer.append(Int64.random(in: -5...90_000, using: &random))
      case "note" where Bool.random(using: &random): writer.appendNull()
      case "xyz":
        writer.append(arrayHead: 2)
        writer.append(mapHead: 1)
        writer.append("zip")
        writer.append(Int64(1))
        writer.append(String(repeating: "long ", count: 60))
      default: writer.append(field + " \(Int.random(in: 0..<100, using: &random))")
      }
    }
  }

  @Test(arguments: seeds(300))
  func `other orders, missing and additional fields are read as by Codable`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var writer = CBORWriter()
    writer.append(mapHead: 2)
    writer.append("all")
    writer.append(arrayHead: 3)
    for _ in 0..<3 { append(to: &writer, &random) }
    writer.append("last")
    append(to: &writer, &random)
    let body = writer.bytes
    func read(_ usesFields: Bool) -> Result<Places, ModelError> {
      Result {
        try RecordDecoder.decodeValue(Places.self, from: body, usingFields: usesFields)
      }.mapError { $0 as? ModelError ?? ModelError(.codingFailed, reason: "\($0)") }
    }
    switch (read(true), read(false)) {
    case (.success(let fields), .success(let plain)): #expect(fields == plain, "seed \(seed)")
    case (.failure(let fields), .failure(let plain)):
      #expect(fields.code == plain.code)
      #expect(fields.code == .missingField, "seed \(seed): \(fields)")
    case (let fields, let plain): Issue.record("seed \(seed): \(fields), \(plain)")
    }
  }

  struct Twice: FieldCodable, Equatable {
    var first: Int
    var second: String

    init(fields: inout FieldSource) throws {
      // The error of a field leaves the others as they are.
      first = (try? fields.read("first")) ?? -1
      second = try fields.read("second")
    }

    func write(to fields: inout FieldSink) throws {
      fields.write("first", first)
      fields.write("second", second)
    }
  }

  @Test func `a field after one that was refused is read`() throws {
    var writer = CBORWriter()
    writer.append(mapHead: 2)
    writer.append("first")
    writer.append(arrayHead: 1)
    writer.append("no number")
    writer.append("second")
    writer.append("text")
    let value = try RecordDecoder.decodeValue(Twice.self, from: writer.bytes)
    #expect(value.first == -1)
    #expect(value.second == "text")
  }
}
