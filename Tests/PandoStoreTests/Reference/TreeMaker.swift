import PandoFixtures
import PandoModels

/// Makes random trees of a few types with many shared nodes.
///
/// `Doc` and `Card` are projections of the same nodes, `Person` and `Badge` of others. A field has the
/// same kind in every type, and few values, so that equal content is common.
struct TreeMaker {
  indirect enum Slot {
    case text
    case number
    case child(String, isRequired: Bool)
    case list(String)
    case map(String)
    case inner([String: Slot], isRequired: Bool)
    case parts([String: Slot])
  }

  static let types = ["Doc", "Person", "Image", "Card", "Badge"]

  static let slots: [String: [String: Slot]] = [
    "Doc": [
      "id": .text, "title": .text, "author": .child("Person", isRequired: true),
      "cover": .child("Image", isRequired: false), "readers": .list("Person"),
      "roles": .map("Person"),
      "inner": .inner(
        ["boss": .child("Person", isRequired: true), "note": .text], isRequired: false),
      "legal": .inner(
        ["seal": .child("Image", isRequired: true), "also": .child("Image", isRequired: false)],
        isRequired: true),
      "parts": .parts(
        ["who": .child("Person", isRequired: true), "icon": .child("Image", isRequired: false)]),
      "next": .list("Doc"),
    ],
    "Card": [
      "id": .text, "title": .text, "author": .child("Badge", isRequired: true),
      "cover": .child("Image", isRequired: false), "readers": .list("Badge"),
      "roles": .map("Badge"), "extra": .number,
    ],
    "Person": ["id": .text, "name": .text, "portrait": .child("Image", isRequired: false)],
    "Badge": [
      "id": .text, "name": .text, "number": .number,
      "portrait": .child("Image", isRequired: false),
    ],
    "Image": ["id": .text, "name": .text],
  ]

  var random: SeededGenerator
  /// Whether children may be references to stored nodes.
  var usesReferences = true

  static func identifiers(of type: String) -> [String] {
    switch type {
    case "Doc", "Card": (0..<5).map { "doc:\($0)" }
    case "Image": (0..<4).map { "image:\($0)" }
    default: (0..<6).map { "person:\($0)" }
    }
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  mutating func tree(_ type: String? = nil, depth: Int = 3, isPartial: Bool = false) -> TreeNode {
    let type = type ?? pick(Self.types)
    let identifier = pick(Self.identifiers(of: type))
    var fields: [String: TreeValue] = [:]
    let slots = Self.slots[type] ?? [:]
    for (name, slot) in slots.sorted(by: { $0.key < $1.key }) {
      if isPartial, name != "id", chance(50) { continue }
      fields[name] = value(slot, depth: depth, isPartial: isPartial)
    }
    fields["id"] = .string(identifier)
    return TreeNode(identifier, type: type, fields: .object(fields))
  }

  private mutating func value(_ slot: Slot, depth: Int, isPartial: Bool) -> TreeValue {
    switch slot {
    case .text: return .string(pick(["a", "b", "c"]))
    case .number: return .integer(pick([1, 2, 3]))
    case .child(let type, isRequired: true):
      return .required(child(type, depth: depth, isPartial: isPartial))
    case .child(let type, isRequired: false):
      if depth == 0 || chance(30) { return .null }
      return child(type, depth: depth, isPartial: isPartial)
    case .list(let type):
      return .array(children(type, depth: depth, isPartial: isPartial))
    case .map(let type):
      let values = children(type, depth: depth, isPartial: isPartial)
      let keys = ["a", "bb", "c"].map { TreeValue.string($0) }
      return .entries(Dictionary(uniqueKeysWithValues: zip(keys, values)))
    case .inner(let slots, let isRequired):
      if !isRequired, chance(30) { return .null }
      let object = object(slots, depth: depth, isPartial: isPartial)
      return isRequired ? .required(object) : object
    case .parts(let slots):
      let count = pick([0, 1, 2])
      return .array((0..<count).map { _ in object(slots, depth: depth, isPartial: isPartial) })
    }
  }

  private mutating func object(
    _ slots: [String: Slot], depth: Int, isPartial: Bool
  ) -> TreeValue {
    var fields: [String: TreeValue] = [:]
    for (name, slot) in slots.sorted(by: { $0.key < $1.key }) {
      fields[name] = value(slot, depth: depth, isPartial: isPartial)
    }
    return .object(fields)
  }

  private mutating func children(_ type: String, depth: Int, isPartial: Bool) -> [TreeValue] {
    guard depth > 0 else { return [] }
    let count = pick([0, 0, 1, 2, 3])
    return (0..<count).map { _ in child(type, depth: depth, isPartial: isPartial) }
  }

  private mutating func child(_ type: String, depth: Int, isPartial: Bool) -> TreeValue {
    if usesReferences, chance(25) {
      return .reference(identifier: pick(Self.identifiers(of: type)), typeName: type)
    }
    return .node(tree(type, depth: max(depth - 1, 0), isPartial: isPartial && chance(50)))
  }

  /// An element of a collection: a node, a reference, or a value that may hold some.
  mutating func element() -> TreeValue {
    let type = pick(Self.types)
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<5: return .node(tree(type, depth: 1))
    case 5..<7 where usesReferences:
      return .reference(identifier: pick(Self.identifiers(of: type)), typeName: type)
    case 7: return .string(pick(["a", "b"]))
    default:
      let slots: [String: Slot] = [
        "who": .child(type, isRequired: chance(50)), "all": .list(type), "note": .text,
      ]
      return object(slots, depth: 1, isPartial: false)
    }
  }
}
