import Foundation
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

/// That untyped trees and `Codable` models are the same records.
@Suite struct TreeCodableTests {
  @Test func `a model is the tree that says the same`() throws {
    let models = MemoryRecords()
    let root = try RecordEncoder(sink: models).encode(Message.sample())
    let tree = TreeRecords()
    tree.adopt(models)
    let node = try #require(try tree.decode(root).nodeValue)
    func person(_ id: Int) -> TreeValue {
      .node(
        TreeNode(
          "person:\(id)", type: "Person",
          fields: [
            "id": .integer(Int64(id)), "name": .string("person number \(id) of all"),
          ]))
    }
    let expected: TreeValue = [
      "id": "1", "text": "hello", "author": .required(person(1)), "editor": person(2),
      "readers": [person(3), person(1)], "roles": .entries(["a": person(5), "b": person(4)]),
      "place": ["name": "here", "owner": .required(person(6))],
      "places": [["name": "there", "owner": .required(person(7))]],
      "attachment": .required([
        "two": .required(["first": .required(person(8)), "second": person(9)])
      ]),
      "maybe": [.null, person(10)], "nestedReaders": [[person(11)], []],
    ]
    #expect(node.withoutNulls == expected)
    #expect(node.identifier == "message:1" && node.typeName == "Message")
  }

  @Test(arguments: seeds(8))
  func `trees and models have the same bytes`(seed: UInt64) throws {
    var random = TreeGenerator(seed: seed)
    for _ in 0..<5 {
      let model = random.everything(depth: 2)
      let models = MemoryRecords()
      let root = try RecordEncoder(sink: models).encode(model)
      let source = TreeRecords()
      source.adopt(models)
      let value = try source.decode(root)

      // The same numbers, but no bodies yet.
      let target = TreeRecords()
      target.adopt(models, withBodies: false)
      #expect(try target.encode(try #require(value.nodeValue)) == root)
      #expect(target.bodies.count == models.records.count)
      for (reference, record) in models.records {
        #expect(target.bodies[reference] == record.body, "\(value)")
        #expect(target.edges[reference] == record.edges)
        #expect(try RecordBody.edges(in: record.body) == record.edges)
        try RecordBody.validate(record.body)
      }
      #expect(try TreeValue(json: value.json(.lossless), form: .lossless) == value)
    }
  }

  @Test func `a model reads what a tree wrote`() throws {
    let image = TreeNode("i", type: "Image", fields: ["modelIdentifier": "i", "url": "u"])
    let person = TreeNode(
      "person:7", type: "Person", fields: ["id": 7.0, "name": "Ada", "image": .node(image)])
    let records = TreeRecords()
    let root = try records.encode(person)
    let decoded = try RecordDecoder(source: records).decode(
      Person.self, from: records.body(of: root, as: Person.self))
    #expect(
      decoded
        == Person(id: 7, name: "Ada", image: Image(modelIdentifier: "i", url: "u")))
  }
}

/// A model with a field of every kind that a record tells apart.
private struct Everything: Model, Codable, Hashable {
  enum Key: String, Codable, Hashable, CodingKeyRepresentable { case left, right }

  var id: Int
  var integer: Int64
  var unsigned: UInt64
  var double: Double
  var single: Float
  var text: String
  var data: Data
  var date: Date
  var uuid: UUID
  var url: URL
  var decimal: Decimal
  var flag: Bool?
  var numbers: Set<Int>
  var byName: [String: Double]
  var byNumber: [Int: Image]
  var byKey: [Key: Image?]
  var byIdentifier: [UUID: Image]
  var images: Set<Image>
  var children: [Everything]
  var place: Place?
  var required: Place
  var one: Image?
  var deep: [[String: [Image]]]
  var modelIdentifier: String? { "everything:\(id)" }
}

extension TreeGenerator {
  fileprivate mutating func everything(depth: Int) -> Everything {
    Everything(
      id: Int(truncatingIfNeeded: next()), integer: integer(), unsigned: next(),
      double: finite(), single: Float(finite()), text: text(), data: Data(bytes(atMost: 20)),
      date: Date(timeIntervalSinceReferenceDate: finite()), uuid: uuid(),
      url: URL(filePath: "/\(next())"),
      decimal: Decimal(sign: .minus, exponent: pick([0, -3, 7]), significand: Decimal(next())),
      flag: pick([nil, true, false]), numbers: Set(elements { Int($0.integer()) }),
      byName: Dictionary(elements { ($0.text(), $0.finite()) }) { first, _ in first },
      byNumber: Dictionary(elements { (Int($0.integer()), $0.image()) }) { first, _ in first },
      byKey: [.left: image(), .right: chance(1, in: 2) ? nil : image()],
      byIdentifier: Dictionary(elements { ($0.uuid(), $0.image()) }) { first, _ in first },
      images: Set(elements { $0.image() }),
      children: depth == 0 ? [] : elements { $0.everything(depth: depth - 1) },
      place: chance(1, in: 3) ? nil : place(), required: place(),
      one: chance(1, in: 2) ? nil : image(),
      deep: elements { [$0.text(): $0.elements { $0.image() }] })
  }

  private mutating func finite() -> Double {
    let value = double()
    return value.isNaN ? -0.0 : value
  }

  private mutating func uuid() -> UUID {
    var first = next()
    var second = next()
    return withUnsafeBytes(of: &first) { first in
      withUnsafeBytes(of: &second) { second in
        UUID(
          uuid: (
            first[0], first[1], first[2], first[3], first[4], first[5], first[6], first[7],
            second[0], second[1], second[2], second[3], second[4], second[5], second[6], second[7]
          ))
      }
    }
  }

  /// Nodes and values without identifier.
  private mutating func image() -> Image {
    let name = pick(["a", "b", "c", "d"])
    return chance(1, in: 3) ? Image(url: text()) : Image(modelIdentifier: name, url: name)
  }

  private mutating func place() -> Place {
    let id = Int.random(in: 0..<4, using: &self)
    // One identifier has one content, so that all records are reached.
    let image = id == 0 ? nil : Image(modelIdentifier: "p\(id)", url: "")
    return Place(name: text(), owner: Person(id: id, name: "p", image: image))
  }
}

extension TreeNode {
  /// The fields without those that are null, at every level.
  fileprivate var withoutNulls: TreeValue { fields.withoutNullFields }
}

extension TreeValue {
  fileprivate var withoutNullFields: TreeValue {
    switch self {
    case .object(let fields):
      .object(fields.filter { !$0.value.isNull }.mapValues(\.withoutNullFields))
    case .array(let values): .array(values.map(\.withoutNullFields))
    case .entries(let entries): .entries(entries.mapValues(\.withoutNullFields))
    case .required(let value): .required(value.withoutNullFields)
    case .node(let node):
      .node(TreeNode(node.identifier, type: node.typeName, fields: node.withoutNulls))
    default: self
    }
  }
}
